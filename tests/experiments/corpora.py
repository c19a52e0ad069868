"""Where the corpora are, for tests that measure on real pages and skip without them."""

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("PAGEMASON_CORPORA") or CHECKOUT.parent / "shared" / "corpora")


def corpus(name: str) -> Path:
    """Return the path of a corpus, or skip the test."""
    path = CORPORA / f"{name}.warc.gz"
    if not path.exists():
        pytest.skip(f"no corpus {path}")
    return path
