"""Which character encoding a page is in; always answers, for any bytes, in linear time.

The order is the Encoding Standard's and HTML's (13.2.3.2): byte order mark, Content-Type header, `<meta>` or XML
declaration, then a look at the bytes. Labels mean what browsers take them to mean (Encoding Standard, 4.2): latin-1
is windows-1252, gb2312 is gb18030. Departures: a page with non-ASCII characters that is valid UTF-8 all through is
UTF-8 whatever a single-byte label says, and one labelled UTF-8 that mostly is not, is judged by its bytes: servers'
default labels lie more often than bytes do. Encodings which the standard replaces (hz, iso-2022-kr) are decoded.
"""

import codecs
import re
from functools import lru_cache

PRESCAN_BYTES = 4096
"""Where a declaration is looked for. The standard says 1,024; one page in twenty declares it later."""

SAMPLE_BYTES = 1 << 16
"""What the guess of an undeclared encoding looks at."""

_LABELS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8 unicode",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
    "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
    "iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
    "iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 latin-1 us-ascii windows-1252 x-cp1252 x-user-defined",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
    "windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "gb18030": "gb18030 chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk cp936",
    "hz": "hz-gb-2312 hz",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022-jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis cp932",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
    "windows-949",
    "iso2022-kr": "csiso2022kr iso-2022-kr",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicodefeff utf-16 utf-16le",
}
"""Python's codec: the labels of the Encoding Standard that mean it, and a few spellings seen in the wild."""

CODEC_OF_LABEL = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}

WIDE = frozenset({"utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"})
"""Encodings in which a `<` is not the byte 0x3C."""

STATEFUL = frozenset({"hz", "iso2022-jp", "iso2022-kr"})
"""Encodings in which the byte 0x3C is not always a `<`."""

MULTIBYTE = frozenset({"gb18030", "big5hkscs", "euc-jp", "cp932", "cp949"})
"""Encodings in which what follows a broken character may be taken for a part of it."""

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
"""Byte order marks; and a page's first `<`, as XML 1.0, appendix F.1 has it."""

_HEADER = re.compile(rb"""charset[ \t]*=[ \t]*["']?([^ \t;"',]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--(?:[^-]++|-(?!->))*+(?:-->)?")
_META = re.compile(rb"""<meta[\s/][^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)
_XML = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']+)""")


def codec_of(label: bytes | str) -> str:
    """Return Python's codec for a label, empty when the Encoding Standard knows none.

    >>> codec_of("GB2312"), codec_of(b"latin1")
    ('gb18030', 'cp1252')
    """
    text = label.decode("latin-1") if isinstance(label, bytes) else label
    text = text.strip(" \t\r\n\f\"'").lower()
    return CODEC_OF_LABEL.get(text) or (text if text in _LABELS or text in WIDE else "")


def encoding_of(body: bytes, content_type: bytes = b"") -> str:
    """Return the codec, by Python's name, that a page is to be decoded with."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return codec
    if body.isascii() and b"\x1b" not in body and b"~{" not in body:
        return "utf-8"
    declared = _declared(body, content_type)
    valid = _valid_utf8(body)
    if declared == "utf-8":
        return "utf-8" if valid or _mostly_utf8(body) else _guess(body)
    if valid and (declared not in MULTIBYTE or _n_high(body) > 32) and declared not in STATEFUL:
        return "utf-8"
    return declared or _guess(body)


def decode(body: bytes, content_type: bytes = b"") -> str:
    """Return the page's text, without a byte order mark; what is malformed becomes U+FFFD."""
    return decode_as(body, encoding_of(body, content_type)).removeprefix("\ufeff")


def decode_as(data: bytes, codec: str) -> str:
    """Return bytes of a known encoding as text; an unknown codec is read as UTF-8, malformed bytes become U+FFFD."""
    table = _single_byte_table(codec)
    if table and not data.isascii():
        return codecs.charmap_decode(data, "replace", table)[0]
    try:
        return data.decode(codec, "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


@lru_cache(maxsize=64)
def _single_byte_table(codec: str) -> str:
    """Return the 256 characters of a single-byte encoding, empty for any other. What windows-1252 leaves undefined is
    a control, as in the Encoding Standard. Python's codecs take 0.4 us for each undefined byte, this takes none."""
    if codec not in _LABELS or codec in MULTIBYTE | WIDE | STATEFUL | {"utf-8"}:
        return ""
    table = bytes(range(256)).decode(codec, "replace")
    if codec == "cp1252":
        table = "".join(chr(byte) if char == "\ufffd" else char for byte, char in enumerate(table))
    return table


def _declared(body: bytes, content_type: bytes) -> str:
    """Return the codec of the header or of a declaration in the page, empty when there is none that is known."""
    if match := _HEADER.search(content_type):
        codec = codec_of(match[1])
        if codec:
            return codec
    head = _COMMENT.sub(b"", body[:PRESCAN_BYTES])
    for match in filter(None, (_XML.match(head), _META.search(head))):
        codec = codec_of(match[1])
        if codec:
            return "utf-8" if codec in WIDE else codec  # it could not have been read in UTF-16 (HTML, 13.2.3.2)
    return ""


def _valid_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return not body.isascii()


def _mostly_utf8(body: bytes) -> bool:
    """Tell whether the characters that are malformed as UTF-8 are fewer than half of those that are not ASCII."""
    text = body.decode("utf-8", "replace")
    n_other = len(text) - len(text.encode("ascii", "ignore"))
    return text.count("\ufffd") * 2 < n_other


_HIGH = bytes(range(128, 256))


def _n_high(body: bytes) -> int:
    return len(body) - len(body.translate(None, _HIGH))


_SIGNS = (
    ("euc-jp", re.compile(rb"[\xa4\xa5][\xa1-\xf6]")),  # kana
    ("cp932", re.compile(rb"[\x82\x83][\x40-\xf1]")),  # kana
    ("cp949", re.compile(rb"[\xb0-\xc8][\xa1-\xfe]")),  # hangul in the order of KS X 1001
    ("big5hkscs", re.compile(rb"[\xa4-\xc6][\x40-\x7e\xa1-\xfe]")),  # frequent characters (level 1)
    ("gb18030", re.compile(rb"[\xb0-\xd7][\xa1-\xfe]")),  # frequent characters (GB 2312, level 1)
)


def _guess(body: bytes) -> str:
    """Return the likeliest legacy encoding, by the characters that are frequent in each; windows-1252 at last."""
    sample = body[:SAMPLE_BYTES]
    if b"\x1b$" in sample:
        return "iso2022-jp"
    if b"~{" in sample and b"~}" in sample and sample.isascii():
        return "hz"
    n_high = _n_high(sample)
    if not n_high:
        return "utf-8"
    scores = {codec: _multibyte_score(sample, codec, sign) for codec, sign in _SIGNS}
    codec = max(scores, key=scores.__getitem__)  # the first of equals: Korean has the signs of Chinese as well
    return codec if scores[codec] > 0.6 else _guess_single(sample)


def _multibyte_score(sample: bytes, codec: str, sign: re.Pattern[bytes]) -> float:
    """Return the share of the non-ASCII characters which is frequent in the encoding, less what is malformed."""
    text = sample.decode(codec, "replace")
    n_other = len(text) - len(text.encode("ascii", "ignore"))
    malformed = text.count("\ufffd")
    frequent = len(sign.findall(sample))
    if codec in ("euc-jp", "cp932"):
        frequent *= 2  # kana make up half of Japanese text, kanji the rest
    return min(1.0, frequent / (n_other or 1)) - 3 * malformed / (n_other or 1)


def _guess_single(sample: bytes) -> str:
    """Tell Cyrillic from Western text: Cyrillic is written with bytes above 0xC0 only, mostly lower-case letters."""
    runs = re.findall(rb"[\xc0-\xff]{4,}", sample)
    letters = b"".join(runs)
    if len(letters) * 2 < _n_high(sample):
        return "cp1252"
    upper_half = sum(letters.count(byte) for byte in range(0xE0, 0x100))
    return "cp1251" if upper_half * 2 > len(letters) else "koi8-r"
