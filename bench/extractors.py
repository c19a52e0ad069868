"""The extractors that are measured: ours, alone, with the site's evidence or cross-validated, and the peers."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from apps.extracting import Item
from blocks.encoding import decode_as, encoding_of
from blocks.site import site_of

Extract = Callable[[Item], str]


def _source(item: Item) -> str:
    return decode_as(item.body, encoding_of(item.body, item.content_type))


def lxml_parse() -> Extract:
    """The measure: lxml.html parses the page and nothing else."""
    import lxml.html

    def extract(item: Item) -> str:
        with suppress(ValueError, lxml.etree.ParserError):
            lxml.html.fromstring(item.body)
        return ""

    return extract


def trafilatura() -> Extract:
    """Trafilatura with comments, which scores higher here than without."""
    import trafilatura as peer

    return lambda item: peer.extract(_source(item), include_comments=True, include_tables=True) or ""


def readability() -> Extract:
    """readability-lxml, its summary as text."""
    import lxml.html
    from readability import Document

    def extract(item: Item) -> str:
        return str(lxml.html.fromstring(Document(_source(item)).summary()).text_content())

    return extract


def resiliparse() -> Extract:
    """Resiliparse's main content."""
    from resiliparse.extract.html2text import extract_plain_text

    return lambda item: str(extract_plain_text(_source(item), main_content=True, alt_texts=False))


def justext() -> Extract:
    """jusText with the stop words of English."""
    import justext as peer

    stop_words = peer.get_stoplist("English")
    return lambda item: "\n".join(
        paragraph.text for paragraph in peer.justext(_source(item), stop_words) if not paragraph.is_boilerplate
    )


def boilerpy3() -> Extract:
    """BoilerPy3's article extractor."""
    from boilerpy3 import extractors

    peer = extractors.ArticleExtractor(raise_on_failure=False)
    return lambda item: str(peer.get_content(_source(item)))


PEERS: dict[str, Callable[[], Extract]] = {
    "trafilatura": trafilatura,
    "readability": readability,
    "resiliparse": resiliparse,
    "justext": justext,
    "boilerpy3": boilerpy3,
}


def alone() -> Extract:
    """Our method, each page by itself."""
    from extract.default.pagemason import Pagemason
    from extract.default.site import SiteEvidence
    from extract.protocol import page_of

    made, nothing = Pagemason(), SiteEvidence()
    return lambda item: made.extract(page_of(*item[1:]), nothing).text


def with_site(items: Sequence[Item]) -> Callable[[], Extract]:
    """Our method with what the other pages of the site teach; gathering that is not counted."""

    def begin() -> Extract:
        from extract.default.pagemason import Pagemason
        from extract.default.site import SiteEvidence
        from extract.protocol import page_of

        made = Pagemason()
        sites: dict[str, SiteEvidence] = {}
        for item in items:
            site = site_of(item.url)
            sites[site] = sites.get(site, SiteEvidence()).merge(made.learn([page_of(*item[1:])]))
        return lambda item: made.extract(page_of(*item[1:]), sites[site_of(item.url)]).text

    return begin


def cross_validated(items: Sequence[Item], truths: Sequence[dict[str, Any]], folds: int) -> Callable[[], Extract]:
    """Our method with numbers trained on the folds without the page's domain; training is not counted."""

    def begin() -> Extract:
        from extract.default.pagemason import Pagemason
        from extract.default.site import SiteEvidence
        from extract.default.training import example, fit, folds_of
        from extract.protocol import page_of

        examples = []
        for item, truth in zip(items, truths, strict=True):
            page = page_of(*item[1:])
            examples.append(example(page.source, item.url, truth["text"], truth["page_type"]))
        fold_of = folds_of(examples, folds).tolist()
        made = []
        for fold in range(folds):
            print(f"training fold {fold + 1} of {folds}", file=sys.stderr)
            made.append(Pagemason(fit([e for e, at in zip(examples, fold_of, strict=True) if at != fold])))
        by_id = {item.record_id: made[fold] for item, fold in zip(items, fold_of, strict=True)}
        nothing = SiteEvidence()
        return lambda item: by_id[item.record_id].extract(page_of(*item[1:]), nothing).text

    return begin
