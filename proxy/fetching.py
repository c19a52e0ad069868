"""A fetch of our own, through mitmproxy's way upstream: same certificates, same parent proxy, same guards.

A response cannot be set once a request that went on has failed. Whoever wants to answer in place of an origin
that is gone has to ask it before the request goes on.
"""

import asyncio
import logging
import time

from mitmproxy import ctx, http
from mitmproxy.addons.clientplayback import ReplayHandler
from mitmproxy.connection import Client, ConnectionState, Server

from blocks.model import Headers

logger = logging.getLogger(__name__)

FETCH_SECONDS = 60.0
"""An origin that has not answered by then does not answer."""

_OURS = "pagemason-fetch"


def is_own(flow: http.HTTPFlow) -> bool:
    """Tell whether a flow is a fetch of our own, which the cache has nothing to do with."""
    return _OURS in flow.metadata


async def fetch(flow: http.HTTPFlow, headers: Headers, method: str = "") -> http.Response | None:
    """Ask the origin what a flow asks, with other header fields; None when it gives no whole answer."""
    request = flow.request.copy()
    request.headers.fields = headers
    if method:
        request.method = method
    own = http.HTTPFlow(flow.client_conn, Server(address=flow.server_conn.address))
    own.request = request
    own.is_replay = "request"  # whoever asked has been let in already
    own.metadata[_OURS] = True
    answer = await _play(own)
    return None if answer is None or answer.raw_content is None else answer


async def ask_anew(url: str, headers: Headers) -> http.Response | None:
    """Ask for a page as a client on this machine does, through the cache; None when there is no answer."""
    here = ("127.0.0.1", 0)
    client = Client(peername=here, sockname=here, timestamp_start=time.time(), state=ConnectionState.OPEN)
    flow = http.HTTPFlow(client, Server(address=None))
    flow.request = http.Request.make("GET", url, headers=headers)
    flow.is_replay = "request"
    return await _play(flow)


async def _play(flow: http.HTTPFlow) -> http.Response | None:
    try:
        await asyncio.wait_for(ReplayHandler(flow, ctx.options).replay(), FETCH_SECONDS)
    except TimeoutError:
        logger.warning("%s: no answer in %d seconds", flow.request.url, FETCH_SECONDS)
        return None
    return flow.response if flow.error is None else None
