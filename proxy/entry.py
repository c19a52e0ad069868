"""One kept answer as the proxy's event loop knows it: its capture, how it may be reused, its body in some forms."""

import weakref
from dataclasses import dataclass, field, replace

from blocks.model import Capture, Headers
from blocks.site import without_default_port
from proxy.caching.entry import remember
from proxy.caching.model import Policy, Response, Stored
from proxy.coding import Decoded, codings, content_encoding
from store.base import Freshening, Record

_OVERHEAD_BYTES = 3072
"""What an entry costs in memory beside bodies and headers, generously."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Entry:
    """A kept answer. Only the event loop changes it.

    `capture.body` is empty: bodies are in `forms`, by content coding, "" being the decoded one. `coding` is
    what decoding removed, "" when nothing was or could be, and None while nobody has tried: then `forms` has
    the body as it was received. `received` names the form that is the origin's own bytes. `stored` is what
    the rules of caching know of the answer as it stands after the last validation; its `ref` leads back to the entry,
    weakly: bodies that leave the memory are not to wait until garbage is collected.
    """

    capture: Capture
    policy: Policy
    coding: str | None = ""
    received: str | None = None
    forms: dict[str, bytes] = field(default_factory=dict)
    record: Record | None = None
    digest: bytes = b""
    answers: dict[str, Headers] = field(default_factory=dict)
    stored: Stored = field(init=False)

    def __post_init__(self) -> None:
        capture = self.capture
        self._remember(capture.headers, capture.request_time, capture.time, invalid=False)

    def __repr__(self) -> str:
        return f"<Entry: {self.capture.status} {self.key}, {self.coding!r} {list(self.forms)}>"

    @property
    def key(self) -> str:
        """The cache key: the URL unless the capture has another."""
        return self.capture.key or without_default_port(self.capture.url)

    @property
    def original(self) -> str:
        """The coding that an answer from this entry comes in when the client takes it."""
        if self.coding is None:
            return self.received or ""
        return self.coding

    @property
    def size(self) -> int:
        """Bytes of memory, about."""
        heads = sum(len(name) + len(value) + 100 for name, value in self.capture.headers)
        return _OVERHEAD_BYTES + heads * (2 + len(self.answers)) + sum(map(len, self.forms.values()))

    def decoded(self, decoded: Decoded) -> None:
        """Take over what decoding the received form brought: another form, or that the body is opaque."""
        if decoded.coding:
            self.forms[""] = decoded.body
        else:
            self.forms = {"": decoded.body}
            self.received = ""
        self.coding = decoded.coding
        stored = self.stored
        self._remember(stored.headers, stored.request_time, stored.time, invalid=stored.invalid)

    def freshen(self, freshening: Freshening) -> None:
        """Take over what a validation brought."""
        self._remember(freshening.headers, freshening.request_time, freshening.time, invalid=freshening.invalid)

    def invalidate(self) -> None:
        """Note that the answer needs validation before it is used again (RFC 9111, section 4.4)."""
        stored = self.stored
        self._remember(stored.headers, stored.request_time, stored.time, invalid=True)

    def _remember(self, headers: Headers, request_time: int, time: int, *, invalid: bool) -> None:
        self.answers.clear()
        self.stored = remember(
            Response(self.capture.status, headers, request_time, time),
            self.capture.vary,
            self.policy,
            coding=self.original,
            invalid=invalid,
            ref=weakref.ref(self),
        )


def received_entry(capture: Capture, policy: Policy) -> Entry:
    """Return the entry of an answer that has just arrived; its body is as received."""
    coding = ", ".join(codings(content_encoding(capture.headers)))
    return Entry(
        capture=replace(capture, body=b""),
        policy=policy,
        coding=None if coding else "",
        received=coding,
        forms={coding: capture.body},
    )


def stored_entry(record: Record, policy: Policy) -> Entry:
    """Return the entry of a record, without its body."""
    capture = record.capture
    entry = Entry(
        capture=capture,
        policy=policy,
        coding=capture.coding,
        received=None if capture.coding else "",
        record=record,
        digest=record.digest,
    )
    if record.freshening is not None:
        entry.freshen(record.freshening)
    return entry


def referred(stored: Stored) -> Entry:
    """Return the entry of what the rules of caching know; whoever asks sees to it that it has not gone."""
    entry = stored.ref() if isinstance(stored.ref, weakref.ref) else None
    assert isinstance(entry, Entry)
    return entry
