"""Captures kept as recipes over distinct blocks, in packs, on SQLite or Postgres."""
