"""What the proxy would make of a stored page: which blocks are content, and the content view or why there is none."""

import logging
from collections import OrderedDict
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

from apps.dashboard.evidence import Evidence
from blocks.model import Capture, body_digest
from blocks.site import host_of
from extract.protocol import NeedsEvidence, Verdict, page_of
from extract.registry import extractor
from extract.views.ruling import read_parts, ruled
from extract.views.view import view_of
from proxy.views.rendering import LOGIN_REASON, is_login
from proxy.views.rules import NOTHING, EffectiveRule
from proxy.views.rules_file import RulesFile
from store.packing.kinds import is_page

logger = logging.getLogger(__name__)

MAX_BYTES = 4 << 20
"""Larger pages are not judged while somebody waits."""

N_REMEMBERED = 32

WAIT_SECONDS = 0.2
"""How long somebody who looks at a page waits until it is judged; nine pages of ten are by then."""

Remembered = tuple[Future["PageContent"], Any]
"""A page's content, and the evidence it was judged by, which keeps its id."""


@dataclass(frozen=True, slots=True)
class PageContent:
    """A verdict for each block and the content view as HTML; `reason` says why the proxy gives the full page, `why`
    why there are no verdicts.

    `marks` is "yes" or "no" for blocks with text, else empty; `n_others` counts the site's pages that were compared.
    """

    rule: EffectiveRule = NOTHING
    verdicts: tuple[Verdict, ...] = ()
    marks: tuple[str, ...] = ()
    document: str = ""
    confidence: float = 0.0
    page_type: str = ""
    n_others: int = 0
    reason: str = ""
    why: str = ""
    is_pending: bool = False


class Judge:
    """Judges pages as the proxy does, by the rules as they are now, one at a time; the last few are remembered."""

    def __init__(self, rules: RulesFile, evidence: Evidence, min_confidence: float) -> None:
        self._rules, self._evidence, self._min_confidence = rules, evidence, min_confidence
        self._known: OrderedDict[tuple[Any, ...], Remembered] = OrderedDict()
        self._lock = Lock()
        self._judging = ThreadPoolExecutor(1, "judge")

    def rule_of(self, url: str) -> EffectiveRule:
        """Return what the rules in force say about a URL's host."""
        self._rules.refresh()
        return self._rules.rules.about(host_of(url))

    def close(self) -> None:
        """Judge nothing more."""
        self._judging.shutdown(wait=False, cancel_futures=True)

    def content_of(self, capture: Capture, site: str, wait_seconds: float = WAIT_SECONDS) -> PageContent:
        """Return the content of a page; it is compared with others of its site once those have been read.

        A page that takes longer than somebody waits is judged behind the answer, which says so.
        """
        if not is_page(capture):
            return PageContent(why="This is no HTML page: it has no content blocks.")
        if len(capture.body) > MAX_BYTES:
            return PageContent(why=f"Pages of more than {MAX_BYTES >> 20} MiB are not judged here.")
        rule = self.rule_of(capture.url)
        try:
            return self._future(capture, site, rule).result(wait_seconds)
        except (TimeoutError, CancelledError):  # cancelled when too many others have been asked for since
            return PageContent(rule, why="The page is being judged: load it again in a moment.", is_pending=True)

    def _future(self, capture: Capture, site: str, rule: EffectiveRule) -> "Future[PageContent]":
        evidence = self._evidence.prepared(site, rule.method)
        content_type = capture.header("content-type")
        key = (body_digest(capture.body), capture.url, content_type, rule.digest, id(evidence))
        with self._lock:
            found = self._known.get(key)
            if found is None or found[0].cancelled():
                found = self._known[key] = self._judging.submit(self._made, capture, rule, evidence), evidence
            self._known.move_to_end(key)
            while len(self._known) > N_REMEMBERED:
                self._known.popitem(last=False)[1][0].cancel()
            return found[0]

    def _made(self, capture: Capture, rule: EffectiveRule, evidence: Any) -> PageContent:
        try:
            return self._judged(capture, rule, evidence)
        except NeedsEvidence as exc:
            return PageContent(rule, why=f"{rule.method} cannot judge this page yet: {exc}.")
        except Exception as exc:  # any method, on any page: the rest of the page's view is still worth showing
            logger.warning("%s: content was not judged: %s", capture.url, exc)
            return PageContent(rule, why=f"Content could not be judged: {type(exc).__name__}.")

    def _judged(self, capture: Capture, rule: EffectiveRule, evidence: Any) -> PageContent:
        method = extractor(rule.method)
        page = page_of(capture.url, capture.body, capture.header("content-type"))
        given = method.prepare(()) if evidence is None else evidence
        extraction = ruled(method.extract(page, given), read_parts(rule.keep), read_parts(rule.drop))
        view = view_of(extraction, full_url=capture.url, min_confidence=self._min_confidence)
        reason = view.reason
        if not view.full and not rule.keep and is_login(capture.body, view):
            reason = LOGIN_REASON
        return PageContent(
            rule,
            extraction.verdicts,
            tuple(
                ("yes" if flag else "no") if text else ""
                for flag, text in zip(extraction.flags, page.texts, strict=True)
            ),
            "" if reason else view.body.decode("utf-8", "replace"),
            view.confidence,
            view.page_type,
            getattr(extraction, "n_others", 0),
            reason,
        )
