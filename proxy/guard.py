"""Where the proxy does not go: to its own dashboard and database, and, for strangers, into private networks.

What counts is the address that is connected to, after names have been resolved: `127.1`, `0x7f000001`,
`localhost.`, `[::ffff:127.0.0.1]` and any name that resolves there are one place. So addresses are looked at
where the event loop resolves names, for everything that it connects to, with nothing resolved twice.
"""

import asyncio
import socket
from collections.abc import Collection
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

_NAT64 = ip_network("64:ff9b::/96")
_SIX_TO_FOUR = ip_network("2002::/16")

_REFUSED = "refused: "

Address = IPv4Address | IPv6Address


class Guard:
    """Says which addresses may be connected to.

    Ports on this machine, and whole addresses, that are not for clients of the proxy are added with `keep_off`.
    With `private` false, only global addresses may be: not loopback, private networks, link-local (where clouds
    keep their credentials), and their like. `exempt` are hosts that whoever runs the proxy named: a reverse
    proxy's origin, a parent proxy.
    """

    def __init__(self, *, private: bool, exempt: Collection[str] = ()) -> None:
        self._ports: set[int] = set()
        self._addresses: set[tuple[Address, int]] = set()
        self._private = private
        self._exempt = frozenset(host.lower() for host in exempt)

    def keep_off(self, port: int, address: str = "") -> None:
        """Let nobody connect to a port of this machine, or of an address."""
        parsed_address = parsed(address)
        if parsed_address is None or is_here(parsed_address):
            self._ports.add(port)
        else:
            self._addresses.add((parsed_address, port))

    def refusal(self, host: str, port: int, text: str) -> str:
        """Return why an address, written in numbers, may not be connected to for a host; "" when it may."""
        address = parsed(text)
        if address is None:
            return ""
        if (port in self._ports and is_here(address)) or (address, port) in self._addresses:
            return f"{host} port {port} belongs to the proxy"
        if not self._private and host.lower() not in self._exempt and not is_global(address):
            return f"{host} is in a private network ({address})"
        return ""

    async def refuses(self, host: str, port: int) -> str:
        """Return why a host that somebody else will connect to, as a parent proxy does, is refused; "" if not."""
        if reason := self.refusal(host, port, host):
            return reason
        try:
            await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as exc:
            if str(exc).startswith(_REFUSED):
                return str(exc).removeprefix(_REFUSED)
        return ""

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look at every address that a loop resolves a name to before it connects."""
        resolve = loop.getaddrinfo

        async def guarded(host: Any, port: Any, **options: Any) -> Any:
            found = await resolve(host, port, **options)
            if options.get("flags", 0) & socket.AI_PASSIVE:
                return found  # for listening
            for *_, (text, number, *_rest) in found:
                if reason := self.refusal(_name(host), int(number), str(text)):
                    raise OSError(_REFUSED + reason)
            return found

        loop.getaddrinfo = guarded  # type: ignore[method-assign]


def _name(host: Any) -> str:
    return host.decode("latin-1") if isinstance(host, bytes) else str(host)


def parsed(text: str) -> Address | None:
    """Return an address written in numbers, the IPv4 address inside where it holds one; None for a name."""
    try:
        address: Address = ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
        if address in _SIX_TO_FOUR and address.sixtofour is not None:
            return address.sixtofour
    return address


def is_global(address: Address) -> bool:
    """Tell whether an address is one of the public Internet."""
    return address.is_global and not address.is_multicast


@lru_cache(maxsize=1024)
def is_here(address: Address) -> bool:
    """Tell whether an address is this machine's: whatever can be bound here is."""
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True
