"""Content codings (RFC 9110, section 8.4.1): what was coded is decoded with caps, or kept as it came.

A decoded body stands in for the coded one only when the whole of it decoded cleanly: checksums right,
nothing missing, nothing left over. Everything else is opaque: the caller keeps the raw bytes and their
header. Memory is bounded by the caps, whatever the bytes are: decoders are fed in pieces small enough that
one of them cannot swell beyond some 40 MB before the size is looked at.
"""

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import brotli
import zstandard

from blocks.model import Headers

MAX_CODINGS = 4
"""Stacked codings beyond this many are opaque: nobody sends them but to make work."""

RATIO_FREE_BYTES = 1 << 18
"""A body that decodes to no more than this is no bomb, whatever its ratio."""

_BROTLI_PIECE = 32
"""Bytes fed at once: 16 MiB fit in 14 bytes (RFC 7932, section 9.2), and the module has no output limit."""

_ZSTD_PIECE = 1024
"""Bytes fed at once. A block of 128 KiB fits in 4 bytes (RFC 8878, section 3.1.1.2)."""

_ZSTD_MIN_WINDOW = 1 << 23
"""Every decoder takes windows up to 8 MiB (RFC 9659)."""

_DEFLATE_PIECE = 1 << 14
"""Bytes fed at once: zlib hands back a copy of what it did not take, which must stay small."""


class _Opaque(Exception):
    """The bytes are not, or not cleanly, or not within the caps what their coding says."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body and the codings removed from it, in header order; "" when there were none or it is kept raw."""

    body: bytes
    coding: str


def codings(content_encoding: str | bytes) -> tuple[str, ...]:
    """Return the codings of a Content-Encoding field, in the order they were applied, in lower case.

    >>> codings("BR, identity, x-gzip")
    ('br', 'gzip')
    """
    if isinstance(content_encoding, bytes):
        content_encoding = content_encoding.decode("latin-1")
    names = (name.strip().lower() for name in content_encoding.split(",", 64))
    return tuple(name.removeprefix("x-") for name in names if name not in ("", "identity"))


def content_encoding(headers: Headers) -> bytes:
    """Return the value of Content-Encoding, repeated fields joined (RFC 9110, section 5.3)."""
    return b", ".join(value for name, value in headers if name.lower() == b"content-encoding")


def decode(
    body: bytes, content_encoding: str | bytes, *, max_bytes: int = 64 << 20, max_ratio: float = 1100
) -> Decoded:
    """Undo the codings of a body. Never raises: what cannot be undone cleanly comes back raw, coding "".

    Nothing larger than `max_bytes` is made, nor larger than `max_ratio` times the coded body (deflate
    reaches 1,032), except that RATIO_FREE_BYTES are always allowed.
    """
    names = codings(content_encoding)
    if not names or len(names) > MAX_CODINGS or any(name not in _DECODERS for name in names):
        return Decoded(body, "")
    limit = min(max_bytes, max(RATIO_FREE_BYTES, int(len(body) * max_ratio)))
    decoded = body
    try:
        for name in reversed(names):
            decoded = _DECODERS[name](decoded, limit)
    except (_Opaque, zlib.error, brotli.error, zstandard.ZstdError, MemoryError):
        return Decoded(body, "")
    return Decoded(decoded, ", ".join(names))


def encode(body: bytes, coding: str) -> bytes:
    """Apply the codings of a Content-Encoding field. ValueError names one that is not known."""
    for name in codings(coding):
        if name not in _ENCODERS:
            raise ValueError(f"content coding {name!r} is not known; known are {', '.join(_ENCODERS)}")
        body = _ENCODERS[name](body)
    return body


def dechunk(body: bytes) -> bytes | None:
    """Undo the chunked transfer coding (RFC 9112, section 7.1); None when the body is not exactly that.

    Archives often keep Transfer-Encoding in the headers of a body that is no longer chunked: None says so.

    >>> dechunk(b"3\\r\\nabc\\r\\n0\\r\\n\\r\\n")
    b'abc'
    """
    parts: list[bytes] = []
    at = 0
    while True:
        end = body.find(b"\r\n", at, at + 4096)
        size = _chunk_size(body[at:end]) if end >= 0 else None
        if size is None:
            return None
        at = end + 2
        if size == 0:
            return b"".join(parts) if _is_trailer(body, at) else None
        parts.append(body[at : at + size])
        at += size
        if body[at : at + 2] != b"\r\n":
            return None
        at += 2


def _chunk_size(line: bytes) -> int | None:
    digits = line.split(b";", 1)[0].strip(b" \t")
    if not 0 < len(digits) <= 16 or digits.strip(b"0123456789abcdefABCDEF"):
        return None
    return int(digits, 16)


def _is_trailer(body: bytes, at: int) -> bool:
    """Tell whether the rest is trailer fields and the empty line, and nothing else."""
    return body[at:] == b"\r\n" or (body.endswith(b"\r\n\r\n") and body.find(b"\r\n\r\n", at) == len(body) - 4)


def _grow(parts: list[bytes], size: int, part: bytes, limit: int) -> int:
    size += len(part)
    if size > limit:
        raise _Opaque
    parts.append(part)
    return size


def _inflate(data: bytes, at: int, wbits: int, limit: int) -> tuple[bytes, int]:
    """Return the deflate stream that begins at `at` decoded, and where it ends."""
    stream = zlib.decompressobj(wbits)
    parts: list[bytes] = []
    size = 0
    while not stream.eof:
        piece = data[at : at + _DEFLATE_PIECE]
        part = stream.decompress(piece, limit - size + 1)
        size = _grow(parts, size, part, limit)
        at += len(piece) - len(stream.unconsumed_tail) - len(stream.unused_data)
        if not part and not piece and not stream.eof:
            raise _Opaque
    return b"".join(parts), at


def _gunzip(data: bytes, limit: int) -> bytes:
    """Decode all members (RFC 1952, section 2.2); bytes that are no member make the body opaque."""
    parts: list[bytes] = []
    size = at = 0
    while at < len(data) or not parts:
        part, at = _inflate(data, at, 31, limit - size)
        size = _grow(parts, size, part, limit)
    return b"".join(parts)


def _undeflate(data: bytes, limit: int) -> bytes:
    """Decode a zlib stream, or, as some servers send, a bare deflate stream."""
    try:
        decoded, end = _inflate(data, 0, zlib.MAX_WBITS, limit)
    except zlib.error:
        decoded, end = _inflate(data, 0, -zlib.MAX_WBITS, limit)
    if end != len(data):
        raise _Opaque
    return decoded


def _unbrotli(data: bytes, limit: int) -> bytes:
    stream = brotli.Decompressor()
    parts: list[bytes] = []
    size = 0
    for at in range(0, len(data), _BROTLI_PIECE):
        # What happens to bytes after the end depends on the module's version: ask before each piece.
        if stream.is_finished():
            raise _Opaque
        size = _grow(parts, size, stream.process(data[at : at + _BROTLI_PIECE]), limit)
    if not stream.is_finished():
        raise _Opaque
    return b"".join(parts)


def _unzstd(data: bytes, limit: int) -> bytes:
    # A frame with its size in its header has a window of that size, so the window follows the limit.
    window = max(_ZSTD_MIN_WINDOW, min(1 << limit.bit_length(), 1 << 27))
    frames = zstandard.ZstdDecompressor(max_window_size=window)
    stream = frames.decompressobj()
    parts: list[bytes] = []
    size = 0
    for at in range(0, len(data), _ZSTD_PIECE):
        piece = data[at : at + _ZSTD_PIECE]
        while piece:
            if stream.eof:
                stream = frames.decompressobj()
            size = _grow(parts, size, stream.decompress(piece), limit)
            piece = stream.unused_data if stream.eof else b""
    if not stream.eof:
        raise _Opaque
    return b"".join(parts)


def _zip_quickly(body: bytes) -> bytes:
    return gzip.compress(body, 5, mtime=0)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}

_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _zip_quickly,
    "deflate": lambda body: zlib.compress(body, 5),
    "br": lambda body: brotli.compress(body, quality=4),  # type: ignore[no-any-return, unused-ignore]
    "zstd": lambda body: zstandard.ZstdCompressor(level=3).compress(body),
}
