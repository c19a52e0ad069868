"""A page's markup as tokens with their places, as the HTML standard's tokenizer reads it (section 13.2.5).

One pass of one regular expression over the decoded page. Departures: `<!--` within a script hides no `</script>`;
what an unterminated comment, raw text or quote opens, reaches to the end of the page; an iframe ends with the
noscript around it, as it is written where scripts were expected to hide both. Every alternative takes
what it has matched and never gives back (possessive), so that the time is linear for any text.
"""

import re
from collections.abc import Iterator

_ATTRIBUTES = (
    r"""[^>=]*+(?:="[^"]*+"[^>=]*+|"""  # as nearly all are written
    r"""=[ \t\r\n\f]*+(?:"[^"]*+"?+|'[^']*+'?+|[^ \t\r\n\f>"'][^ \t\r\n\f>]*+)?+[^>=]*+)*+"""
)
"""From a tag's name to its end (HTML, 13.2.5.32 to 13.2.5.40)."""

RAW_TEXT = ("script", "style", "textarea", "title", "xmp", "noembed", "noframes")

_NO_RAW = "[abcdefghjklmopqruvwyzABCDEFGHJKLMOPQRUVWYZ]"
"""The first letters that no raw text element and no iframe has."""

TOKEN = re.compile(
    rf"""<(?:
    /(?P<end>[a-zA-Z][^\s/>]*+)(?:>|{_ATTRIBUTES}>?+)
  | (?P<start>(?:{_NO_RAW}|(?!(?i:{"|".join((*RAW_TEXT, "iframe"))})[\s/>])[a-zA-Z])[^\s/>]*+)
        (?P<attributes>(?=>)|{_ATTRIBUTES})>?+
  | (?P<raw>(?i:{"|".join(RAW_TEXT)}))(?=[\s/>])(?P<raw_attributes>{_ATTRIBUTES})>
        (?P<raw_text>(?:[^<]++|<(?!/(?i:(?P=raw))[\s/>]))*+)
  | (?i:iframe)(?=[\s/>]){_ATTRIBUTES}>(?P<frame>(?:[^<]++|<(?!/(?i:iframe|noscript)[\s/>]))*+)
  | (?P<other>!--(?:-?>|.*?(?:--!?>|\Z))|(?:[a-zA-Z]{_ATTRIBUTES}|[!?/][^>]*+)>?+)
    )""",
    re.VERBOSE | re.DOTALL,
)
"""A start tag, an end tag, a raw text element without its end tag, or anything else that is no text."""

_ATTRIBUTE = re.compile(
    r"""([^\s"'>/=][^\s>/=]*+)(?:\s*+=\s*+(?:"([^"]*+)"?+|'([^']*+)'?+|([^\s>"'][^\s>]*+)))?+""", re.DOTALL
)


def attributes(source: str) -> Iterator[tuple[str, str]]:
    """Yield the attributes of a start tag, names in lower case, values as written.

    >>> list(attributes(' HREF="/a" hidden'))
    [('href', '/a'), ('hidden', '')]
    """
    for name, double, single, bare in _ATTRIBUTE.findall(source):
        yield name.lower(), double or single or bare
