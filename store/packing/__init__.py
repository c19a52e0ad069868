"""Captures to packs and back: blocks, recipes, columns, bytes. Pure: nothing here knows a database."""
