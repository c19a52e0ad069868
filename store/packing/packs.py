"""The bytes of a pack: heads, recipes and raw bodies to and from what the database holds (docs/format.md).

Pure: bytes in, values out. `DamagedPack` is raised for whatever is not what was written.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import local
from typing import Any, overload

import msgpack
import zstandard

from blocks.model import DIGEST_BYTES, Capture, Headers
from store.packing.recipes import Recipes
from store.packing.recipes import decode as decode_recipes
from store.packing.tokens import Pairs

MAX_READ_BYTES = 1 << 20
"""Raw bodies that one page may need, its own pack's included, unless the page itself is larger."""

RAW, ZSTD = 0, 1

_UUID = re.compile(r"<urn:uuid:([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})>")


class DamagedPack(ValueError):
    """A pack's bytes are not what was written."""


@dataclass(slots=True)
class Head:
    """Everything of a pack but its blocks; lists have one entry a capture. Captures carry no body here."""

    needs: list[int] = field(default_factory=list)
    captures: Sequence[Capture] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    recipes: Recipes = field(default_factory=Recipes)
    """Source 0 is this pack's raw body, source i that of `needs[i - 1]`."""
    tokens: list[Pairs] = field(default_factory=list)
    """What to put back into the joined runs, by `tokens.restore`."""
    proofs: dict[int, tuple[bytes | int, ...]] = field(default_factory=dict, compare=False)
    """Of captures that were read and checked, by slot: the body's xxh3-128, and which loaded raw bodies it is made of.
    Made of the same ones again, it need not be checked by the slower digest."""


def encode_head(head: Head, recipes: bytes) -> bytes:
    """Return a head as raw bytes, without its captures' bodies; `recipes` are its recipes as `recipes.encode` gives
    them."""
    fields: dict[bytes, int] = {}
    captures = head.captures

    def numbers(headers: Headers) -> list[int]:
        return [fields.setdefault(part, len(fields)) for pair in headers for part in pair]

    content = {
        "needs": head.needs,
        "urls": [c.url for c in captures],
        "keys": [c.key for c in captures],
        "times": [c.time for c in captures],
        "waits": [c.time - c.request_time if c.request_time else 0 for c in captures],
        "statuses": [c.status for c in captures],
        "reasons": [c.reason for c in captures],
        "versions": [c.http_version for c in captures],
        "headers": [numbers(c.headers) for c in captures],
        "codings": [c.coding for c in captures],
        "varies": [numbers(c.vary) for c in captures],
        "private": [c.private for c in captures],
        "records": [_record_id(c.record_id) for c in captures],
        "dates": [c.date for c in captures],
        "digests": b"".join(head.digests),
        "runs": recipes,
        "tokens": [[token for pair in pairs for token in pair] for pairs in head.tokens],
        "fields": list(fields),
    }
    packed: bytes = msgpack.packb(content, unicode_errors="surrogatepass")
    return packed


EMPTY_HEAD_BYTES = 3000
"""A raw head without captures, at the most: its names, and what its packs need."""


def head_bytes(capture: Capture, n_runs: int, tokens: Pairs, fields: set[bytes]) -> int:
    """Return by how many bytes a capture lengthens a raw head, at the most. `fields` are those that the head has; the
    capture's are added."""
    pairs = capture.headers + capture.vary
    new = {part for pair in pairs for part in pair} - fields
    fields |= new
    texts = (capture.url, capture.key, capture.coding, capture.record_id, capture.date)
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) + len(
        capture.reason + capture.http_version
    )
    size += sum(map(len, new)) + sum(len(token) for pair in tokens for token in pair)
    numbers = 2 * len(pairs) + len(new) + 2 * len(tokens) + 16
    return size + 5 * numbers + DIGEST_BYTES + 20 + recipes_bytes(n_runs)


def recipes_bytes(n_runs: int) -> int:
    """Return the bytes of a capture's recipe of so many runs, at the most."""
    return 4 + 9 * n_runs


def decode_head(raw: bytes) -> Head:
    """Return the head that `encode_head` was given. DamagedPack when the bytes are none."""
    try:
        content: dict[str, Any] = msgpack.unpackb(raw, unicode_errors="surrogatepass")
        fields: list[bytes] = content["fields"]
        columns = (
            *(content["urls"], content["keys"], content["times"], content["waits"], content["statuses"]),
            *(content["reasons"], content["versions"], content["headers"], content["codings"]),
            *(content["varies"], content["private"], content["records"], content["dates"]),
        )
        if len({*map(len, columns)}) > 1:
            raise DamagedPack("head: its lists differ in length")
        captures = _Captures(fields, columns)
        joined: bytes = content["digests"]
        digests = [joined[i : i + DIGEST_BYTES] for i in range(0, len(joined), DIGEST_BYTES)]
        recipes = decode_recipes(content["runs"])
        tokens = [tuple(zip(t[::2], t[1::2], strict=True)) for t in content["tokens"]]
        if not len(captures) == len(digests) == len(recipes) == len(tokens):
            raise DamagedPack("head: its lists differ in length")
        return Head(content["needs"], captures, digests, recipes, tokens)
    except DamagedPack:
        raise
    except Exception as error:  # msgpack and the columns fail in many ways; all mean the same
        raise DamagedPack(f"head: {type(error).__name__}: {error}") from error


class _Captures(Sequence[Capture]):
    """A head's captures, each made when it is asked for: a reader of one page needs one."""

    def __init__(self, fields: Sequence[bytes], columns: Sequence[Sequence[Any]]) -> None:
        self._fields, self._columns = fields, columns
        self._made: list[Capture | None] = [None] * len(columns[0])

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, slot: int) -> Capture: ...
    @overload
    def __getitem__(self, slot: slice) -> list[Capture]: ...
    def __getitem__(self, slot: int | slice) -> Capture | list[Capture]:
        if isinstance(slot, slice):
            return [self[at] for at in range(*slot.indices(len(self)))]
        made = self._made[slot]  # an IndexError here ends a loop over the captures
        if made is None:
            try:
                made = _capture(self._fields, *[column[slot] for column in self._columns])
            except DamagedPack:
                raise
            except (TypeError, ValueError, AttributeError) as error:
                raise DamagedPack(f"head: capture {slot}: {error}") from error
            self._made[slot] = made
        return made


def _capture(
    fields: Sequence[bytes],
    url: str,
    key: str,
    time: int,
    wait: int,
    status: int,
    reason: bytes,
    version: bytes,
    headers: Sequence[int],
    coding: str,
    vary: Sequence[int],
    private: bool,
    record: bytes | str,
    date: str,
) -> Capture:
    return Capture(
        url,
        time,
        status,
        _pairs(fields, headers),
        b"",
        coding,
        reason,
        version,
        time - wait if wait else 0,
        key,
        _pairs(fields, vary),
        private,
        _written_id(record),
        date,
    )


def _pairs(fields: Sequence[bytes], numbers: Sequence[int]) -> Headers:
    try:
        named = [fields[number] for number in numbers]
    except LookupError as error:
        raise DamagedPack("head: no such header field") from error
    return tuple(zip(named[::2], named[1::2], strict=True))


def _record_id(written: str) -> bytes | str:
    match = _UUID.fullmatch(written)
    return bytes.fromhex("".join(match.groups())) if match else written


def _written_id(record: bytes | str) -> str:
    if isinstance(record, str):
        return record
    h = record.hex()
    return f"<urn:uuid:{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}>"


class Codec:
    """Compresses raw heads and bodies at one zstd level, with some of its parameters set otherwise. `base` is the raw
    body used as dictionary, or empty."""

    def __init__(self, level: int, base: bytes = b"", parameters: Mapping[str, int] | None = None) -> None:
        chosen = zstandard.ZstdCompressionParameters.from_level(
            level, write_checksum=True, write_content_size=True, **(parameters or {})
        )
        if base:
            dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            dictionary.precompute_compress(compression_params=chosen)
            self._compressor = zstandard.ZstdCompressor(dict_data=dictionary, compression_params=chosen)
        else:
            self._compressor = zstandard.ZstdCompressor(compression_params=chosen)

    def encode(self, raw: bytes) -> bytes:
        """Return what is stored for a raw head or body."""
        if raw:
            packed = self._compressor.compress(raw)
            if len(packed) < len(raw) + 8:
                return bytes([ZSTD]) + packed
        return bytes([RAW]) + raw + _checksum(raw)


def decode(stored: bytes, base: bytes = b"", *, max_bytes: int = 1 << 31) -> bytes:
    """Return a raw head or body. DamagedPack when it is not what was written, or the base is another one."""
    if stored[:1] == bytes([RAW]):
        raw, checksum = stored[1:-8], stored[-8:]
        if _checksum(raw) != checksum:
            raise DamagedPack("checksum differs")
        return raw
    if stored[:1] != bytes([ZSTD]):
        raise DamagedPack(f"codec {stored[:1].hex() or 'missing'}: 00 or 01 expected")
    try:
        frame = memoryview(stored)[1:]
        if zstandard.frame_content_size(frame) > max_bytes:
            raise DamagedPack("frame declares more bytes than any pack has")
        if not base:
            return _own.decompressor.decompress(frame)
        dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        return zstandard.ZstdDecompressor(dict_data=dictionary).decompress(frame)
    except zstandard.ZstdError as error:
        raise DamagedPack(f"frame: {error}") from error


class _Own(local):
    """What a thread has of its own: to make a decompressor takes as long as a head's decompression."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()


_own = _Own()


def _checksum(raw: bytes) -> bytes:
    return blake2b(raw, digest_size=8).digest()
