"""Which pages of a site lie side by side in its packs. Pure.

Pages whose URLs follow each other resemble each other mostly, and a pack is compressed with its base alone: what stands
in two packs and not in the base is kept twice. Mirrors, print versions and pages that moved have copies far apart by
their URLs, and would be kept whole each time.
"""

import numpy as np

from store.packing.layout import Survey

RARE_SHARE, RARE = 0.05, 4
"""A block is rare that stands on no more than this share of the pages, or on so few."""

COPIED_SHARE = 0.5
"""What a page must have of its rare bytes from an earlier page to be put beside it."""


def arranged(site: Survey) -> list[int]:
    """Return the numbers of a site's captures in the order of its packs: as they came, but a page whose rare blocks
    stand for the most part on an earlier one comes right after that."""
    n_captures = len(site.blocks)
    sizes, firsts = np.array(site.sizes, np.int64), np.array(site.firsts, np.int64)
    n_pages = np.zeros(len(sizes), np.int64)
    for blocks in site.blocks:
        n_pages[blocks] += 1
    is_rare = n_pages <= max(RARE, RARE_SHARE * n_captures)
    beside = list(range(n_captures))
    for number, blocks in enumerate(site.blocks):
        rare = blocks[is_rare[blocks]]
        pages, at = np.unique(firsts[rare], return_inverse=True)
        if len(pages):
            shares = np.bincount(at, sizes[rare]) / sizes[rare].sum()
            most = int(shares.argmax())
            if shares[most] >= COPIED_SHARE:
                beside[number] = beside[int(pages[most])]
    return sorted(range(n_captures), key=lambda number: (beside[number], number))
