"""Pure functions from a page's bytes to blocks, features and similarity: no file, clock, network, database, setting."""
