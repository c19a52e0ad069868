"""Addresses that are not for clients of the proxy, by any spelling."""

import asyncio
import socket
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.guard import Guard, is_global, is_here, parsed

PORT = 8081

SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "127.8.8.8",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "localhost",
    "LOCALHOST",
    "0.0.0.0",
    "0",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
]


async def reached(guard: Guard, host: str, port: int) -> str:
    """Return why a connection is refused, as the proxy finds out: by the literal, else when it is resolved."""
    if reason := guard.refusal(host, port, host):
        return reason
    try:
        _, writer = await asyncio.open_connection(host, port)
        writer.close()
        return ""
    except OSError as exc:
        return str(exc).removeprefix("refused: ") if str(exc).startswith("refused: ") else ""


@pytest.mark.parametrize("host", SPELLINGS)
async def test_the_proxy_s_own_port_is_refused_however_it_is_spelled(host: str) -> None:
    guard = Guard(private=True)
    guard.keep_off(PORT)
    guard.watch(asyncio.get_running_loop())
    assert await reached(guard, host, PORT) == f"{host} port {PORT} belongs to the proxy"
    assert await reached(guard, host, PORT + 1) == ""


@pytest.mark.parametrize("host", [*SPELLINGS, "10.1.2.3", "169.254.169.254", "100.64.0.1", "fd00::1", "64:ff9b::a00:1"])
async def test_private_networks_are_refused_to_strangers(host: str) -> None:
    guard = Guard(private=False)
    guard.watch(asyncio.get_running_loop())
    assert "private network" in await reached(guard, host, 80)


async def test_hosts_that_the_settings_name_may_be_private() -> None:
    guard = Guard(private=False, exempt=["LocalHost"])
    guard.watch(asyncio.get_running_loop())
    assert await reached(guard, "localhost", 1) == ""


async def test_a_database_elsewhere_is_refused_by_address_and_port() -> None:
    guard = Guard(private=True)
    guard.keep_off(5432, "192.0.2.7")
    assert guard.refusal("db.test", 5432, "192.0.2.7") == "db.test port 5432 belongs to the proxy"
    assert guard.refusal("db.test", 5433, "192.0.2.7") == ""
    assert await guard.refuses("192.0.2.7", 5432)


async def test_listening_is_not_connecting() -> None:
    guard = Guard(private=False)
    guard.watch(asyncio.get_running_loop())
    server = await asyncio.start_server(lambda reader, writer: None, "localhost", 0, family=socket.AF_INET)
    server.close()
    await server.wait_closed()


def test_what_is_global_and_what_is_here() -> None:
    assert [is_global(ip_address(a)) for a in ("8.8.8.8", "2606:4700::1", "224.0.0.1", "192.168.0.1")] == [
        True,
        True,
        False,
        False,
    ]
    assert not is_here(ip_address("8.8.8.8"))
    assert str(parsed("[::ffff:10.0.0.1]")) == "10.0.0.1"
    assert str(parsed("2002:0a00:0001::")) == "10.0.0.1"


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_none(text: str) -> None:
    parsed(text)
