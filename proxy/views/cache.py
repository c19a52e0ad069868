"""Views in memory, in bounded bytes: the least recently asked for leaves first."""

from collections import OrderedDict

from proxy.metrics import Metrics
from proxy.views.rendering import RenderedView


class ViewCache:
    """Views by the digest of all that they are rendered from, so that equal keys mean equal views."""

    def __init__(self, limit: int, metrics: Metrics) -> None:
        self._limit = limit
        self._metrics = metrics
        self._views: OrderedDict[bytes, RenderedView] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._views)

    def get(self, key: bytes) -> RenderedView | None:
        """Return a view, None when it is not here."""
        rendered = self._views.get(key)
        if rendered is not None:
            self._views.move_to_end(key)
        return rendered

    def put(self, key: bytes, rendered: RenderedView) -> None:
        """Keep a view, and make room for it."""
        if key in self._views:
            return
        self._views[key] = rendered
        self._bytes += rendered.size
        while self._bytes > self._limit and self._views:
            self._bytes -= self._views.popitem(last=False)[1].size
        self._metrics.view_memory_bytes.set(self._bytes)
