"""The rules know no clock, network, file, database or proxy: whatever they need is an argument."""

import ast
from pathlib import Path

import pytest

import proxy.caching

ALLOWED = {
    *("base64", "binascii", "collections", "dataclasses", "datetime", "enum", "fnmatch", "functools", "re", "typing"),
    *("urllib", "blocks", "proxy"),
}
MODULES = sorted(Path(proxy.caching.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_a_module_of_rules_imports_values_and_rules_only(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "."]
        for name in names:
            assert name.split(".")[0] in ALLOWED
            assert not name.startswith("proxy") or name.startswith("proxy.caching")
            assert not name.startswith("blocks") or name == "blocks.model"
