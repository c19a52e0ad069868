"""Every command explains itself; what is wrong is one sentence and an exit code."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from apps.cli import COMMANDS, invoke

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([command, "--help"]) == 0
    assert f"Usage: pagemason {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["frobnicate"], "pagemason: No such command 'frobnicate'.\n"),
        (["ls", "--frob"], "pagemason: No such option '--frob'"),
        (["cat"], "pagemason: Missing argument 'URL'.\n"),
        (["ls", "--store", "pages"], "pagemason: --store: 'pages' is not sqlite:///PATH, "),
        (["run", "--mode", "fast"], "pagemason: --mode: 'fast' is not one of cache, record, replay, offline\n"),
        (["run", "--listen-port", "x"], "pagemason: --listen-port: 'x' is not a whole number from 0 to 65535\n"),
        (["run", "--set", "listn_port=1"], "pagemason: --set: 'listn_port' is no setting; did you mean listen_port?\n"),
        (["run", "--set", "ssl_insecur=1"], "pagemason: --set: 'ssl_insecur' is no setting; did you mean ssl_insecure"),
        (["run", "--set", "mode=replay"], "pagemason: --set: 'mode' is an option of mitmproxy too: write pagemason_mo"),
        (["ls", "--config", "no.yaml"], "pagemason: no.yaml: cannot be read: No such file or directory\n"),
        (["cat", "http://a.test/", "--at", "noon", "--store", "memory:"], "pagemason: Invalid value for '--at': "),
    ],
)
def test_wrong_usage_is_one_sentence_and_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)
    assert err.count("\n") == 1


def test_help_is_quick() -> None:
    """Slow imports wait until a command needs them. CPU seconds: others may be at work on this machine."""

    def seconds() -> float:
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = "from apps.cli import invoke; invoke(['--help'])"
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime

    assert min(seconds() for _ in range(3)) < 0.3


def test_slow_packages_are_not_imported_for_help() -> None:
    code = "import sys; from apps.cli import invoke; invoke(['--help']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"mitmproxy", "sqlalchemy", "numpy", "lxml", "rich", "ruamel", "starlette"}


def test_an_import_loads_only_what_it_needs(home: Path) -> None:
    """Loading alembic or the ORM takes longer than importing a small archive."""
    (home / "a.html").write_bytes(b"<p>one page</p>")
    code = f"import sys; from apps.cli import invoke; invoke(['import', {str(home / 'a.html')!r}]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert "1 captures kept" in done.stdout
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "store.sql" in loaded
    assert not loaded & {"alembic", "sqlalchemy.orm", "mitmproxy", "lxml", "rich", "starlette", "sklearn", "psycopg"}


def test_a_reader_who_goes_away_is_no_error_message(home: Path) -> None:
    (home / "a.html").write_bytes(b"<p>" + bytes(1 << 20))
    code = "from apps.cli import main; main()"
    command = [sys.executable, "-c", code, "run", "--help"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_leads_nowhere(closed: str, tmp_path: Path) -> None:
    """The first file that is opened would take its number, and what is printed would go into it."""
    (tmp_path / "page.html").write_bytes(b"<p>page</p>")
    store = f"sqlite:///{tmp_path}/s.db"
    code = f"import sys; sys.argv[1:] = ['import', '{tmp_path}/page.html', '--store', '{store}']; "
    command = f'{sys.executable} -c "{code}from apps.cli import main; main()" {closed}'
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert invoke(["check", "--store", store]) == 0


def test_an_experiment_without_its_packages_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("experiments.")]:
        if name != "experiments.command":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastwarc", None)
    monkeypatch.setitem(sys.modules, "fastwarc.warc", None)
    assert invoke(["experiment", "paper", "--corpus", "a.warc.gz", "--out", str(tmp_path / "out")]) == 1
    assert "is not installed: pip install 'pagemason[experiments]'\n" in capsys.readouterr().err


ENDED = """
import os, signal, sys
from apps.cli import main
from apps.warc import writing
response = writing._response
def ended(*args):
    os.kill(os.getpid(), signal.SIGTERM)
    return response(*args)
writing._response = ended
sys.argv[1:] = ["export", sys.argv[1], "--store", sys.argv[2]]
main()
"""


def test_what_is_half_written_goes_when_the_program_is_ended(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"<p>page</p>")
    store = f"sqlite:///{tmp_path}/s.db"
    assert invoke(["import", str(tmp_path / "page.html"), "--store", store]) == 0
    before = set(tmp_path.iterdir())
    ended = [sys.executable, "-c", ENDED, str(tmp_path / "all.warc.gz"), store]
    assert subprocess.run(ended, cwd=ROOT, check=False).returncode == 128 + signal.SIGTERM
    assert set(tmp_path.iterdir()) == before
