"""The other edges: command line, dashboard, WARC files, batch jobs. Each parses, calls, shows."""

import blocks  # noqa: F401 - before numpy
