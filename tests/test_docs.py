"""What is written down is what is there."""

import doctest
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from apps.cli import COMMANDS
from apps.cli.documents import DOCUMENTS
from settings import Settings, load

ROOT = Path(__file__).resolve().parent.parent

ROOMS = ("apps", "bench", "blocks", "experiments", "extract", "proxy", "settings", "store")

EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for room in ROOMS
    for path in (ROOT / room).rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)

TEXTS = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_follows_from_the_code_is_up_to_date(name: str) -> None:
    """Run `python -m apps.cli.documents` to write them again."""
    assert (ROOT / name).read_text("utf-8") == DOCUMENTS[name]()


def test_the_configuration_file_says_the_defaults() -> None:
    assert load(ROOT / "config.yaml", environ={}) == Settings()


def test_the_readme_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in COMMANDS:
        assert re.search(rf"pagemason {name}\b", readme), name


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_give_what_they_say(name: str) -> None:
    found = doctest.testmod(import_module(name.removesuffix(".__init__")))
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text("utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (path.parent / target).exists(), target


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    locked = {line.split("==")[0] for line in lines if not line.startswith("#")}
    for line in wanted:
        name = re.match(r"[\w.-]+", line)
        assert name is not None
        assert name[0].lower().replace("_", "-") in locked, line
    assert not [line for line in lines if "://" in line]


def test_the_makefile_has_the_targets_the_readme_names() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    readme = (ROOT / "README.md").read_text("utf-8")
    assert set(re.findall(r"\bmake ([a-z]+)\b", readme)) <= targets
    assert {"install", "run", "test", "check"} <= targets
