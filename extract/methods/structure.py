"""StructureTree: compressed structure tree (Yi, Liu 2003): what is presented in many ways over a site is content.

The pages' trees are merged by presentation style. An element node presented in many styles is important, one that is
the same everywhere is noise: NodeImp(E) = - sum p_i log_m p_i over the styles of its m tag nodes, 1 when m = 1. The
importance of a way from the root is composite; a term of a leaf weighs that importance times what its entropy over
the pages leaves. A block is content when the mean weight of its terms exceeds a threshold.

The paper is known here by the survey (section 2.3) and its formulas; composing the importance along the way as
1 - product(1 - NodeImp) and the threshold are our choices.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from extract.methods.cover import Unit, judge
from extract.methods.styles import Element, SiteStyles, placed, site_styles
from extract.protocol import Extraction, Page
from extract.tree import TEXT

THRESHOLD = 0.3
"""The mean weight of a leaf's terms above which it is content."""


@dataclass(frozen=True, slots=True)
class StructureTree:
    """Leaves whose terms weigh more than `threshold`."""

    name = "StructureTree"
    threshold: float = THRESHOLD

    def prepare(self, pages: Iterable[Page]) -> SiteStyles:
        """Return the pages' merged tree."""
        return site_styles(pages)

    def extract(self, page: Page, evidence: SiteStyles) -> Extraction:
        """Return the verdicts; the score is the mean weight of a block's terms."""
        tree = page.tree
        ways = [0.0] * len(tree)
        units = []
        for name, node, own in placed(page, tree):
            element = evidence.elements.get(name, own)
            above = ways[tree.parents[node]] if node else 0.0
            if tree.names[node] == TEXT:
                weight = above * (1 - element.term_entropy()) if element.n_pages > 1 else 1.0
                units.append(Unit(tree.starts[node], tree.ends[node], weight > self.threshold, weight))
            else:
                ways[node] = 1 - (1 - above) * (1 - _node_importance(element))
        return judge(page, units, lambda share: f"{share:.0%} in leaves of weight above {self.threshold}")


def _node_importance(element: Element) -> float:
    return element.style_entropy() if element.styles else float(element.n_pages < 2)
