"""Fetching a kept page anew, because the person who runs the proxy wants it."""

import asyncio
import logging

from proxy.fetching import ask_anew

logger = logging.getLogger(__name__)


def refetch(loop: asyncio.AbstractEventLoop, url: str, mode: str, wait_seconds: float) -> str:
    """Fetch a page by a proxy's loop, from another thread; return in a sentence what came of it."""
    task = asyncio.run_coroutine_threadsafe(_refetch(url, mode), loop)
    try:
        return task.result(wait_seconds)
    except TimeoutError:
        return "The page is being fetched."
    except Exception as exc:
        logger.warning("%s: not fetched: %s", url, exc)
        return "The page could not be fetched."


async def _refetch(url: str, mode: str) -> str:
    """Mode `cache` validates what it has; the modes that keep everything fetch the whole page again."""
    if mode == "offline":
        return "The proxy is offline: nothing is fetched."
    mode = "cache" if mode == "cache" else "record"
    answer = await ask_anew(
        url, ((b"Cache-Control", b"no-cache"), (b"X-Pagemason-View", b"full"), (b"X-Pagemason-Mode", mode.encode()))
    )
    if answer is None:
        return "The origin gives no answer."
    said = [part.strip() for part in answer.headers.get("Cache-Status", "").split(";")]
    if "stored" in said:
        return f"The origin answered {answer.status_code}, and the answer is kept."
    if "fwd-status=304" in said:
        return "The origin says that the page is as it was."
    return f"The origin answered {answer.status_code}; this answer is not kept."
