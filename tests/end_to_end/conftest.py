"""Origins on loopback."""

from tests.origin import origin, secure

__all__ = ["origin", "secure"]
