"""Origins on loopback."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.origin import Origin, make_authority


@pytest.fixture
def origin() -> Iterator[Origin]:
    """A web server over http."""
    server = Origin()
    yield server
    server.close()


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[Origin, str]]:
    """A web server over https, and the argument that makes the proxy trust it."""
    authority, context = make_authority(tmp_path)
    server = Origin(context)
    yield server, f"--set=ssl_verify_upstream_trusted_ca={authority}"
    server.close()
