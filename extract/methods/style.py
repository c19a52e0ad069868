"""StyleTree: Site Style Tree (Yi, Liu, Li 2003): noise is what has one style and one content over a site.

The pages' trees are merged by style. A leaf's importance is 1 - the mean entropy of its contents' features over its
pages (1 for a single page). That of an inner element node is composite, from the variety of its own styles and the
importance of what is below; and an element node is noise when it *and all below it* are under a threshold. A leaf has
nothing below it: text is noise exactly when its leaf is under the threshold, and the composite importance, which
tells noisy subtrees at a glance, changes no verdict. What no page of the site has shown before is no noise.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from extract.methods.cover import Unit, judge
from extract.methods.styles import Element, SiteStyles, placed, site_styles
from extract.protocol import Extraction, Page
from extract.tree import TEXT

THRESHOLD = 0.4
"""Composite importance below which an element node is noise."""


@dataclass(frozen=True, slots=True)
class StyleTree:
    """Leaves whose composite importance reaches `threshold`."""

    name = "StyleTree"
    threshold: float = THRESHOLD

    def prepare(self, pages: Iterable[Page]) -> SiteStyles:
        """Return the pages' merged tree."""
        return site_styles(pages)

    def extract(self, page: Page, evidence: SiteStyles) -> Extraction:
        """Return the verdicts; the score is the mean importance of a block's leaves."""
        tree = page.tree
        units = []
        for name, node, own in placed(page, tree):
            if tree.names[node] == TEXT:
                importance = leaf_importance(evidence.elements.get(name, own))
                units.append(Unit(tree.starts[node], tree.ends[node], importance >= self.threshold, importance))
        return judge(page, units, lambda share: f"{share:.0%} in elements of importance {self.threshold} or more")


def leaf_importance(element: Element) -> float:
    """Return 1 - the mean entropy of a leaf's features over its pages; 1.0 for a single page."""
    return 1.0 if element.n_pages < 2 else 1 - element.term_entropy()
