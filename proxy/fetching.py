"""A fetch of our own, through mitmproxy's way upstream: same certificates, same parent proxy, same guards.

A response cannot be set once a request that went on has failed. Whoever wants to answer in place of an origin
that is gone has to ask it before the request goes on.
"""

import asyncio
import logging
import time
from contextlib import suppress

from mitmproxy import ctx, http
from mitmproxy.addons.clientplayback import ReplayHandler
from mitmproxy.connection import Client, ConnectionState, Server

from blocks.model import Headers
from proxy.extent import AT_ONCE_BYTES, is_endless, length
from proxy.upstream import broke_off, reader_of

logger = logging.getLogger(__name__)

FETCH_SECONDS = 60.0
"""An origin that has not answered by then does not answer."""

BODY_SECONDS = 5.0
"""How long a client waits for a body whose head has come: then it had better see it come itself."""

_OURS = "pagemason-fetch"


class TooMuchError(Exception):
    """The origin answers, with a body that is too large, too slow or too long to be collected first."""


class _Fetch:
    """A fetch under way. `status` is that of the answer, 0 before its head has come."""

    def __init__(self, flow: http.HTTPFlow, *, waited_for: bool) -> None:
        self.flow, self.waited_for = flow, waited_for
        self.handler = ReplayHandler(flow, ctx.options)
        self.until = asyncio.timeout(FETCH_SECONDS)
        self.status = 0
        self.read_by: asyncio.StreamReader | None = None


def is_own(flow: http.HTTPFlow) -> bool:
    """Tell whether a flow is a fetch of our own, which the cache has nothing to do with."""
    return _OURS in flow.metadata


def head_has_come(flow: http.HTTPFlow) -> None:
    """Look at the head of the answer to a fetch of our own, and end it when the body is too much."""
    fetch: _Fetch = flow.metadata[_OURS]
    response = flow.response
    assert response is not None
    fetch.status = response.status_code
    fetch.read_by = reader_of(flow, fetch.handler)
    if fetch.status == 304:
        return
    n_bytes = length(response.headers.fields)
    large = fetch.waited_for and n_bytes is not None and n_bytes > AT_ONCE_BYTES
    if response.stream or large or is_endless(response.headers.fields):
        flow.kill()
    elif fetch.waited_for:
        with suppress(RuntimeError):  # the time is up just now
            fetch.until.reschedule(asyncio.get_running_loop().time() + BODY_SECONDS)


async def fetch(flow: http.HTTPFlow, headers: Headers, method: str = "") -> http.Response | None:
    """Ask the origin what a flow asks, with other header fields; None when it gives no whole answer.

    Without a `method` of its own the flow's client waits for it. TooMuchError when there is more of an answer than is
    worth waiting for, or, while nobody waits, than is kept.
    """
    request = flow.request.copy()
    request.headers.fields = headers
    if method:
        request.method = method
    own = http.HTTPFlow(flow.client_conn, Server(address=flow.server_conn.address))
    own.request = request
    own.is_replay = "request"  # whoever asked has been let in already
    own.metadata[_OURS] = sent = _Fetch(own, waited_for=not method)
    try:
        answer = await _play(sent)
        stopped = own.error is not None and own.error.msg == own.error.KILLED_MESSAGE
    except TimeoutError:
        logger.warning("%s: no whole answer in time", request.url)
        answer, stopped = None, True
    finally:
        del own.metadata[_OURS]  # or both would stay in memory until garbage is collected
    if answer is not None and answer.raw_content is not None:
        return answer
    if 0 < sent.status < 500 and (stopped or answer is not None):
        raise TooMuchError(request.url)
    return None


async def ask_anew(url: str, headers: Headers) -> http.Response | None:
    """Ask for a page as a client on this machine does, through the cache; None when there is no answer."""
    here = ("127.0.0.1", 0)
    client = Client(peername=here, sockname=here, timestamp_start=time.time(), state=ConnectionState.OPEN)
    flow = http.HTTPFlow(client, Server(address=None))
    flow.request = http.Request.make("GET", url, headers=headers)
    flow.is_replay = "request"
    try:
        return await _play(_Fetch(flow, waited_for=False))
    except TimeoutError:
        logger.warning("%s: no answer in %d seconds", url, FETCH_SECONDS)
        return None


async def _play(fetch: _Fetch) -> http.Response | None:
    """Return what is answered, None when nothing whole is. TimeoutError when it takes too long."""
    try:
        async with fetch.until:
            await fetch.handler.replay()
    except TimeoutError:
        for io in fetch.handler.transports.values():
            if io.handler is not None:
                io.handler.cancel("too late")
        raise
    return None if fetch.flow.error is not None or broke_off(fetch.read_by) else fetch.flow.response
