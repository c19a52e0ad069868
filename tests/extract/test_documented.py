"""Each method has a page that says where it is from and names its parameters."""

import importlib
import inspect
from pathlib import Path

import pytest

from extract.registry import METHODS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {path.read_text("utf-8").split("\n")[0].removeprefix("# "): path for path in DOCS.glob("methods/*.md")}


@pytest.mark.parametrize("name", [name for name in METHODS if name != "Pagemason"])
def test_a_page_a_method(name: str) -> None:
    page = PAGES[name].read_text("utf-8")
    module, _, attribute = METHODS[name].where.partition(":")
    parameters = inspect.signature(getattr(importlib.import_module(module), attribute)).parameters
    assert [parameter for parameter in parameters if f"`{parameter}`" not in page] == []
    assert f"{module.replace('.', '/')}.py" in page
    assert "Source: " in page


def test_the_comparison_names_every_method() -> None:
    page = (DOCS / "methods" / "README.md").read_text("utf-8")
    assert [name for name in METHODS if f"[{name}]" not in page] == []
