"""What people look at, on a port of its own: the overview, /metrics and the health checks."""
