"""Which elements of HTML end a passage, end each other, or are never seen (HTML, sections 13.1.2.4 and 13.2.6)."""

from extract.default.hints import TAG_BITS


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


INLINE = _names(
    "a abbr acronym b bdi bdo big blink cite code data del dfn em font i img ins kbd mark nobr picture q rp rt "
    "ruby s samp small source span strike strong sub sup time tt u var wbr"
)
"""Elements that do not end a passage."""

VOID = _names(
    "area base basefont bgsound br col command embed frame hr img input isindex keygen link meta param source track wbr"
)

SILENT = frozenset(["head", "template"])
"""Elements whose text no reader sees."""

IN_HEAD = frozenset(["base", "basefont", "bgsound", "link", "meta", "noscript", "template", "html", "head"])
"""Elements that leave an open head open."""

CELLS = _names("table td th caption button object template")
"""Elements out of which a missing end tag does not reach."""

P_ENDERS = _names(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 "
    "h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre section table ul"
)
"""Elements whose start ends an open paragraph."""

CLOSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "li": (("li", "p"), ("ul", "ol", "menu", "dir", *CELLS)),
    "dt": (("dt", "dd", "p"), ("dl", *CELLS)),
    "dd": (("dt", "dd", "p"), ("dl", *CELLS)),
    "tr": (("tr", "caption"), ("table", "template")),
    "td": (("td", "th"), ("tr", "table", "template")),
    "th": (("td", "th"), ("tr", "table", "template")),
    "thead": (("thead", "tbody", "tfoot", "tr", "caption"), ("table", "template")),
    "tbody": (("thead", "tbody", "tfoot", "tr", "caption"), ("table", "template")),
    "tfoot": (("thead", "tbody", "tfoot", "tr", "caption"), ("table", "template")),
    "option": (("option",), ("select", "datalist")),
    "optgroup": (("option", "optgroup"), ("select",)),
    "body": (("head",), ()),
}
"""For a start tag: the open elements it closes unless one of the second list lies between (HTML, 13.1.2.4)."""

LEAVES_DRAWING = frozenset({*P_ENDERS, "body", "br", "p", "li", "dd", "dt", "table"})
"""Elements whose start ends an open drawing."""

TABLE_PARTS = frozenset(["table", "tr", "td", "th", "thead", "tbody", "tfoot", "caption"])

TABLES = _names("table template")

UNSEEN = VOID | _names("path g circle rect use defs symbol polygon lineargradient stop clippath")
"""Elements that change nothing where no text is seen."""

INLINE_KIND, VOID_KIND, BREAK_KIND, BLOCK_KIND = range(4)


def kind_of(name: str) -> int:
    """Return how an element with a name in lower case acts: inside a passage, alone, as a break, or around them."""
    if name == "br":
        return BREAK_KIND
    if name in INLINE:
        return INLINE_KIND
    return VOID_KIND if name in VOID else BLOCK_KIND


KNOWN = {name: (name, kind_of(name)) for name in {*INLINE, *VOID, *SILENT, *CLOSES, *TAG_BITS, "html", "div"}}
KNOWN |= {name.upper(): value for name, value in KNOWN.items()}
"""Names as usually written -> the name in lower case, and its kind."""


class Names(dict[str, tuple[str, int]]):
    """Names as written -> the name in lower case, and its kind; those that are not there yet are added."""

    def __missing__(self, written: str) -> tuple[str, int]:
        name = written.lower()
        known = self[written] = name, kind_of(name)
        return known
