"""`pagemason similar`: one agency text, printed by two sites in their own templates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.apps.conftest import Invoke
from tests.apps.warc.samples import HEAD, record

Ask = Callable[..., Any]

FIRST = (
    "The harbour master of the old town said on Monday evening that the ferry to the northern islands would stay in "
    "port until the storm had passed, because the waves at the mouth of the river had reached a height that nobody "
    "working there remembered from any of the winters before."
)
SECOND = (
    "About three hundred travellers spent the night in the school next to the market, where volunteers had put up beds "
    "and cooked soup, while the railway company promised to send two additional trains as soon as the line along the "
    "coast had been examined and cleared of fallen trees."
)
MENU = "".join(f"<li><a href='/{word}'>{word}</a></li>" for word in ("home", "politics", "sport", "culture"))
OTHER = (
    "Gardeners who plant their tomatoes before the last frost often lose them, and so the advice of this column has "
    "been the same for years: wait until the nights are warm, give them plenty of light in the meantime, and do not "
    "water the leaves, however tempting that may be on a hot afternoon in the summer."
)


def article(title: str, *paragraphs: str, head: str = "<div id=nav><ul>{}</ul></div>") -> bytes:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f"<html><head><title>{title}</title></head><body>{head.format(MENU)}<div class=article><h1>{title}</h1>{text}"
        "</div><div>Imprint</div></body></html>"
    ).encode()


@pytest.fixture
def printed(home: Path, pm: Invoke) -> None:
    near = FIRST.replace("Monday", "Sunday")
    pages = {
        "http://one.test/ferry": article("Ferry stays in port", FIRST, SECOND),
        "http://two.test/news/7": article(
            "Storm on the coast", near, SECOND, OTHER, head="<header><ul>{}</ul></header>"
        ),
        "http://two.test/garden": article("Tomatoes", OTHER),
    }
    rows = [
        record(HEAD + body, url=url, record_id=f"<{i}>", date=f"2024-05-0{i}T00:00:00Z")
        for i, (url, body) in enumerate(pages.items(), 1)
    ]
    (home / "news.warc").write_bytes(b"".join(rows))
    pm("import", home / "news.warc")


@pytest.mark.usefixtures("printed")
def test_similar_names_the_other_site(pm: Invoke, ask: Ask) -> None:
    found = ask("similar", "http://one.test/ferry")
    assert {key: found[key] for key in ("url", "blocks", "unread")} == {
        "url": "http://one.test/ferry",
        "blocks": 2,
        "unread": 0,
    }
    (row,) = found["similar"]
    assert 0.5 < row["resemblance"] < 0.8
    assert {key: row[key] for key in row if key != "resemblance"} == {
        "shared_blocks": 2,
        "site": "two.test",
        "time": "2024-05-02T00:00:00Z",
        "url": "http://two.test/news/7",
    }
    pm("compact")
    assert ask("similar", "http://one.test/ferry") == found
    code, out, err = pm("similar", "http://one.test/ferry")
    assert (code, err) == (0, "")
    assert "2 content blocks of 40 words or more, 1 pages" in out
    assert "http://two.test/news/7" in out


@pytest.mark.usefixtures("printed")
def test_similar_to_a_page_that_is_not_there(pm: Invoke) -> None:
    code, _, err = pm("similar", "http://one.test/nothing")
    assert code == 1
    assert err == "pagemason: http://one.test/nothing: not in the store\n"
