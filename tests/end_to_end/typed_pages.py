"""Thirty pages of seven types, each on a site of its own making, with scripts wherever a page can have them.

`Written.says` are texts that a reader comes for: the title and parts of the main text, as a browser shows them.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

TOPICS = ("harbour", "library", "orchard", "tramway", "observatory", "market", "lighthouse", "museum")
PEOPLE = ("Ines Roth", "Karim Haddad", "Mei Tanaka", "Oskar Lind", "Paula Reyes", "Tomas Novak")

SUBJECTS = ("the council", "a group of volunteers", "the old workshop", "our reader", "every visitor", "the engineer")
VERBS = ("described", "repaired", "measured", "opened", "compared", "restored", "painted", "explained")
OBJECTS = ("the {0} near the river", "two rooms of the {0}", "a plan for the {0}", "the history of the {0}")
ENDS = (
    "before the winter came",
    "with money from the region",
    "although few had expected it",
    "in less than three weeks",
    "because the roof had begun to leak",
    "and wrote down what it cost",
)


@dataclass(frozen=True)
class Written:
    """A page, its type, and texts that a content view must show."""

    path: str
    page_type: str
    html: str
    says: tuple[str, ...]


def sentence(words: random.Random, topic: str) -> str:
    """Return an English sentence about a topic."""
    subject, verb, end = words.choice(SUBJECTS), words.choice(VERBS), words.choice(ENDS)
    text = f"{subject} {verb} {words.choice(OBJECTS).format(topic)} {end}."
    return text[0].upper() + text[1:]


def paragraph(words: random.Random, topic: str, count: int = 4) -> str:
    """Return a paragraph that no other page has: a number stands in its first sentence."""
    first = f"In {words.randrange(1500, 2020)} the {topic} had {words.randrange(100, 9999)} guests."
    return " ".join([first, *(sentence(words, topic) for _ in range(count))])


def around(title: str, main: str, *, style: int) -> str:
    """Return a whole page: menus, banners, scripts and a footer around the main part, in one of three styles."""
    menu = "".join(f'<li><a href="/go/{n}" onclick="ran()">{name}</a></li>' for n, name in enumerate(TOPICS))
    scripts = "<script>window.ran = () => { window.has_run = 1 }; ran()</script><script src='/ran.js'></script>"
    banner = '<div class="cookie-banner" onmouseover="ran()"><p>We use cookies.</p><button>Accept all</button></div>'
    side = f'<div class="sidebar"><h3>Most read</h3><ul>{menu}</ul><iframe src="/ad.html"></iframe></div>'
    foot = '<div class="footer"><p>Imprint</p><p>Privacy policy</p><p>All rights reserved</p></div>'
    head = f'<head><meta charset="utf-8"><title>{title} | The Written Site</title>{scripts}'
    head += "<style>.wide { width: 3000px }</style></head>"
    wide = '<div class="wide advertisement"><img src="javascript:ran()" onerror="ran()" width="3000"></div>'
    if style == 0:
        inner = f"<header><nav><ul>{menu}</ul></nav></header>{wide}<main>{main}</main><aside>{side}</aside>"
        inner += f"<footer>{foot}</footer>"
        return f'<!DOCTYPE html><html lang="en">{head}<body onload="ran()">{banner}{inner}</body></html>'
    if style == 1:
        inner = f'<div id="top"><ul class="menu">{menu}</ul></div>{wide}<div id="content">{main}</div>{side}{foot}'
        return f'<!DOCTYPE html><html lang="en">{head}<body onload="ran()">{banner}{inner}</body></html>'
    rows = f'<tr><td class="nav" width="160"><ul>{menu}</ul></td><td class="main">{main}</td></tr>'
    inner = f'{wide}<table width="100%" border="0">{rows}<tr><td colspan="2">{foot}</td></tr></table>'
    return f"<html>{head}<body onload='ran()'>{banner}{inner}</body></html>"


Parts = tuple[str, list[str]]
"""The main part as HTML, and texts of it."""


def article(words: random.Random, title: str, topic: str) -> Parts:
    """An article with a byline, a picture and a quotation."""
    texts = [paragraph(words, topic) for _ in range(6)]
    quote = f"<blockquote><p>{sentence(words, topic)}</p></blockquote>"
    picture = f'<img src="/picture.png" alt="The {topic}" onload="ran()">'
    figure = f"<figure>{picture}<figcaption>The {topic}</figcaption></figure>"
    body = "".join(f"<p>{text}</p>" for text in texts)
    by = f'<p class="byline">By {words.choice(PEOPLE)}</p>'
    return f"<article><h1>{title}</h1>{by}{figure}{body}{quote}</article>", [texts[0], texts[-1]]


def forum(words: random.Random, title: str, topic: str) -> Parts:
    """A thread of posts."""
    texts = [paragraph(words, topic, 2) for _ in range(7)]
    posts = "".join(
        f'<div class="post"><div class="author"><b>{words.choice(PEOPLE)}</b><br>Posts: {words.randrange(900)}</div>'
        f'<div class="postbody"><p>{text}</p></div>'
        '<div class="buttons"><a href="#">Reply</a> <a href="#">Quote</a></div></div>'
        for text in texts
    )
    return f'<h1>{title}</h1><div class="thread">{posts}</div>', [texts[0], texts[3]]


def product(words: random.Random, title: str, topic: str) -> Parts:
    """A product with a description and a table of what it is made of."""
    texts = [paragraph(words, topic, 3) for _ in range(3)]
    rows = "".join(
        f"<tr><th>{name}</th><td>{words.randrange(10, 900)} mm</td></tr>" for name in ("Width", "Height", "Depth")
    )
    body = "".join(f"<p>{text}</p>" for text in texts)
    buy = '<form action="/buy"><button onclick="ran()">Add to basket</button></form>'
    return (
        f'<div class="product"><h1>{title}</h1><img src="/picture.png" alt="{title}"><p>49.00 EUR</p>{buy}'
        f'<div class="description"><h2>Description</h2>{body}</div><table class="specs">{rows}</table></div>'
    ), [texts[0]]


def listing(words: random.Random, title: str, topic: str) -> Parts:
    """A list of entries, each with a heading and a summary."""
    entries = [(f"{sentence(words, topic)[:-1]} ({n})", paragraph(words, topic, 1)) for n in range(10)]
    body = "".join(
        f'<div class="entry"><h2><a href="/entry/{n}">{name}</a></h2><p>{text}</p></div>'
        for n, (name, text) in enumerate(entries)
    )
    return f'<h1>{title}</h1><div class="entries">{body}</div>', [entries[0][1], entries[5][1]]


def collection(words: random.Random, title: str, topic: str) -> Parts:
    """An introduction, and cards with pictures."""
    intro = paragraph(words, topic, 4)
    cards = "".join(
        f'<li class="card"><img src="/picture.png" alt="{topic} {n}"><h3>{topic.title()} number {n}</h3>'
        f"<p>{sentence(words, topic)}</p></li>"
        for n in range(8)
    )
    return f'<h1>{title}</h1><p class="intro">{intro}</p><ul class="cards">{cards}</ul>', [intro]


def documentation(words: random.Random, title: str, topic: str) -> Parts:
    """Sections with code, one line of it very long, and a wide table."""
    texts = [paragraph(words, topic, 3) for _ in range(4)]
    code = f"<pre><code>open_{topic}(guests={words.randrange(99)})  # {'a very long line ' * 20}</code></pre>"
    cells = "".join(f"<td>value{n}ofarow</td>" for n in range(24))
    sections = "".join(f"<h2>Step {n}</h2><p>{text}</p>" for n, text in enumerate(texts, 1))
    return f"<h1>{title}</h1>{sections}{code}<table><tr>{cells}</tr></table>", [texts[0], texts[2]]


def service(words: random.Random, title: str, topic: str) -> Parts:
    """What somebody offers, for whom, and how to reach them."""
    texts = [paragraph(words, topic, 3) for _ in range(3)]
    offers = "".join(f"<li>{sentence(words, topic)}</li>" for _ in range(5))
    body = f"<p>{texts[0]}</p><h2>What we offer</h2><ul>{offers}</ul><p>{texts[1]}</p>"
    body += f"<h2>How it works</h2><p>{texts[2]}</p>"
    return f'<h1>{title}</h1>{body}<a class="cta" href="javascript:ran()">Get a quote</a>', [texts[0], texts[2]]


TYPES: dict[str, tuple[Callable[[random.Random, str, str], Parts], int]] = {
    "article": (article, 6),
    "forum": (forum, 4),
    "product": (product, 4),
    "listing": (listing, 4),
    "collection": (collection, 4),
    "documentation": (documentation, 4),
    "service": (service, 4),
}


def written_pages() -> list[Written]:
    """Return the thirty pages, the same ones always."""
    pages: list[Written] = []
    for page_type, (make, count) in TYPES.items():
        for number in range(count):
            words = random.Random(f"{page_type} {number}")
            topic = TOPICS[(len(pages) + number) % len(TOPICS)]
            title = f"The {topic} and its friends, part {len(pages) + 1}"
            main, says = make(words, title, topic)
            html = around(title, main, style=number % 3)
            pages.append(Written(f"/{page_type}/{number}", page_type, html, (title, *says)))
    return pages
