"""The proxy and its dashboard together, as `pagemason run` starts them."""

import sys

from apps.dashboard.serving import serving
from proxy.master import option_names
from proxy.run import run as run_proxy
from settings import SettingError, Settings, load


def run(settings: Settings) -> int:
    """Run the proxy with its dashboard until told to end; return the exit code."""
    return run_proxy(settings, serving)


if __name__ == "__main__":
    try:
        sys.exit(run(load(assignments=sys.argv[1:], mitmproxy_options=option_names())))
    except SettingError as exc:
        sys.exit(f"pagemason: {exc}")
