"""Work on many WARC files at once, on local processes or on a Ray cluster: paths are passed, not bodies."""
