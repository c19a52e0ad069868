"""The hooks on made-up flows: what is answered, what goes on, what is kept, and what never fails."""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.proxy.server_hooks import ServerConnectionHookData
from mitmproxy.test import taddons, tflow, tutils

from proxy.addon import Pagemason
from proxy.service import Service
from settings import Settings
from tests.proxy.making import count

URL = "http://a.test/page"
HTML = b"<html><p>page</html>"


class Cache:
    """An addon over a memory store, and an origin that answers what it is told to."""

    def __init__(self, **settings: Any) -> None:
        self.service = Service(Settings(store="memory:", **settings))
        self.addon = Pagemason(self.service)
        self.n_fetched = 0
        self.upstream: http.Request | None = None
        self.answer: tuple[int, dict[str, str], bytes] = (200, {"cache-control": "max-age=100"}, HTML)

    async def get(
        self, url: str = URL, method: str = "GET", body: bytes = b"", headers: dict[str, str] | None = None
    ) -> http.Response:
        """Take a request through the hooks, and to the origin when the addon lets it."""
        flow = tflow.tflow(req=http.Request.make(method, url, body, fields_of(headers or {})), resp=False)
        flow.response = None
        await called(self.addon.request(flow))
        if flow.response is None:
            self.n_fetched += 1
            self.upstream = flow.request.copy()
            status, fields, content = self.answer
            flow.response = tutils.tresp(
                status_code=status,
                content=content,
                headers=http.Headers(fields_of(fields)),
                timestamp_start=time.time(),
            )
        self.addon.response(flow)
        assert flow.response is not None
        return flow.response

    def said(self, name: str, **labels: str) -> float:
        """Return a sample of the metrics."""
        return count(self.service.metrics, name, **labels)


def fields_of(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """Return header fields as mitmproxy wants them."""
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def called(result: Any) -> None:
    """Wait for a hook that has to be waited for."""
    if inspect.isawaitable(result):
        await result


@pytest.fixture
async def caches() -> AsyncIterator[Any]:
    made: list[Cache] = []

    def make(**settings: Any) -> Cache:
        made.append(Cache(**settings))
        made[-1].addon.running()
        return made[-1]

    yield make
    for cache in made:
        await asyncio.to_thread(cache.addon.done)


def status_of(response: http.Response) -> str:
    return str(response.headers["cache-status"])


async def test_a_second_request_is_a_hit(caches: Any) -> None:
    cache = caches()
    first, second = await cache.get(), await cache.get()
    assert status_of(first) == "pagemason; fwd=uri-miss; stored"
    assert status_of(second) == "pagemason; hit"
    assert (first.headers["age"], second.headers["age"]) == ("0", "0")
    assert (second.content, cache.n_fetched) == (HTML, 1)
    assert cache.said("pagemason_requests_total", result="hit") == 1


async def test_the_client_s_own_conditions_are_answered(caches: Any) -> None:
    cache = caches()
    cache.answer = (200, {"etag": '"1"', "cache-control": "max-age=100"}, HTML)
    await cache.get()
    same = await cache.get(headers={"if-none-match": '"1"'})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", '"1"')
    part = await cache.get(headers={"range": "bytes=0-4"})
    assert (part.status_code, part.content, part.headers["content-length"]) == (206, HTML[:5], "5")
    assert cache.n_fetched == 1


async def test_an_unsafe_method_invalidates(caches: Any) -> None:
    cache = caches()
    await cache.get()
    response = await cache.get(method="POST", body=b"x")
    assert status_of(response) == "pagemason; fwd=method"
    view = cache.service.holdings.at_hand(URL)
    assert [entry.stored.invalid for entry in view.entries] == [True]


@pytest.mark.parametrize("directive", ["no-store", "private"])
async def test_what_may_not_be_stored_is_not(caches: Any, directive: str) -> None:
    cache = caches()
    cache.answer = (200, {"cache-control": directive}, HTML)
    assert "stored" not in status_of(await cache.get())
    await cache.get()
    assert cache.n_fetched == 2


async def test_replay_answers_whatever_its_age(caches: Any) -> None:
    cache = caches(mode="replay")
    cache.answer = (200, {"cache-control": "max-age=0", "vary": "accept-language"}, HTML)
    await cache.get(headers={"accept-language": "de"})
    assert status_of(await cache.get(headers={"accept-language": "en", "cache-control": "no-cache"})).endswith("hit")
    assert cache.n_fetched == 1


async def test_offline_answers_504_and_sends_nothing_on(caches: Any) -> None:
    cache = caches(mode="offline")
    for method in ("GET", "HEAD", "POST", "OPTIONS", "BREW"):
        response = await cache.get(method=method)
        assert response.status_code == 504
        assert (URL.encode() in response.content) is (method != "HEAD")
    assert cache.n_fetched == 0
    flow = tflow.tflow()
    data = ServerConnectionHookData(server=flow.server_conn, client=flow.client_conn)
    cache.addon.server_connect(data)
    assert flow.server_conn.error == "the proxy is in offline mode"


async def test_an_error_of_ours_lets_the_page_pass_except_offline(
    caches: Any, caplog: pytest.LogCaptureFixture
) -> None:
    cache, offline = caches(), caches(mode="offline")
    for one in (cache, offline):
        one.service.serving = None
    assert (await cache.get()).content == HTML
    assert (await offline.get()).status_code == 504
    assert offline.n_fetched == 0
    assert cache.said("pagemason_errors_total") == 1
    assert "was not looked at" in caplog.text


async def test_a_websocket_is_not_stored_and_its_fields_pass(caches: Any) -> None:
    cache = caches(mode="record")
    cache.answer = (101, {"upgrade": "websocket", "connection": "Upgrade"}, b"")
    response = await cache.get(headers={"connection": "Upgrade", "upgrade": "websocket"})
    assert cache.upstream.headers["upgrade"] == "websocket"
    assert response.headers["upgrade"] == "websocket"
    assert cache.said("pagemason_queue_entries") + cache.said("pagemason_captures_committed_total") == 0


async def test_fields_of_the_connection_go_no_further(caches: Any) -> None:
    cache = caches()
    cache.answer = (200, {"connection": "x-one", "x-one": "1", "keep-alive": "timeout=5", "x-two": "2"}, HTML)
    response = await cache.get(
        headers={"connection": "close, x-mine", "x-mine": "1", "proxy-connection": "keep-alive", "te": "gzip"}
    )
    assert set(response.headers) & {"x-one", "keep-alive"} == set()
    assert response.headers["x-two"] == "2"
    assert set(cache.upstream.headers) & {"x-mine", "proxy-connection", "te"} == set()


async def test_dropped_parameters_are_no_part_of_the_key(caches: Any) -> None:
    cache = caches(drop_parameters=("utm_*",), sort_query=True)
    await cache.get(URL + "?b=1&a=2&utm_source=x")
    assert status_of(await cache.get(URL + "?a=2&b=1")) == "pagemason; hit"


async def test_an_addon_before_us_answers_first(caches: Any) -> None:
    cache = caches()
    flow = tflow.tflow(resp=True)
    assert cache.addon.request(flow) is None
    cache.addon.response(flow)
    assert flow.response is not None
    assert "cache-status" not in flow.response.headers


async def test_a_store_that_does_not_answer_is_a_miss(caches: Any) -> None:
    cache = caches()
    cache.service.reader._most = 0
    assert (await cache.get()).content == HTML
    offline = caches(mode="offline")
    offline.service.reader._most = 0
    response = await offline.get()
    assert response.status_code == 504
    assert b"The store does not answer" in response.content
    assert status_of(response) == "pagemason; detail=store-unavailable"


async def test_the_addon_by_itself_has_options_with_our_prefix(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    addon = Pagemason()
    with taddons.context(addon, loadcore=False) as context:
        context.options.add_option("connection_strategy", str, "eager", "")
        context.options.add_option("stream_large_bodies", str, "", "")
        context.configure(addon, pagemason_store="memory:", pagemason_mode="replay", pagemason_never_cache=["b.test"])
        with pytest.raises(Exception, match="pagemason_memory_bytes"):
            context.configure(addon, pagemason_memory_bytes=-1)
        context.configure(addon, pagemason_memory_bytes=1000)
        addon.running()
        service = addon._service
        assert service is not None
        assert service.settings == replace(
            Settings(store="memory:"), mode="replay", never_cache=("b.test",), memory_bytes=1000
        )
        assert context.options.connection_strategy == "lazy"
        await asyncio.to_thread(addon.done)
