"""The rooms look one way: blocks <- extract, store <- proxy <- apps <- experiments; the pure ones touch no world."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

MAY_IMPORT = {
    "blocks": set[str](),
    "extract": {"blocks"},
    "store": {"blocks", "migrations"},
    "migrations": {"blocks", "store"},
    "proxy": {"blocks", "extract", "store", "settings"},
    "apps": {"blocks", "extract", "store", "migrations", "proxy", "settings"},
    "experiments": {"blocks", "extract", "store", "migrations", "proxy", "apps", "settings"},
}
ROOMS = {*MAY_IMPORT, "settings", "bench", "tests"}

PURE = ("blocks/**/*.py", "extract/**/*.py", "proxy/caching/**/*.py", "store/packing/**/*.py")
WORLD = {
    "mitmproxy",
    "sqlalchemy",
    "alembic",
    "psycopg",
    "sqlite3",
    "socket",
    "asyncio",
    "time",
    "requests",
    "settings",
}
OPENING = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def imports(path: Path) -> Iterator[str]:
    """Yield the top-level names of everything a module imports, also within functions."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: absolute imports only: mitmdump -s puts proxy/ itself on the path"
            yield (node.module or "").split(".")[0]


def calls(path: Path) -> Iterator[str]:
    """Yield the names of the functions and methods a module calls."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "id", getattr(node.func, "attr", ""))


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_lies_before_it(room: str) -> None:
    forbidden = ROOMS - MAY_IMPORT[room] - {room}
    seen = list((ROOT / room).rglob("*.py"))
    assert seen
    for path in seen:
        assert not set(imports(path)) & forbidden, path


def test_blas_is_told_to_be_one_thread_before_numpy_is_loaded() -> None:
    """`blocks` tells it, so whatever package has a module with numpy imports that first."""
    for package in ROOMS - {"blocks", "tests"}:
        if any("numpy" in imports(path) for path in (ROOT / package).rglob("*.py")):
            assert "blocks" in set(imports(ROOT / package / "__init__.py")), package
    code = "import os, apps.cli; print(os.environ['OPENBLAS_NUM_THREADS'])"
    for given, expected in ((None, "1"), ("3", "3")):
        environ = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        environ |= {"OPENBLAS_NUM_THREADS": given} if given else {}
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environ, capture_output=True, check=True)
        assert done.stdout.decode().strip() == expected


@pytest.mark.parametrize("pattern", PURE)
def test_what_is_pure_touches_no_file_clock_network_or_database(pattern: str) -> None:
    for path in ROOT.glob(pattern):
        assert not set(imports(path)) & WORLD, path
        assert not set(calls(path)) & OPENING, path


def test_no_module_hides_one_of_the_standard_library() -> None:
    for room in MAY_IMPORT:
        for path in (ROOT / room).rglob("*.py"):
            top = path.relative_to(ROOT / room).parts
            if len(top) == 1 and room == "proxy":
                assert path.stem not in sys.stdlib_module_names, path
