"""A site of articles for tests of the content view: a template, and texts that differ from page to page."""

import random

from tests.extract.pages import sentence

STYLE = "body{margin:0} .menu,.side,.foot{background:#ddd} " * 60
SCRIPT = "window.tracked = (window.tracked || 0) + 1; " * 200


def paragraphs(number: int, count: int = 6) -> list[str]:
    """Return the paragraphs of an article, different for each number."""
    words = random.Random(number)
    return [" ".join(sentence(words) for _ in range(3)) for _ in range(count)]


def article(number: int, *, more: str = "") -> bytes:
    """Return a page of some 25 kB: a menu, scripts, an article of six paragraphs, related stories and a footer."""
    title = f"The mayor opens bridge number {number}"
    menu = "".join(f'<li><a href="/section/{n}">Section {n} of the paper</a></li>' for n in range(60))
    related = "".join(f'<li><a href="/story/{n}">Story {n} that is told elsewhere</a></li>' for n in range(40))
    link = '<p>The council votes in May. <a href="other.html?page=2">The second part</a> tells of its first bridge.'
    first, *others = [f"<p>{paragraph}</p>" for paragraph in paragraphs(number)]
    text = "\n".join((first, link, *others))
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - The Daily Test</title><style>{STYLE}</style>
<script>{SCRIPT}</script><script src="/track.js"></script></head><body onload="tracked()">
<nav class="menu"><ul>{menu}</ul></nav>
<main><article><h1>{title}</h1><p class="byline">By Ada Tester</p>
{text}
<figure><img src="/bridge.png" alt="The bridge" onerror="tracked()"><figcaption>The bridge</figcaption></figure>
{more}</article></main>
<aside class="side"><h2>Related stories</h2><ul>{related}</ul></aside>
<footer class="foot"><p>Imprint, privacy, terms of use and contact</p></footer></body></html>""".encode()
