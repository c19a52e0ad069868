"""A content tree as Markdown (CommonMark 0.31, with the tables and the strikethrough of GitHub's)."""

import re
from collections.abc import Iterator

from extract.views.document import HEADINGS, Node

_SPECIAL = re.compile(r"[\\`*\[\]<~]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|!(?=\[)")
_LINE_START = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|[-+>]|={3,}|(\d{1,9})(?=[.)](?:\s|$)))", re.MULTILINE)
_TICKS = re.compile(r"`+")
_BLANK = re.compile(r"\n{3,}")
_URL_ESCAPES = {"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", " ": "%20", "\\": "%5C", "|": "%7C"}
_MARKS = {"strong": "**", "em": "*", "del": "~~", "mark": "", "ins": "", "sup": "", "sub": "", "rt": ""}


def escape(text: str) -> str:
    r"""Return a text that Markdown shows as it is.

    >>> escape("2 * 3 <b> [x]")
    '2 \\* 3 \\<b> \\[x\\]'
    """
    text = _SPECIAL.sub(lambda match: "\\" + match[0], text)
    return _LINE_START.sub(_escape_start, text)


def _escape_start(match: re.Match[str]) -> str:
    return f"{match[1]}{match[3]}\\" if match[3] else f"{match[1]}\\{match[2]}"


def markdown(tree: Node) -> str:
    """Return a content tree as Markdown, ending in a newline unless empty."""
    text = _BLANK.sub("\n\n", "\n\n".join(filter(None, _blocks(tree)))).strip("\n")
    return text + "\n" if text else ""


def _blocks(node: Node) -> Iterator[str]:
    """Yield the blocks inside a container; inline children between them make a paragraph."""
    inline: list[Node | str] = []
    for child in node.children:
        if isinstance(child, str) or child.tag in _INLINE:
            inline.append(child)
            continue
        if inline:
            yield _line(inline)
            inline = []
        yield _block(child)
    if inline:
        yield _line(inline)


_INLINE = frozenset(["a", "br", "img", "code", "q", "ruby", *_MARKS])


def _block(node: Node) -> str:
    tag = node.tag
    if tag in HEADINGS:
        text = _line(node.children).replace("\\\n", " ").replace("\n", " ")
        return f"{'#' * int(tag[1])} {text}" if text else ""
    if tag in ("ul", "ol"):
        return _list(node)
    if tag == "table":
        return _table(node)
    if tag == "pre":
        return _fenced("".join(node.text()).strip("\n"))
    if tag == "blockquote":
        return _prefixed("\n\n".join(filter(None, _blocks(node))), "> ", "> ")
    if tag == "dl":
        return "\n".join(filter(None, _blocks(node)))
    if tag == "dd":
        return _prefixed("\n\n".join(filter(None, _blocks(node))), ": ", "  ")
    return "\n\n".join(filter(None, _blocks(node)))


def _fenced(text: str) -> str:
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def _prefixed(text: str, first: str, rest: str) -> str:
    if not text:
        return ""
    head, *tail = text.split("\n")
    return "\n".join([first + head, *((rest + line).rstrip() if line else rest.rstrip() for line in tail)])


def _list(node: Node) -> str:
    items, number = [], 0
    loose: list[Node | str] = []
    for child in node.children:
        if isinstance(child, Node) and child.tag == "li":
            number += 1
            mark = f"{number}. " if node.tag == "ol" else "- "
            body = "\n\n".join(filter(None, _blocks(child)))
            tight = re.sub(r"\n\n(?=\s*(?:- |\d+\. ))", "\n", body)
            items.append(_prefixed(tight, mark, " " * len(mark)))
        else:
            loose.append(child)
            items.append(_prefixed("\n\n".join(filter(None, _blocks(Node("", {}, [child])))), "- ", "  "))
    return "\n".join(filter(None, items))


def _table(node: Node) -> str:
    rows, before = [], []
    for child in node.children:
        if isinstance(child, Node) and child.tag == "tr":
            rows.append([_cell(cell) for cell in child.children])
        elif isinstance(child, Node) and child.tag in ("td", "th"):
            rows.append([_cell(child)])
        else:
            before.append("\n\n".join(_blocks(Node("", {}, [child]))))
    if not rows:
        return "\n\n".join(filter(None, before))
    width = max(map(len, rows))
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return "\n\n".join(filter(None, [*before, "\n".join(lines)]))


def _cell(child: Node | str) -> str:
    text = " ".join(filter(None, _blocks(Node("", {}, [child]))))
    return re.sub(r"\s*\\?\n\s*", " ", text).replace("|", "\\|")


def _line(children: list[Node | str]) -> str:
    text = "".join(_spans(children))
    return "\n".join(line.strip() for line in text.split("\n")).strip("\n\\ ") if "\n" in text else text.strip()


def _spans(children: list[Node | str]) -> Iterator[str]:
    for child in children:
        if isinstance(child, str):
            yield escape(child)
        elif child.tag == "br":
            yield "\\\n"
        elif child.tag == "img":
            yield f"![{_alt(child.attributes.get('alt', ''))}]({_url(child.attributes['src'])})"
        elif child.tag == "code":
            yield _code("".join(child.text()))
        elif child.tag == "a":
            inner = "".join(_spans(child.children)).strip()
            lead, tail = _around(child)
            yield f"{lead}[{inner}]({_url(child.attributes['href'])}){tail}" if inner else lead
        elif child.tag == "q":
            yield "“" + "".join(_spans(child.children)) + "”"
        else:
            yield _marked("".join(_spans(child.children)), _MARKS.get(child.tag, ""))


def _around(node: Node) -> tuple[str, str]:
    text = "".join(node.text())
    return (" " if text[:1].isspace() else "", " " if text[-1:].isspace() else "")


def _marked(text: str, mark: str) -> str:
    """Put marks around a text; they must touch it, so white space stays outside."""
    inner = text.strip()
    if not inner or not mark:
        return text
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{lead}{mark}{inner}{mark}{tail}"


def _code(text: str) -> str:
    text = " ".join(text.split("\n"))
    if not text.strip():
        return text
    fence = "`" * (1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _alt(text: str) -> str:
    return escape(text).replace("\n", " ")


def _url(url: str) -> str:
    return "".join(_URL_ESCAPES.get(char, char) for char in url)
