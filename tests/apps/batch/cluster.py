"""Run `pagemason batch` on a Ray cluster of two nodes of this machine, and kill one of its workers at work:

    python -m tests.apps.batch.cluster OUT COMMAND...

Prints how many workers were killed. Ray's processes end with this one.
"""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from apps.cli import invoke


def kill_one(folder: Path, killed: list[int]) -> None:
    """Wait until the first part is written, and kill a worker that is at work then."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not list(folder.glob("*/*.parquet")):
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
    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    killed: list[int] = []
    killer = threading.Thread(target=kill_one, args=(Path(out) / ".parts", killed), daemon=True)
    killer.start()
    try:
        code = invoke([*arguments, "--out", out, "--ray", cluster.address])
    finally:
        cluster.shutdown()
    print(f"killed {len(killed)}")
    return code


if __name__ == "__main__":
    sys.exit(main())
