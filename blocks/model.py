"""The values everything speaks of: Capture, Block, Recipe. All are frozen."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

import xxhash
from blake3 import blake3

Headers = tuple[tuple[bytes, bytes], ...]
"""Header fields in the order and spelling received, repeated ones repeated."""


DIGEST_BYTES = 16


def body_digest(body: bytes) -> bytes:
    """Return the digest by which a body's integrity is checked at every read: the first 128 bits of its BLAKE3.

    BLAKE2b takes seven times longer, for a page of 740 kB longer than its decompression.
    """
    return blake3(body).digest(DIGEST_BYTES)


def has_digest(body: bytes, digest: bytes) -> bool:
    """Return whether a body is the one whose digest was kept: `body_digest`, or BLAKE2b-128, which stores may have."""
    return digest == body_digest(body) or digest == blake2b(body, digest_size=DIGEST_BYTES).digest()


@dataclass(frozen=True, slots=True)
class Capture:
    """One answer of an origin for one URL at one moment, with its body as stored.

    `body` is what remains after transfer and content decoding; `coding` names the content codings
    that were removed, in header order ("gzip", "br, gzip"), and is empty when there were none or
    when they could not be decoded and the body is kept as it came. `time` and `request_time` are
    microseconds since the epoch, UTC: when the answer was received and when its request was sent.
    `key` is the cache key when it is not the URL itself, else empty. `vary` holds the request
    fields that the answer's Vary names, as sent. `private` marks what a shared cache may not give
    to anyone. `record_id` and `date` are a WARC record's header values as written; `date` is empty
    when it is just the canonical form of `time`.
    """

    url: str
    time: int
    status: int
    headers: Headers
    body: bytes
    coding: str = ""
    reason: bytes = b""
    http_version: bytes = b"HTTP/1.1"
    request_time: int = 0
    key: str = ""
    vary: Headers = ()
    private: bool = False
    record_id: str = ""
    date: str = ""

    def header(self, name: str) -> bytes:
        """Return the first value of a header field, empty when there is none; names in any case."""
        wanted = name.lower().encode()
        for field, value in self.headers:
            if len(field) == len(wanted) and field.lower() == wanted:
                return value
        return b""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a page's original bytes; `tag` is the partitioning tag it begins with, or empty."""

    data: bytes
    tag: str = ""

    @property
    def digest(self) -> bytes:
        """The xxh3-128 of the data, 16 bytes. It finds candidates only: compare the bytes as well."""
        return xxhash.xxh3_128_digest(self.data)


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of bytes of one source: `source` bytes `offset` to `offset + length`."""

    source: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Recipe:
    """The runs of a page, in order; their bytes joined are the page's body, byte for byte."""

    runs: tuple[Run, ...]

    @property
    def size(self) -> int:
        """Bytes of the page's body."""
        return sum(run.length for run in self.runs)


def compose(recipe: Recipe, sources: Mapping[int, bytes]) -> bytes:
    """Return the page's body. KeyError names a source that is missing, ValueError a run beyond its source."""
    parts = []
    for run in recipe.runs:
        part = sources[run.source][run.offset : run.offset + run.length]
        if len(part) != run.length:
            raise ValueError(f"run {run.offset}+{run.length} is beyond source {run.source}")
        parts.append(part)
    return b"".join(parts)
