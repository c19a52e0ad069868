"""Tables: one definition for the page, the .json and the .csv."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula at the start of a cell."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: the key in the rows, its title, and its kind: text, count, number, ratio, cosine, bytes, share, time,
    url, code, bar, flag, kind, or decide: what a rule says of the row's block, with buttons."""

    key: str
    title: str
    kind: str = "text"
    sortable: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is aligned to the right."""
        return self.kind in ("count", "bytes", "share", "number", "ratio", "cosine")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns. `address` is its stable URL without the ending, `query` its query string; `links` gives the
    key of a row's target for a column. `n_rows` counts the rows on all pages of it."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    address: str = ""
    query: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    n_rows: int = 0
    page: int = 1
    n_pages: int = 1
    sort: str = ""
    descending: bool = False
    paging: str = ""
    """URL of the page it is on, up to the number of the table's page."""
    sorting: str = ""
    """URL of the page it is on, up to the column to sort by."""
    nothing: str = "Nothing here."
    """What stands in the place of rows when there are none."""

    def values(self) -> list[dict[str, Any]]:
        """Return the rows with the columns' keys only."""
        return [{column.key: row.get(column.key) for column in self.columns} for row in self.rows]


def answer(table: Table, ending: str) -> Response:
    """Return a table as JSON or as CSV."""
    if ending == "json":
        return json_answer(table.values())
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow([column.key for column in table.columns])
    for row in table.values():
        writer.writerow([_cell(value) for value in row.values()])
    return Response(stream.getvalue().encode("utf-8", "replace"), media_type="text/csv; charset=utf-8")


def json_answer(value: Any) -> Response:
    """Return a value as JSON; `<` is escaped, as a browser may take anything for HTML."""
    text = json.dumps(value, indent=1).replace("<", "\\u003c")
    return Response(text, media_type="application/json")


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return "'" + value if isinstance(value, str) and value.startswith(FORMULA) else value


def paged(rows: Sequence[Row], page: int, size: int) -> tuple[Sequence[Row], int, int]:
    """Return the rows of a page, its number within what there is, and how many pages there are."""
    n_pages = max(1, -(-len(rows) // size))
    page = min(max(1, page), n_pages)
    return rows[(page - 1) * size : page * size], page, n_pages
