"""Which version this is."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> str:
    """Return the installed version; of a checkout that is not installed, `unknown`."""
    try:
        return installed("pagemason")
    except PackageNotFoundError:
        return "unknown"
