"""What batch work needs beyond the base install, and which code made a result."""

import importlib
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from extract.protocol import MissingExtra

_SOURCES = ("blocks", "extract", "store", "apps/warc", "apps/batch", "proxy/coding.py")
"""Everything a result depends on, below the folder that the packages lie in."""

_NAMED = {"pyarrow": "batch", "fastwarc": "batch", "ray": "ray"}


def needed(*modules: str) -> None:
    """Do nothing when the modules can be imported; MissingExtra, with the command that installs them, when not."""
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as exc:
            extra = _NAMED[name]
            raise MissingExtra(f"{name} is not installed: pip install 'pagemason[{extra}]'") from exc


@cache
def code_version() -> str:
    """Return a digest of the code that makes results, and of the packages whose output it passes on.

    Results of one version are never mixed with another's: a changed line of code is a changed version.
    """
    import numpy
    import pyarrow

    root = Path(__file__).resolve().parents[2]
    digest = blake2b(f"{pyarrow.__version__} {numpy.__version__}".encode(), digest_size=8)
    for name in _SOURCES:
        top = root / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.suffix in (".py", ".npz", ".json"):
                digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def key_of(*parts: Any) -> str:
    """Return a name for what is made of these parts by this code, 32 characters."""
    digest = blake2b(code_version().encode(), digest_size=16)
    for part in parts:
        digest.update(f"\0{part!r}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
