"""The other edges: command line, dashboard, WARC files, batch jobs. Each parses, calls, shows."""
