"""Events reach the addons that listen, in order, and one that fails does not keep them from the next."""

import pytest
from mitmproxy import exceptions
from mitmproxy.hooks import DoneHook, RunningHook
from mitmproxy.master import Master
from mitmproxy.options import Options

from proxy.dispatch import Dispatch


class Addon:
    def __init__(self, name: str, seen: list[str], error: Exception | None = None) -> None:
        self.name, self.seen, self.error = name, seen, error

    async def running(self) -> None:
        self.seen.append(self.name)
        if self.error is not None:
            raise self.error


class Silent:
    """Listens to nothing."""


@pytest.fixture
async def manager() -> Dispatch:
    master = Master(Options())
    master._legacy_log_events.uninstall()
    return Dispatch(master)


async def test_all_who_listen_are_told_in_order(manager: Dispatch, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []
    manager.add(Addon("one", seen, ValueError("broken")), Silent(), Addon("two", seen))
    await manager.trigger_event(RunningHook())
    assert seen == ["one", "two"]
    assert "Addon error: broken" in caplog.text


async def test_an_addon_may_end_an_event(manager: Dispatch) -> None:
    seen: list[str] = []
    manager.add(Addon("one", seen, exceptions.AddonHalt()), Addon("two", seen))
    await manager.trigger_event(RunningHook())
    assert seen == ["one"]


async def test_addons_come_and_go(manager: Dispatch) -> None:
    seen: list[str] = []
    one, two = Addon("one", seen), Addon("two", seen)
    manager.add(one)
    await manager.trigger_event(RunningHook())
    manager.add(two)
    await manager.trigger_event(RunningHook())
    manager.remove(one)
    await manager.trigger_event(RunningHook())
    await manager.trigger_event(DoneHook())
    assert seen == ["one", "one", "two", "two"]
