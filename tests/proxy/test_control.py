"""What trusted clients may ask of the proxy, and what never reaches an origin."""

from pathlib import Path

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from proxy.control import asked_of, is_trusted, take, taken
from tests.origin import Origin, Page
from tests.proxy.live import Live

FRESH = {"Cache-Control": "max-age=100"}


@pytest.mark.parametrize(
    ("peer", "trusted"),
    [("127.0.0.1", True), ("::1", True), ("::ffff:127.0.0.1", True), ("192.168.0.5", False), ("not one", False)],
)
def test_clients_of_this_machine_are_trusted(peer: str, trusted: bool) -> None:
    flow = tflow.tflow()
    flow.client_conn.peername = (peer, 1)
    flow.request.headers = http.Headers([(b"X-Pagemason-Mode", b"offline"), (b"X-Other", b"1")])
    take(flow)
    assert is_trusted(flow) is trusted
    assert list(flow.request.headers) == ["X-Other"]
    assert taken(flow) == ({"mode": "offline"} if trusted else {})


def test_a_password_makes_trusted() -> None:
    flow = tflow.tflow()
    flow.client_conn.peername = ("192.168.0.5", 1)
    assert not is_trusted(flow)
    flow.metadata["proxyauth"] = ("user", "password")
    assert is_trusted(flow)


def test_fields_are_read_in_any_case() -> None:
    assert asked_of(((b"x-pAgemason-MODE", b" replay "), (b"X-Pagemason-", b"1"), (b"X-Page", b"2"))) == {
        "mode": "replay"
    }


async def test_a_request_may_ask_for_a_mode(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", {"Cache-Control": "max-age=0"})
    url = origin.url("/")
    async with Live(confdir) as live:
        assert (await live.get(url, X_Pagemason_Mode="offline")).status == 504
        assert origin.asked["/"] == 0
        await live.get(url)
        assert (await live.get(url, X_Pagemason_Mode="replay")).is_hit
        assert (await live.get(url, X_Pagemason_Mode="record")).cache_status == "pagemason; fwd=uri-miss; stored"
        wrong = await live.get(url, X_Pagemason_Mode="faster")
        assert (wrong.status, b"'faster' is not one of" in wrong.body) == (400, True)
    assert not any("Pagemason" in name for *_, headers in origin.seen for name in headers)


async def test_purge_forgets_a_page(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", FRESH)
    url = origin.url("/")
    async with Live(confdir) as live:
        await live.get(url)
        assert (await live.get(url, method="PURGE")).status == 200
        assert not (await live.get(url)).is_hit
        assert (await live.get(origin.url("/other"), method="PURGE")).status == 404
    assert {command for command, *_ in origin.seen} == {"GET"}


async def test_via_names_the_proxy_when_it_is_asked_to(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"one", FRESH)
    async with Live(confdir, via=True) as live:
        for _ in range(2):
            assert (await live.get(origin.url("/"))).headers["Via"] == "1.1 pagemason"
    assert origin.seen[0][2]["Via"] == "1.1 pagemason"


async def test_the_proxy_is_no_way_to_itself(confdir: Path, origin: Origin) -> None:
    async with Live(confdir) as live:
        live.service.border.keep_off(origin.port)
        for host in ("127.0.0.1", "localhost", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]"):
            reply = await live.get(f"http://{host}:{origin.port}/metrics")
            assert (reply.status, b"belongs to the proxy" in reply.body) == (502, True), host
    assert origin.asked == {}
