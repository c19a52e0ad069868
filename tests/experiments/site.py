"""A corpus of pages written for the tests, with truth beside it."""

import json
from pathlib import Path

from tests.experiments.test_datasets import warc
from tests.extract.pages import news_page, news_pages


def corpus_of(folder: Path, count: int = 12, name: str = "daily") -> Path:
    """Write NAME.warc and NAME.truth.jsonl into a folder: so many pages of one site; return the former's path."""
    path = folder / f"{name}.warc"
    path.write_bytes(warc(*(page.body for page in news_pages(count))))
    rows = [{"record_id": f"<urn:uuid:{n + 1}>", "site": "daily.test", "text": truth(n)} for n in range(count)]
    (folder / f"{name}.truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def truth(number: int) -> str:
    """Return the article of a page, without its headline."""
    page = news_page(number)
    pairs = zip(page.texts, page.pieces, strict=True)
    return "\n".join(text for text, piece in pairs if piece.startswith(b"<p>") and b"Copyright" not in piece)
