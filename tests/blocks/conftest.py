"""Settings of the property tests: no deadline for one example, since other work may hold the processor."""

from hypothesis import settings

settings.register_profile("blocks", deadline=None)
settings.load_profile("blocks")
