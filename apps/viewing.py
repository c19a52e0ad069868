"""The content of a stored page, as the proxy judges it: by the rules about its host, and with what other pages of its
site tell."""

from dataclasses import replace

from blocks.model import Capture
from blocks.site import host_of, site_of
from extract.protocol import Extraction, NeedsEvidence, Verdict, page_of
from extract.registry import extractor
from extract.views.ruling import read_parts, ruled
from extract.views.view import View, render, view_of, write
from proxy.views.rendering import evidence_of, pages_of
from proxy.views.rules import load_rules
from proxy.views.similar import with_similar
from settings import Settings, rules_file
from store.base import Store

_EVERYTHING = Verdict(True, 1.0, "the full page")


def extraction_of(store: Store, capture: Capture, settings: Settings) -> Extraction:
    """Return a verdict for each block of a page. RuleError when the file of rules cannot be understood, NeedsEvidence
    when the method that the rules name wants more pages of the site than there are."""
    rule = load_rules(rules_file(settings)).about(host_of(capture.url))
    method = extractor(rule.method)
    others = [page_of(*row) for row in pages_of(store, site_of(capture.url, settings.site_of))]
    evidence = evidence_of(method, others) if len(others) > 1 else method.prepare(())
    page = page_of(capture.url, capture.body, capture.header("content-type"))
    return ruled(method.extract(page, evidence), read_parts(rule.keep), read_parts(rule.drop))


def content_view(store: Store, capture: Capture, form: str, settings: Settings) -> View:
    """Return a page's content in a format of `extract.views.view.FORMATS`; the full page, with the reason, when the
    confidence is too low. JSON also says which stored pages have the same content blocks."""
    try:
        extraction = extraction_of(store, capture, settings)
    except NeedsEvidence as exc:
        return View(capture.body, capture.header("content-type").decode("latin-1"), 0.0, full=True, reason=str(exc))
    content_type = capture.header("content-type")
    found = view_of(extraction, form, content_type=content_type, min_confidence=settings.min_confidence)
    return replace(found, body=with_similar(found.body, store, capture, settings.site_of)) if form == "json" else found


def full_view(capture: Capture, form: str) -> bytes:
    """Return all of a page in a format of `extract.views.view.FORMATS`; as HTML it is the body as it came."""
    if form == "html":
        return capture.body
    page = page_of(capture.url, capture.body, capture.header("content-type"))
    everything = render(Extraction(page, (_EVERYTHING,) * len(page)), everything=True)
    return write(everything, form).encode("utf-8", "replace")
