"""Origins, and a folder with the proxy's CA that all tests of a run share: making one takes a second."""

from pathlib import Path

import pytest

from tests.origin import origin, secure

__all__ = ["confdir", "origin", "secure"]


@pytest.fixture(scope="session")
def confdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where mitmproxy keeps its CA."""
    return tmp_path_factory.mktemp("conf")
