"""A home of our own and a small store to look at."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.cli import invoke
from tests.apps.warc.samples import packed, record


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Start without the configuration and the store of whoever runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("PAGEMASON_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


Invoke = Callable[..., tuple[int, str, str]]


@pytest.fixture
def pm(capfdbinary: pytest.CaptureFixture[bytes]) -> Invoke:
    """Run a command; return its exit code and what it wrote."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = invoke([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode("utf-8", "surrogateescape"), err.decode()

    return call


@pytest.fixture
def ask(pm: Invoke) -> Callable[..., Any]:
    """Run a command that works with --json and return what it printed."""

    def call(*arguments: object) -> Any:
        code, out, err = pm(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return call


def html(text: str, item: str) -> bytes:
    """Return a response whose page has a menu that all have, and a paragraph of its own."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A: 1\r\nX-A: 2\r\n\r\n"
    return head + f"<html><div>menu of all pages</div><p>{text}<p>{item}</html>".encode()


FOUR = packed(
    record(html("home", "old"), url="http://a.test/", record_id="<1>", date="2024-05-01T00:00:00Z"),
    record(html("home", "new"), url="http://a.test/", record_id="<2>", date="2024-05-03T00:00:00Z"),
    record(html("about", "us"), url="http://www.a.test/about?x=1", record_id="<3>", date="2024-05-02T00:00:00Z"),
    record(html("other", "x"), url="http://b.test/", record_id="<4>", date="2024-05-04T00:00:00.5Z"),
)


@pytest.fixture
def four(home: Path, pm: Invoke) -> Path:
    """A WARC of four captures, imported into the default store."""
    file = home / "four.warc.gz"
    file.write_bytes(FOUR)
    code, out, err = pm("import", file)
    assert (code, err) == (0, "")
    assert out.startswith("4 acknowledged\n4 captures kept, 0 skipped, ")
    return file
