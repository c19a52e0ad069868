"""What a validation changes about what is kept (RFC 9111, sections 4.3.4 and 4.3.5)."""

from proxy.caching import Policy, Request, Response, freshen
from proxy.entry import Entry
from proxy.holdings import Holdings
from store.base import Freshening


def freshened(holdings: Holdings, entry: Entry, request: Request, response: Response, policy: Policy) -> bool:
    """Give an entry what a 304, or a HEAD that agrees, says of it; tell whether the store will have it too.

    What is for the one client that asked changes nothing for others.
    """
    new = freshen(entry.stored, request, response, policy)
    if new is entry.stored:
        return False
    return holdings.freshen(entry, Freshening(new.headers, new.request_time, new.time, new.invalid))
