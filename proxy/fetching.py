"""A fetch of our own, through mitmproxy's way upstream: same certificates, same parent proxy, same guards.

A response cannot be set once a request that went on has failed. Whoever wants to answer in place of an origin
that is gone has to ask it before the request goes on.
"""

import asyncio
import logging

from mitmproxy import ctx, http
from mitmproxy.addons.clientplayback import ReplayHandler
from mitmproxy.connection import Server

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
    handler = ReplayHandler(own, ctx.options)
    try:
        await asyncio.wait_for(handler.replay(), FETCH_SECONDS)
    except TimeoutError:
        logger.warning("%s: no answer in %d seconds", flow.request.url, FETCH_SECONDS)
        return None
    if own.error is not None or own.response is None or own.response.raw_content is None:
        return None
    return own.response
