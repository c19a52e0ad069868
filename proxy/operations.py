"""What the proxy tells the writer and is told back, and how it travels: bodies beside the pickles."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from blocks.model import Capture
from store.base import Freshening


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep a capture whose body is as received."""

    number: int
    capture: Capture


@dataclass(frozen=True, slots=True)
class Freshen:
    """Attach a freshening to the capture of `key` received at `time`; `digest` is empty when it is not known."""

    number: int
    key: str
    time: int
    digest: bytes
    freshening: Freshening


@dataclass(frozen=True, slots=True)
class Invalidate:
    """Mark the captures of `key` received at or before `before`."""

    number: int
    key: str
    before: int


@dataclass(frozen=True, slots=True)
class Purge:
    """Delete the captures whose URL matches."""

    number: int
    pattern: str


@dataclass(frozen=True, slots=True)
class Use:
    """Remember that pages were asked for, at a time in seconds since the epoch."""

    number: int
    urls: tuple[str, ...]
    time: int


Operation = Keep | Freshen | Invalidate | Purge | Use


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of an operation: committed, or not kept for `reason` (a label), told in `sentence`."""

    number: int
    reason: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """How the writer works: what may be decoded, and for how long a failing store is tried."""

    max_body_bytes: int
    max_ratio: float
    patience_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Started:
    """The writer is there and listens."""


@dataclass(frozen=True, slots=True)
class Trying:
    """The store fails and is tried again: a sign of life."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Working:
    """The writer is at long work, and gets on: a sign of life."""


def send_operations(connection: Connection, operations: Sequence[Operation], again: bool) -> None:
    """Send a batch; `again` says that some of it may have been committed by a writer that is gone.

    Bodies go beside the pickle, so that nobody copies them into one.
    """
    bodies = [operation.capture.body for operation in operations if isinstance(operation, Keep)]
    bare = [
        replace(operation, capture=replace(operation.capture, body=b"")) if isinstance(operation, Keep) else operation
        for operation in operations
    ]
    connection.send_bytes(pickle.dumps((bare, again)))
    for body in bodies:
        connection.send_bytes(body)


def receive_operations(connection: Connection) -> tuple[list[Operation], bool]:
    """Return the next batch. EOFError when the proxy is gone."""
    bare, again = pickle.loads(connection.recv_bytes())
    return [
        replace(operation, capture=replace(operation.capture, body=connection.recv_bytes()))
        if isinstance(operation, Keep)
        else operation
        for operation in bare
    ], again
