"""How many of the public HTTP cache tests pass: http-cache-tests from npm, pinned, against `pagemason run`.

Counted with dependencies honoured: a test whose `depends_on` did not pass does not pass. Ends with TOO_FEW when fewer
pass than FLOORS say, and names every test that does not pass. Needs node and npm, and the network once.

    python -m bench.conformance [--forward] [--peers] [--json]

`--forward` asks through a forward proxy, not a reverse one. `--peers` runs squid, Varnish and nginx as well, each in
its default configuration, where they are installed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers import PEERS
from bench.ports import free_port, wait_for

CHECKOUT = Path(__file__).resolve().parent.parent

VERSION = "0.4.5"

FLOORS = {"required": 149, "optimal": 79}

TOO_FEW = 3
"""The exit code that no other failure has."""

REASONS = {
    "age-parse-dup-0-twoline": "two Age fields count as too old; versions of the suite differ here",
    "headers-store-Set-Cookie": "responses with Set-Cookie are not stored: they are one person's",
    "304-etag-update-response-Set-Cookie": "responses with Set-Cookie are not stored: they are one person's",
    "other-set-cookie": "responses with Set-Cookie are not stored: they are one person's",
    "headers-store-Transfer-Encoding": "mitmproxy refuses a transfer coding it does not know",
    "stale-close-must-revalidate": "our 504 has no field that only the origin can set",
    "stale-close-proxy-revalidate": "our 504 has no field that only the origin can set",
    "stale-close-no-cache": "our 504 has no field that only the origin can set",
    "stale-close-s-maxage=2": "our 504 has no field that only the origin can set",
    "conditional-lm-fresh-no-lm": "without Last-Modified the Date is compared, and it is newer",
    "partial-store-partial-reuse-partial": "parts are not stored",
    "partial-store-partial-reuse-partial-absent": "parts are not stored",
    "partial-store-partial-reuse-partial-byterange": "parts are not stored",
    "partial-store-partial-reuse-partial-suffix": "parts are not stored",
    "partial-store-partial-complete": "parts are not stored",
}
"""Why a test that does not pass does not."""

_LIST = """
import suites from './tests/index.mjs'
const tests = suites.flatMap(suite => suite.tests)
console.log(JSON.stringify(tests.filter(t => !t.browser_only).map(
  t => ({ id: t.id, kind: t.kind ?? 'required', needs: t.depends_on ?? [] }))))
"""

# The suite's server binds every address; ours stay on loopback.
_BIND = """
import net from 'node:net'
const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (port, ...rest) { return listen.call(this, port, '127.0.0.1', ...rest) }
"""

# The suite's client knows nothing of forward proxies.
_FORWARD = """
import http from 'node:http'
const proxy = new URL(process.env.FORWARD_PROXY), direct = http.request
http.request = (o, done) => {
  const authority = `${o.hostname}:${o.port || 80}`
  const headers = { ...o.headers, Host: authority }
  const there = { host: proxy.hostname, hostname: proxy.hostname, port: proxy.port }
  return direct({ ...o, ...there, path: `http://${authority}${o.path}`, headers }, done)
}
"""


@dataclass(frozen=True)
class Score:
    """Tests passed and run by kind, and what did not pass, by id."""

    passed: Mapping[str, int]
    n: Mapping[str, int]
    failed: Mapping[str, str]

    def __str__(self) -> str:
        return ", ".join(f"{kind} {self.passed[kind]}/{self.n[kind]}" for kind in ("required", "optimal", "check"))


def score(tests: list[dict[str, Any]], results: Mapping[str, Any]) -> Score:
    """Count what passed. A test passes when its result is true and all that it depends on has passed."""
    needs = {test["id"]: test["needs"] for test in tests}
    known: dict[str, bool] = {}

    def passes(name: str) -> bool:
        if name not in known:
            known[name] = False  # a circle does not pass
            known[name] = results.get(name) is True and all(passes(other) for other in needs.get(name, ()))
        return known[name]

    kinds = ("required", "optimal", "check")
    passed = {kind: sum(passes(test["id"]) for test in tests if test["kind"] == kind) for kind in kinds}
    n = {kind: sum(test["kind"] == kind for test in tests) for kind in kinds}
    failed = {}
    for test in tests:
        if test["kind"] != "check" and not passes(test["id"]):
            result = results.get(test["id"])
            failed[test["id"]] = str(result[1]) if isinstance(result, list) else "depends on another"
    return Score(passed, n, failed)


def suite_folder() -> Path:
    """Return where the suite is installed, installing it when it is not."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pagemason" / f"cache-tests-{VERSION}"
    folder = cache / "node_modules" / "http-cache-tests"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", f"http-cache-tests@{VERSION}"]
        subprocess.run(command, cwd=cache, check=True)
    return folder


class Suite:
    """The installed suite: its test list, its server, its client."""

    def __init__(self, scripts: Path) -> None:
        self._folder = suite_folder()
        self._scripts = scripts
        for name, text in (("bind", _BIND), ("forward", _FORWARD)):
            (scripts / f"{name}.mjs").write_text(text)
        listed = subprocess.run(
            ["node", "--input-type=module", "-e", _LIST], cwd=self._folder, capture_output=True, text=True, check=True
        )
        self.tests: list[dict[str, Any]] = json.loads(listed.stdout)

    @contextmanager
    def server(self) -> Iterator[int]:
        """Run the suite's origin; yield its port."""
        port = free_port()
        settings = {"protocol": "http", "port": str(port), "pidfile": str(self._scripts / "server.pid")}
        command = ["node", "--import", str(self._scripts / "bind.mjs"), "server/server.mjs"]
        with subprocess.Popen(
            command, cwd=self._folder, env=_npm(settings), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                wait_for(port)
                yield port
            finally:
                process.kill()

    def ask(self, base: str, forward: str = "") -> Score:
        """Run the client against a base URL, through a forward proxy if given."""
        command = ["node", "--no-warnings"]
        if forward:
            command += ["--import", str(self._scripts / "forward.mjs")]
        # both variables for one test have to be there, and empty
        environment = _npm({"base": base, "id": ""}) | {"npm_package_config_id": "", "FORWARD_PROXY": forward}
        ended = subprocess.run(
            [*command, "cli.mjs"], cwd=self._folder, env=environment, capture_output=True, text=True, check=True
        )
        return score(self.tests, json.loads(ended.stdout))


def _npm(settings: Mapping[str, str]) -> dict[str, str]:
    return dict(os.environ) | {f"npm_config_{name}": value for name, value in settings.items()}


@contextmanager
def pagemason(folder: Path, mode: str) -> Iterator[int]:
    """Run ours; yield its port."""
    port = free_port()
    flags = {
        "store": f"sqlite:///{folder / 'store.db'}",
        "confdir": folder / "conf",
        "listen-port": port,
        "dashboard-port": 0,
        "proxy-mode": mode,
        "set": "targeted_cache_control=CDN-Cache-Control",
    }
    command = [sys.executable, "-m", "apps.cli", "run", *(f"--{name}={value}" for name, value in flags.items())]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()
            process.wait(60)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forward", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if shutil.which("node") is None or shutil.which("npm") is None:
        sys.exit("bench.conformance needs node and npm")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        suite = Suite(folder)
        origin = f"http://127.0.0.1:{stack.enter_context(suite.server())}"
        port = stack.enter_context(pagemason(folder, "regular" if chosen.forward else f"reverse:{origin}"))
        proxy = f"http://127.0.0.1:{port}"
        scores = {"pagemason": suite.ask(origin, proxy) if chosen.forward else suite.ask(proxy)}
        if chosen.peers:
            scores["no cache"] = suite.ask(origin)
            for name, peer in PEERS.items():
                if shutil.which(name) is None:
                    print(f"{name} is not installed", file=sys.stderr)
                    continue
                (folder / name).mkdir()
                with peer(folder / name, origin) as peer_port:
                    scores[name] = suite.ask(f"http://127.0.0.1:{peer_port}")
    ours = scores["pagemason"]
    if chosen.json:
        print(json.dumps({name: {"passed": one.passed, "of": one.n} for name, one in scores.items()}))
    else:
        for name, one in scores.items():
            print(f"{name:10} {one}")
        for name, message in ours.failed.items():
            print(f"  {name}: {REASONS.get(name, message)}")
    return 0 if all(ours.passed[kind] >= floor for kind, floor in FLOORS.items()) else TOO_FEW


if __name__ == "__main__":
    sys.exit(main())
