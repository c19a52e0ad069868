"""The proxy and its dashboard together, as `pagemason run` starts them."""

from apps.dashboard.serving import serving
from proxy.run import run as run_proxy
from settings import Settings


def run(settings: Settings) -> int:
    """Run the proxy with its dashboard until told to end; return the exit code."""
    return run_proxy(settings, serving)
