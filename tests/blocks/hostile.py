"""Blocks made to be slow or to break something: about a megabyte each."""

MEGABYTE = 1_000_000

HOSTILE = {
    "one long text": b"word " * (MEGABYTE // 5),
    "one long word": b"w" * MEGABYTE,
    "distinct words": b" ".join(b"%d" % number for number in range(MEGABYTE // 7)),
    "100,000 tags": b"<b>" * 100_000,
    "100,000 scripts": b"<script>" * 100_000,
    "100,000 closed scripts": b"<script></script>" * 100_000,
    "open comments": b"<!--" * (MEGABYTE // 4),
    "open CDATA": b"<![CDATA[" * (MEGABYTE // 9),
    "comment ends": b"<!-- -->" * (MEGABYTE // 8),
    "open quotes": b"<a b='" * (MEGABYTE // 6) + b'"',
    "alternating quotes": b"""<a b='"c="'""" * (MEGABYTE // 11),
    "bare less-than signs": b"<" * MEGABYTE,
    "end tags that are none": b"<script>" + b"</scripts" * (MEGABYTE // 9),
    "ampersands": b"&" * MEGABYTE,
    "references": b"&notin;&#x41;" * (MEGABYTE // 13),
    "NUL bytes": bytes(MEGABYTE),
    "high bytes": b"\xe4" * MEGABYTE,
    "Chinese": "网页缓存".encode() * (MEGABYTE // 12),
}
