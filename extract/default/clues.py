"""What a page says of itself, as numbers: which passages its descriptions quote, and what kind of page it may be."""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from extract.default.characters import NAMING, Characters
from extract.default.passages import Passages
from extract.default.structured import Meta, Structured

Floats = NDArray[np.float32]

PAGE_TYPES = ("article", "collection", "documentation", "forum", "listing", "product", "service")

PASSAGE_CLUES = ("in_meta", "in_texts", "in_names", "in_product")
PAGE_CLUES = ("has_text", "text_size", "product_size", "meta_size")

_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[a-z]{2,}")
_DESCRIPTIONS = ("description", "og:description", "twitter:description")
_TEXTS = frozenset({"description", "articlebody", "text", "abstract", "reviewbody"})
_NAMES = frozenset({"name", "headline"})
_THINGS = frozenset({"Product", "ProductGroup", "Service", "Article", "WebPage", "Course", "Book"})

MAX_CLUE_CHARS = 200_000
HEAD_WORDS, TAIL_WORDS = 12, 8
HEAD_CHARS, TAIL_CHARS = 200, 150
"""Where these words are looked for."""


def _plain(text: str) -> str:
    return f" {' '.join(_WORD.findall(text[:MAX_CLUE_CHARS].lower()))} "


def clues(characters: Characters, structured: Structured, meta: Meta) -> tuple[Floats, Floats]:
    """Return PASSAGE_CLUES, shape (n_passages, 4), given the passages' characters, and PAGE_CLUES, shape (4,).

    A passage counts 0, 1 or 2: its first words and its last words stand in the description, in longer texts of
    the JSON-LD, in the description of the page's main thing; or all of it in the names there.
    """
    described = _plain(" . ".join(meta.values.get(name, "") for name in _DESCRIPTIONS))
    texts = _plain(" . ".join(text for _, key, text in structured.texts if key in _TEXTS))
    names = _plain(" . ".join(text for _, key, text in structured.texts if key in _NAMES))
    thing = _plain(" . ".join(t for kind, key, t in structured.texts if key == "description" and kind in _THINGS))
    of_page = [len(texts) > 500, np.log1p(len(texts)), np.log1p(len(thing)), np.log1p(len(described))]
    found = np.zeros((len(characters.sizes), len(PASSAGE_CLUES)), dtype=np.float32)
    known = set().union(*(text.split() for text in (described, texts, names, thing)))
    for index, words in _quoted(characters, known) if known else ():
        if len(words) < 3:
            found[index, 2] = f" {' '.join(words)} " in names
        else:
            head, tail = f" {' '.join(words[:HEAD_WORDS])} ", f" {' '.join(words[-TAIL_WORDS:])} "
            found[index] = (
                (head in described) + (tail in described),
                (head in texts) + (tail in texts),
                head in names,
                (head in thing) + (tail in thing),
            )
    return found, np.array(of_page, dtype=np.float32)


def _quoted(characters: Characters, known: set[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the passages that may be quoted in texts with these words, by index, and their words; of a long one the
    first and the last words."""
    found, begins, sizes = characters.words(NAMING, head=HEAD_CHARS, tail=TAIL_CHARS)
    for index, (begin, size) in enumerate(zip(begins.tolist(), sizes.tolist(), strict=True)):
        end = begin + size
        if size and (
            (found[begin] in known and found[min(begin + HEAD_WORDS, end) - 1] in known)
            or (found[end - 1] in known and found[max(end - TAIL_WORDS, begin)] in known)
        ):
            yield index, found[begin:end]


def page_tokens(page: Passages, url: str, structured: Structured, meta: Meta) -> set[str]:
    """Return the words of URL and title, the types a page names, and the hints of its outermost elements."""
    try:
        parts = urlsplit(url.lower())
        path, host, query = parts.path, parts.netloc, parts.query
    except ValueError:
        path = host = query = ""
    tokens = {f"path:{word}" for word in _LETTERS.findall(path[:500])}
    tokens |= {f"host:{word}" for word in _LETTERS.findall(host[:200])}
    tokens |= {f"type:{name}" for name in structured.types} | {f"og:{meta.first('og:type').lower()[:40]}"}
    tokens |= {f"title:{word}" for word in _LETTERS.findall(page.title[:300].lower())}
    if path in ("", "/"):
        tokens.add("root")
    if query:
        tokens.add("query")
    for element in range(1, min(4, len(page.elements.name))):
        tokens |= {f"outer:{hint}" for hint in page.hint_sets[page.elements.hints[element]]}
    return tokens


def page_vector(table: Floats, words: NDArray[np.float64], of_page: Floats) -> Floats:
    """Return a page as one row: the columns' means, and the same weighted by words, its size, its PAGE_CLUES."""
    weights = words / max(1.0, words.sum())
    size = [np.log1p(len(words)), np.log1p(words.sum())]
    return np.concatenate((table.mean(0), weights @ table, size, of_page), dtype=np.float32)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of the scores of one page."""
    shifted = np.exp(scores - scores.max())
    probabilities: NDArray[np.float64] = shifted / shifted.sum()
    return probabilities


def token_rows(tokens: set[str], rows: Mapping[str, int]) -> Sequence[int]:
    """Return the rows of the known tokens, in order."""
    return sorted(rows[token] for token in tokens if token in rows)
