"""The addon in mitmproxy's own program."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.end_to_end.program import CHECKOUT, Reply, ask, connect
from tests.origin import Origin, Page

MITMDUMP = shutil.which("mitmdump", path=str(Path(sys.executable).parent))


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class Mitmdump:
    """`mitmdump -s proxy/addon.py` with some options of ours."""

    def __init__(self, folder: Path, **options: str) -> None:
        assert MITMDUMP is not None
        self.folder, self.port = folder, free_port()
        chosen = {"confdir": str(folder / "conf"), "pagemason_store": f"sqlite:///{folder}/store.db"}
        chosen |= {f"pagemason_{name}": value for name, value in options.items()}
        sets = [part for name, value in chosen.items() for part in ("--set", f"{name}={value}")]
        command = [MITMDUMP, "-q", "-s", "proxy/addon.py", "--listen-host", "127.0.0.1", "-p", str(self.port), *sets]
        # where the package is not installed, the checkout has to be on the path
        environment = dict(os.environ) | {"PYTHONPATH": str(CHECKOUT)}
        self.process = subprocess.Popen(command, cwd=CHECKOUT, env=environment)
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < deadline
                assert self.process.poll() is None
                time.sleep(0.1)

    def get(self, url: str) -> Reply:
        """Ask for a URL through it."""
        connection = connect(self.port, url, self.folder / "conf")
        try:
            return ask(connection, url)
        finally:
            connection.close()

    def stop(self) -> int:
        """End it; return its exit code."""
        self.process.terminate()
        return self.process.wait(60)


@pytest.mark.skipif(MITMDUMP is None, reason="mitmdump is not installed beside this Python")
def test_mitmdump_with_the_addon_keeps_and_answers(tmp_path: Path, origin: Origin) -> None:
    origin.pages["/"] = Page(b"<p>page</p>", {})
    url = origin.url("/")
    first = Mitmdump(tmp_path, mode="replay")
    try:
        assert first.get(url).body == b"<p>page</p>"
        assert first.get(url).is_hit
    finally:
        assert first.stop() == 0
    origin.close()
    second = Mitmdump(tmp_path, mode="offline")
    try:
        kept = second.get(url)
        assert (kept.body, kept.is_hit) == (b"<p>page</p>", True)
        assert second.get(origin.url("/other")).status == 504
    finally:
        assert second.stop() == 0
    assert origin.asked == {"/": 1}
