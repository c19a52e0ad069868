"""The ways in which clients reach the proxy, and the proxy the origin: each caches, validates, and stays offline."""

import asyncio
import http.client
import socket
import struct
from pathlib import Path

import pytest

from tests.end_to_end.program import Program, Reply
from tests.origin import Origin, Page
from tests.proxy.live import Live

# mitmproxy hands its certificates to OpenSSL in a way that newer versions warn of.
pytestmark = pytest.mark.filterwarnings("ignore:Passing pyOpenSSL:DeprecationWarning")

FRESH = {"Cache-Control": "max-age=100"}


def stale() -> Page:
    """Return a page that is to be validated every time."""
    return Page(b"page", {"Cache-Control": "max-age=0", "ETag": '"1"'})


def direct(port: int, path: str, **headers: str) -> Reply:
    """Ask a server, which a reverse proxy is, for a path."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return Reply(response.status, response.headers, response.read())
    finally:
        connection.close()


async def test_https_is_validated_too(confdir: Path, secure: tuple[Origin, str]) -> None:
    origin, trust = secure
    origin.pages |= {"/stale": stale(), "/fresh": Page(b"page", FRESH)}
    name, _, path = trust.removeprefix("--set=").partition("=")
    async with Live(confdir, mitmproxy={name: path}) as live:
        for url in (origin.url("/stale"), origin.url("/fresh")):
            assert (await live.get(url)).body == b"page"
        assert (await live.get(origin.url("/fresh"))).is_hit
        reply = await live.get(origin.url("/stale"))
        assert (reply.body, reply.cache_status) == (b"page", "pagemason; fwd=stale; fwd-status=304; stored")
        assert origin.seen[-1][2]["If-None-Match"] == '"1"'


async def test_an_origin_whose_certificate_nobody_looks_at_is_not_kept(
    confdir: Path, secure: tuple[Origin, str]
) -> None:
    origin, _ = secure
    origin.pages["/"] = Page(b"page", FRESH)
    async with Live(confdir) as live:
        assert (await live.get(origin.url("/"))).status == 502
    async with Live(confdir, mitmproxy={"ssl_insecure": "true"}) as live:
        for _ in range(2):
            reply = await live.get(origin.url("/"))
            assert (reply.body, "stored" in reply.cache_status, reply.is_hit) == (b"page", False, False)


async def test_a_reverse_proxy(confdir: Path, origin: Origin) -> None:
    origin.pages |= {"/stale": stale(), "/fresh": Page(b"page", FRESH)}
    async with Live(confdir, proxy_mode=f"reverse:{origin.url('')}") as live:
        for path in origin.pages:
            assert (await asyncio.to_thread(direct, live.port, path)).body == b"page"
        assert (await asyncio.to_thread(direct, live.port, "/fresh")).is_hit
        assert "fwd-status=304" in (await asyncio.to_thread(direct, live.port, "/stale")).cache_status
        lying = await asyncio.to_thread(direct, live.port, "/fresh", Host="other.test")
        assert lying.is_hit  # mitmproxy gives the origin its own name, so it is the same page


async def test_a_reverse_proxy_that_passes_host_on_keeps_hosts_apart(confdir: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"page", FRESH)
    async with Live(confdir, proxy_mode=f"reverse:{origin.url('')}", mitmproxy={"keep_host_header": "true"}) as live:
        assert not (await asyncio.to_thread(direct, live.port, "/", Host="one.test")).is_hit
        assert not (await asyncio.to_thread(direct, live.port, "/", Host="two.test:8000")).is_hit
        assert (await asyncio.to_thread(direct, live.port, "/", Host="one.test")).is_hit
    assert [seen["Host"] for *_, seen in origin.seen] == ["one.test", "two.test:8000"]


async def test_an_upstream_proxy(tmp_path: Path, confdir: Path, origin: Origin) -> None:
    origin.pages |= {"/stale": stale(), "/fresh": Page(b"page", FRESH)}
    with Program(tmp_path, "--mode=record") as parent:
        async with Live(confdir, proxy_mode=f"upstream:http://127.0.0.1:{parent.port}") as live:
            for path in origin.pages:
                assert (await live.get(origin.url(path))).body == b"page"
            assert (await live.get(origin.url("/fresh"))).is_hit
            assert "fwd-status=200" in (await live.get(origin.url("/stale"))).cache_status
        async with Live(confdir, proxy_mode=f"upstream:http://127.0.0.1:{parent.port}") as live:
            live.service.border.keep_off(origin.port)
            assert (await live.get(origin.url("/fresh"))).status == 403
        assert parent.metric('pagemason_requests_total{result="miss"}') == 3


def by_socks(port: int, origin: Origin, path: str) -> bytes:
    """Ask for a path through a SOCKS proxy; return all that comes back."""
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        connection.sendall(b"\x05\x01\x00")
        assert connection.recv(2) == b"\x05\x00"
        connection.sendall(b"\x05\x01\x00\x01" + socket.inet_aton("127.0.0.1") + struct.pack("!H", origin.port))
        assert connection.recv(10)[:2] == b"\x05\x00"
        authority = f"127.0.0.1:{origin.port}"
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n".encode())
        reply = b""
        while part := connection.recv(65536):
            reply += part
        return reply


async def test_a_socks_proxy(confdir: Path, origin: Origin) -> None:
    origin.pages |= {"/stale": stale(), "/fresh": Page(b"page", FRESH)}
    async with Live(confdir, proxy_mode="socks5") as live:
        for path in origin.pages:
            assert b"fwd=uri-miss; stored" in await asyncio.to_thread(by_socks, live.port, origin, path)
        assert b"pagemason; hit" in await asyncio.to_thread(by_socks, live.port, origin, "/fresh")
        assert b"fwd-status=304" in await asyncio.to_thread(by_socks, live.port, origin, "/stale")


async def test_offline_opens_no_connection_in_any_way(confdir: Path, origin: Origin) -> None:
    for mode in ("regular", f"reverse:{origin.url('')}", "socks5", f"upstream:{origin.url('')}"):
        async with Live(confdir, mode="offline", proxy_mode=mode) as live:
            if mode == "socks5":
                assert b" 504 " in await asyncio.to_thread(by_socks, live.port, origin, "/")
            elif mode.startswith("reverse:"):
                assert (await asyncio.to_thread(direct, live.port, "/")).status == 504
            else:
                assert (await live.get(origin.url("/"))).status == 504
    assert origin.asked == {}
