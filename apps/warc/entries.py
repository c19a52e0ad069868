"""What a source of captures gives: captures, revisits that need another capture's body, and notes for people."""

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import blake2b
from uuid import UUID

from blocks.model import Capture, body_digest


class Kind(StrEnum):
    """What a note means for the import as a whole."""

    DAMAGED = "damaged"  # something that was there could not be read: the import has failed in part
    SKIPPED = "skipped"  # a record that is no page, or whose body is elsewhere
    DATED = "dated"  # kept, but with a time that was worked out


@dataclass(frozen=True, slots=True)
class Note:
    """Something that people should know about a place in a source."""

    kind: Kind
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Revisit:
    """A capture without its body, and what its record says of the capture that has it.

    `refers_time` is None when no date is given; `payload_digest` is as written, like `sha1:BASE32`, or empty.
    """

    capture: Capture
    where: str
    refers_id: str
    refers_url: str
    refers_time: int | None
    payload_digest: str


Entry = Capture | Revisit | Note


@dataclass
class Names:
    """Gives record ids to captures whose source has none: equal captures of a source are told apart by their ordinal,
    so that the same source read again gives the same ids."""

    seen: Counter[bytes] = field(default_factory=Counter)

    def named(self, capture: Capture) -> Capture:
        """Return the capture with a record id."""
        return capture if capture.record_id else replace(capture, record_id=self.name(capture))

    def name(self, capture: Capture) -> str:
        """Return a record id made from the URL, the time, the body and the ordinal among equals."""
        identity = f"{capture.url}\0{capture.time}\0".encode() + body_digest(capture.body)
        key = blake2b(identity, digest_size=16).digest()
        self.seen[key] += 1
        named = blake2b(identity + b"%d" % self.seen[key], digest_size=16).digest()
        return f"<urn:uuid:{UUID(bytes=named)}>"
