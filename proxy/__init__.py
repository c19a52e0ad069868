"""The mitmproxy edge: hooks, the writer process, the memory of hot pages."""
