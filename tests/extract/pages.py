"""Pages written for the tests: one site, one template, an article that differs from page to page."""

from extract.protocol import Page, page_of

TOPICS = ("bridge", "harbour", "orchard", "library", "railway", "glacier", "theatre", "market", "museum", "canal")

SENTENCES = (
    "The {0} was opened by the mayor on a cold morning in front of a large crowd.",
    "It took nineteen workers more than two years, and no one was hurt while the {0} was built.",
    "Neighbours of the {0} had asked for a smaller one, but the council would not hear of it.",
    "What the {0} has cost is still a secret; an answer is promised for the spring.",
)

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


def article(number: int) -> str:
    """Return the words of an article's paragraphs, different for each number."""
    topic = f"{TOPICS[number % len(TOPICS)]} {number}"
    words = [sentence.format(topic) for sentence in SENTENCES[: 2 + number % 3]]
    return "\n".join(f"<p>{TOPICS[(number + at) % len(TOPICS)]} {at}: {word}</p>" for at, word in enumerate(words))


def news_page(number: int) -> Page:
    """Return a page of the site."""
    title = f"<h1>News of the {TOPICS[number % len(TOPICS)]}, part {number}</h1>\n"
    body = HEAD + title + article(number) + FOOT
    return page_of(f"http://daily.test/news/{number}", body.encode())


def news_pages(count: int) -> list[Page]:
    """Return so many pages of the site."""
    return [news_page(number) for number in range(count)]


BAD_BODIES = (b"", b"   \n", b"<p><p></p>", b"<!-- nothing -->", b"<script>x</script>", b"\0\xff<", b"<div>" * 500)
"""An empty page, pages without text, and bytes that are no page."""
