"""A content tree as HTML: our own markup only, sanitised once more by nh3 before it leaves."""

from html import escape
from io import StringIO

import nh3

from extract.views.document import HEADINGS, Node
from extract.views.info import Info

_VOID = frozenset(("br", "img"))
TAGS = {
    *("article", "p", "ul", "ol", "li", "dl", "dt", "dd", "blockquote", "pre", "table", "caption", "tr", "td", "th"),
    *("figure", "figcaption", "a", "code", "sup", "sub", "q", "mark", "ruby", "rt", "strong", "em", "del", "ins"),
    *("br", "img", "tbody", *HEADINGS),
}
ATTRIBUTES = {"a": {"href"}, "img": {"src", "alt", "loading"}}
SCHEMES = {"http", "https", "mailto"}

STYLE = (
    "body{max-width:44rem;margin:0 auto;padding:1rem;font:1rem/1.55 system-ui,sans-serif;overflow-wrap:anywhere}"
    "img{max-width:100%;height:auto}pre{overflow-x:auto}table{display:block;overflow-x:auto;border-collapse:collapse}"
    "td,th{border:1px solid #bbb;padding:.2rem .5rem;text-align:left;vertical-align:top}"
    "header p,footer{color:#555}"
)

POLICY = "default-src 'none'; img-src http: https:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""A Content-Security-Policy under which a content page shows all it has: nothing in it acts."""


def fragment(tree: Node) -> str:
    """Return a content tree as sanitised HTML, without head and body."""
    out = StringIO()
    _write(tree, out)
    return nh3.clean(
        out.getvalue(), tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel="noopener noreferrer"
    )


def _write(node: Node, out: StringIO) -> None:
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in node.attributes.items())
    lazy = ' loading="lazy"' if node.tag == "img" else ""
    out.write(f"<{node.tag}{attributes}{lazy}>")
    if node.tag in _VOID:
        return
    if node.tag == "pre":
        out.write("\n")  # the parser takes one line feed away
    for child in node.children:
        if isinstance(child, str):
            out.write(escape(child, quote=False))
        else:
            _write(child, out)
    out.write(f"</{node.tag}>")
    if node.tag not in ("a", "code", "strong", "em", "del", "ins", "mark", "q", "sup", "sub", "ruby", "rt"):
        out.write("\n")


def document(tree: Node, info: Info, full_url: str) -> str:
    """Return a whole page: title, author and date, the content, and a link to the full page."""
    language = f' lang="{escape(info.language)}"' if info.language else ""
    head = [f"<title>{escape(info.title or info.url)}</title>"]
    if info.canonical:
        head.append(f'<link rel="canonical" href="{escape(info.canonical)}">')
    for name, value in (("author", info.author), ("date", info.date), ("description", info.description)):
        if value:
            head.append(f'<meta name="{name}" content="{escape(value)}">')
    return (
        f'<!DOCTYPE html>\n<html{language}>\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        + "\n".join(head)
        + f"\n<style>{STYLE}</style>\n</head>\n<body>\n{_header(tree, info)}<main>\n{fragment(tree)}</main>\n"
        + _footer(full_url)
        + "</body>\n</html>\n"
    )


def _header(tree: Node, info: Info) -> str:
    lines = []
    if info.title and not starts_with(tree, info.title):
        lines.append(f"<h1>{escape(info.title, quote=False)}</h1>")
    byline = " · ".join(filter(None, (info.author, info.date)))
    if byline:
        lines.append(f"<p>{escape(byline, quote=False)}</p>")
    return "<header>\n" + "\n".join(lines) + "\n</header>\n" if lines else ""


def starts_with(tree: Node, title: str) -> bool:
    """Tell whether a heading among the first children says the title already."""
    wanted = " ".join(title.lower().split())
    for child in tree.children[:4]:
        if isinstance(child, Node) and child.tag in HEADINGS:
            text = " ".join("".join(child.text()).lower().split())
            if text and (text in wanted or wanted in text):
                return True
    return False


def _footer(full_url: str) -> str:
    if not full_url.lower().startswith(("http://", "https://", "/")):
        return ""
    return f'<footer><a href="{escape(full_url)}">Full page</a></footer>\n'
