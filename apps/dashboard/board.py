"""What the pages share: the store, the counters, the templates; and how a request's parameters are read."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from apps.dashboard import charts
from apps.dashboard.content import Judge
from apps.dashboard.evidence import Evidence
from apps.dashboard.keys import Keys
from apps.dashboard.live import Live
from apps.dashboard.tables import Row, Table
from apps.warc.dates import format_date
from blocks.site import site_of
from proxy.views.rules_file import RulesFile
from settings import Settings
from store.base import Record, SiteStats, Store

MAX_LISTED_SITES = 8
"""Sites whose list of pages is kept."""

MAX_CAPTURES = 1000
"""Captures of a page that are shown, newest first."""

PAGE_ROWS = 50


class NotThere(Exception):
    """There is no such site, page, capture or block; the message is a sentence."""


def readable(text: object) -> str:
    """Return text without the characters that would turn or hide what follows them: stored URLs are anybody's."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(text))


def readable_lines(text: object) -> str:
    """Return text of several lines without such characters."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in str(text).replace("\r\n", "\n"))


def size(n_bytes: float | None) -> str:
    """Return a size for people.

    >>> size(52_400_000)
    '52.4 MB'
    """
    if n_bytes is None:
        return "–"
    for unit in ("B", "kB", "MB", "GB"):
        if abs(n_bytes) < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} TB"


def share(value: float | None) -> str:
    """Return a share in per cent, a dash for none."""
    return "–" if value is None else f"{100 * value:.1f} %"


def count(value: float | None) -> str:
    """Return a number with its thousands apart, a dash for none."""
    return "–" if value is None else f"{value:,.0f}"


def link(path: str, **parameters: object) -> str:
    """Return a path with a query string."""
    given = {name: value for name, value in parameters.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='surrogatepass')}" if given else path


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("apps.dashboard"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= {
        "size": size,
        "share": share,
        "count": count,
        "readable": readable,
        "readable_lines": readable_lines,
        "time": format_date,
    }
    environment.globals |= {"link": link, "bar": charts.bar, "stacked": charts.stacked}
    return environment


@dataclass(slots=True)
class Board:
    """Everything that a page may need. Safe for several threads."""

    settings: Settings
    store: Store
    live: Live
    evidence: Evidence
    keys: Keys
    rules: RulesFile
    judge: Judge
    frame_port: int
    templates: Environment = field(default_factory=_environment)
    _listed: OrderedDict[str, tuple[SiteStats, list[Record]]] = field(default_factory=OrderedDict)
    _lock: Any = field(default_factory=Lock)

    def site_of(self, url: str) -> str:
        """Return the site a URL belongs to."""
        return site_of(url, self.settings.site_of)

    def site_stats(self, site: str) -> SiteStats | None:
        """Return a site's totals, None when nothing of it is kept."""
        return self.live.site(site)

    def records_of(self, site: str) -> list[Record]:
        """Return the captures of a site, by URL and time; remembered until the site changes."""
        stats = self.site_stats(site)
        if stats is None:
            raise NotThere(f"nothing of {readable(site) or 'a site without a name'} is kept")
        with self._lock:
            kept = self._listed.get(site)
            if kept and kept[0] == stats:
                self._listed.move_to_end(site)
                return kept[1]
        records = self.store.of_site(site)
        with self._lock:
            self._listed[site] = stats, records
            while len(self._listed) > MAX_LISTED_SITES:
                self._listed.popitem(last=False)
        return records

    def captures_of(self, url: str) -> list[Record]:
        """Return the captures of a page, newest first. NotThere when there is none."""
        records = [r for r in self.store.find(url, limit=MAX_CAPTURES) if r.capture.url == url]
        if not records:
            raise NotThere(f"{readable(url)} is not in the store")
        return records

    def capture_of(self, url: str, number: str) -> tuple[list[Record], int]:
        """Return the captures of a page and which one is meant, the newest when no id is given."""
        records = self.captures_of(url)
        if not number:
            return records, 0
        for at, record in enumerate(records):
            if str(record.id) == number:
                return records, at
        raise NotThere(f"{readable(url)} has no capture {readable(number)[:40]}")

    def show(self, request: Request, template: str, code: int = 200, **context: object) -> Response:
        """Return a page made from a template."""
        session = str(request.scope.get("session", ""))
        common = {
            "frames": f"http://{request.url.hostname or ''}:{self.frame_port}",
            "path": request.url.path,
            "logged_in": bool(session),
            "form_token": self.keys.form_token(session) if session else "",
            "attached": self.live.proxy is not None,
            "here": str(request.url.path) + (f"?{request.url.query}" if request.url.query else ""),
        }
        return HTMLResponse(
            self.templates.get_template(template).render(common | context).encode("utf-8", "replace"), code
        )


def number_of(request: Request, name: str, default: int = 1) -> int:
    """Return a parameter as a number, the default when it is none."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def text_of(request: Request, name: str) -> str:
    """Return a parameter, empty when it is not given."""
    return str(request.query_params.get(name, ""))


def shown(table: Table, request: Request, path: str, name: str = "page") -> Table:
    """Return a table with the links by which its page turns the leaves and sorts."""
    from dataclasses import replace

    kept = {key: value for key, value in request.query_params.items() if key != name}
    sorting = {key: value for key, value in kept.items() if key not in ("sort", "order")}
    query = urlencode(kept, errors="surrogatepass")
    return replace(
        table,
        query=query,
        paging=f"{path}?{query}{'&' if query else ''}{name}=",
        sorting=f"{path}?{urlencode(sorting)}{'&' if sorting else ''}sort=",
    )


def ordered(rows: list[Row], key: str, descending: bool) -> list[Row]:
    """Return rows sorted by a column; what has no value comes last."""

    def by(row: Row) -> Any:
        value = row[key]
        return value.lower() if isinstance(value, str) else value

    given = sorted((row for row in rows if row[key] is not None), key=by, reverse=descending)
    return given + [row for row in rows if row[key] is None]


def without(mapping: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a mapping without some keys."""
    return {name: value for name, value in mapping.items() if name not in names}


__all__ = ["Board", "Markup", "NotThere"]
