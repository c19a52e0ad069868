"""Run `pagemason batch` on a Ray cluster of two nodes of this machine, and kill one of its workers at work:

    python -m bench.cluster OUT batch report PATH... [--parts N]

The kill comes when N parts (default: 1) have been written. The exit code is the command's, or 3 when no worker was
there to be killed. Ray's processes end with this one.
"""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from apps.cli import invoke

WAIT_SECONDS = 600.0
NONE_KILLED = 3


def kill_one(folder: Path, n_parts: int, killed: list[int]) -> None:
    """Wait until some parts are written, and kill a worker that is at work then."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline and len(list(folder.glob("*/*.parquet"))) < n_parts:
        time.sleep(0.01)
    while time.monotonic() < deadline and not killed:
        for process in psutil.Process().children(recursive=True):
            try:
                if process.name().startswith("ray::measured"):
                    process.kill()
                    killed.append(process.pid)
                    return
            except psutil.Error:
                continue
        time.sleep(0.005)


def main() -> int:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    out, *arguments = sys.argv[1:]
    n_parts = 1
    if "--parts" in arguments:
        at = arguments.index("--parts")
        n_parts = int(arguments[at + 1])
        del arguments[at : at + 2]
    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    killed: list[int] = []
    killer = threading.Thread(target=kill_one, args=(Path(out) / ".parts", n_parts, killed), daemon=True)
    killer.start()
    try:
        code = invoke([*arguments, "--out", out, "--ray", cluster.address])
    finally:
        cluster.shutdown()
    return code if killed else NONE_KILLED


if __name__ == "__main__":
    sys.exit(main())
