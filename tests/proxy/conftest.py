"""An origin, and a folder with the proxy's CA that all tests of a run share: making one takes a second."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.origin import Origin


@pytest.fixture
def origin() -> Iterator[Origin]:
    """A web server over http."""
    server = Origin()
    yield server
    server.close()


@pytest.fixture(scope="session")
def confdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where mitmproxy keeps its CA."""
    return tmp_path_factory.mktemp("conf")
