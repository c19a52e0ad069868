"""Pages written for the tests: one site, one template, an article that differs from page to page."""

import random

from extract.protocol import Page, page_of

SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeo"]

HEAD = """<html><head><title>The Daily Test</title><script>var shown = 1;</script></head><body>
<div id=top><a href=/><img src=logo.gif></a> The Daily Test, a newspaper for tests</div>
<ul class=menu>
<li><a href=/news>News</a></li>
<li><a href=/sports>Sports</a></li>
<li><a href=/weather>Weather</a></li>
<li><a href=/letters>Letters to the editor</a></li>
</ul>
"""

FOOT = """
<div class=ads><a href=/buy>Subscribe now</a> <a href=/gift>Give a gift</a></div>
<p>Copyright The Daily Test, all rights reserved. No part may be copied without asking the editor first.</p>
</body></html>
"""


def sentence(words: random.Random) -> str:
    """Return a sentence of twelve words that hardly occur elsewhere."""
    return " ".join("".join(words.choices(SYLLABLES, k=3)) for _ in range(12)).capitalize() + "."


def article(number: int) -> str:
    """Return the paragraphs of an article, different for each number; the first names the mayor."""
    words = random.Random(number)
    lines = [" ".join(sentence(words) for _ in range(2 + words.randrange(3))) for _ in range(4 + number % 3)]
    lines[0] = f"The mayor of {lines[0].split()[0]} said: {lines[0]}"
    return "\n".join(f"<p>{line}</p>" for line in lines)


def news_page(number: int) -> Page:
    """Return a page of the site."""
    title = f"<h1>{sentence(random.Random(-number))}</h1>\n"
    body = HEAD + title + article(number) + FOOT
    return page_of(f"http://daily.test/news/{number}", body.encode())


def news_pages(count: int) -> list[Page]:
    """Return so many pages of the site."""
    return [news_page(number) for number in range(count)]


BAD_BODIES = (b"", b"   \n", b"<p><p></p>", b"<!-- nothing -->", b"<script>x</script>", b"\0\xff<", b"<div>" * 500)
"""An empty page, pages without text, and bytes that are no page."""
