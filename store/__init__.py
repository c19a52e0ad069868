"""Captures kept as recipes over distinct blocks, in packs, on SQLite or Postgres."""

import blocks  # noqa: F401 - before numpy
