"""The same results on a Ray cluster of two nodes, one of whose workers is killed at work.

Ray listens on all interfaces, whatever it is told: it runs in a network of its own, with nothing but loopback.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from apps.cli import invoke
from tests.apps.batch.archives import files_of, write_archives

pytest.importorskip("ray", reason="ray is not installed: pip install 'pagemason[ray]'")

ENCLOSED = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]

ROOT = Path(__file__).resolve().parents[3]


def test_a_cluster_that_loses_a_worker_writes_what_one_process_does(tmp_path: Path) -> None:
    if subprocess.run([*ENCLOSED, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network of its own for Ray here: `unshare --net` is not allowed")
    write_archives(tmp_path / "in", n_files=8, n_pages=40)
    source = str(tmp_path / "in")
    command = [
        *ENCLOSED,
        sys.executable,
        "-m",
        "bench.cluster",
        str(tmp_path / "ray"),
        "batch",
        "report",
        source,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    assert invoke(["batch", "report", source, "--out", str(tmp_path / "one"), "--jobs", "1"]) == 0
    assert files_of(tmp_path / "ray" / "report") == files_of(tmp_path / "one" / "report")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "[::1]:1", "127.0.0.1:99999"])
def test_a_cluster_that_is_not_there_is_a_sentence(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_archives(tmp_path / "in", n_files=1, n_pages=1)
    code = invoke(["batch", "report", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--ray", address])
    assert code == 1
    assert capsys.readouterr().err.startswith(f"pagemason: --ray {address}: no cluster answers there: ")
