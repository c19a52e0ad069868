"""What is set up before anything is stored: `init`, `doctor`, the version, and ports that are taken."""

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.apps.conftest import Invoke

ROOT = Path(__file__).resolve().parents[3]
Ask = Callable[..., Any]


def test_init_makes_store_and_configuration_once(home: Path, pm: Invoke) -> None:
    code, out, _ = pm("init")
    assert code == 0
    config = home / "config" / "pagemason" / "config.yaml"
    assert out.splitlines()[1] == f"configuration written to {config}"
    config.write_text("mode: replay\n")
    assert pm("init")[1].splitlines()[1] == f"configuration is there: {config}"
    assert config.read_text() == "mode: replay\n"
    assert pm("ls") == (0, "", "")


def test_init_without_a_store_writes_no_configuration(home: Path, four: Path, pm: Invoke) -> None:
    assert pm("init", "--store", f"sqlite:///{four}/store.db")[0] == 1
    assert not (home / "config" / "pagemason" / "config.yaml").exists()


def test_the_version_is_told(pm: Invoke) -> None:
    code, out, _ = pm("--version")
    assert (code, out.split()[:2]) == (0, ["pagemason,", "version"])


def test_doctor_finds_a_broken_store(home: Path, four: Path, pm: Invoke, ask: Ask) -> None:
    found = {row["what"]: row for row in ask("doctor", "--listen-port", "0", "--dashboard-port", "0")}
    assert {row["state"] for row in found.values()} <= {"ok", "warn"}
    assert found["store"]["found"].endswith("4 captures")
    code, out, _ = pm("doctor", "--store", f"sqlite:///{four}")
    assert code == 1
    assert next(line for line in out.splitlines() if line.startswith("fail")).split()[1] == "store"


def test_doctor_names_the_flag_for_a_port_in_use(pm: Invoke) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        out = pm("doctor", "--listen-port", port)[1]
    assert "choose another with --listen-port" in out


def test_a_port_in_use_is_a_sentence_that_names_the_flag(home: Path) -> None:
    code = "from apps.cli import main; main()"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for flag, other in (("--listen-port", "--dashboard-port"), ("--dashboard-port", "--listen-port")):
            command = [sys.executable, "-c", code, "run", flag, port, other, "0", "--confdir", str(home / "ca")]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
            assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
            assert f"cannot listen on 127.0.0.1 port {port}: address already in use" in done.stderr
            assert f"choose another with {flag}\n" in done.stderr
