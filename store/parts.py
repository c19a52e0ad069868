"""What a store in a database is made of, for those who work on the whole of it."""

from collections.abc import Mapping

from blocks.site import site_of
from store.database import Database
from store.finding import Finder
from store.reading import Reader
from store.writing import Writer


class Parts:
    """The database, the way in (`writer`), the way out (`finder`), and the memory of what was read (`reader`)."""

    def __init__(self, database: Database, sites: Mapping[str, str] | None = None) -> None:
        self.database = database
        self.reader = Reader()
        self._sites = dict(sites or {})
        self.finder = Finder(database, self.reader, self._sites_of)
        self.writer = Writer(database, self.reader, self.site_of)

    def site_of(self, url: str) -> str:
        return site_of(url, self._sites)

    def _sites_of(self, url: str) -> tuple[str, ...]:
        """A capture may be older than the setting that maps its site."""
        return tuple(dict.fromkeys((site_of(url, self._sites), site_of(url))))
