"""HTTP caching (RFC 9111) as pure functions; the time is an argument."""
