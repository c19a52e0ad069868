"""What deploy/ holds, as far as it can be tried without a container engine and without a running systemd."""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from apps.cli import invoke
from settings import load

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"

UNITS = sorted(path.name for path in (DEPLOY / "systemd").iterdir())

KNOWN = {"build", "cap_drop", "command", "depends_on", "environment", "healthcheck", "image", "ports", "read_only"}
KNOWN |= {"restart", "secrets", "security_opt", "shm_size", "stop_grace_period", "tmpfs", "user", "volumes"}
"""The keys of services that the Compose Specification has and deploy/compose.yaml uses."""


def yaml(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text("utf-8"))


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml(DEPLOY / "compose.yaml")
    return found


SERVICES = list(compose()["services"])
OURS = [name for name, service in compose()["services"].items() if service["image"] == "pagemason"]


@pytest.mark.parametrize("name", UNITS)
def test_systemd_accepts_the_unit(name: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here")
    for unit in UNITS:
        text = (DEPLOY / "systemd" / unit).read_text()
        (tmp_path / unit).write_text(text.replace("/opt/pagemason/bin/pagemason", shutil.which("true") or ""))
    instance = name.replace("@.", "@one.")
    if instance != name:
        (tmp_path / instance).symlink_to(tmp_path / name)
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / instance)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
def test_a_unit_runs_a_command_that_there_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = re.findall(
        r"^ExecStart=/opt/pagemason/bin/pagemason (.*)$", (DEPLOY / "systemd" / name).read_text(), re.M
    )
    assert invoke([*line.split(), "--help"]) == 0
    assert "--config" in capsys.readouterr().out


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_uses_what_the_compose_file_declares(name: str) -> None:
    everything = compose()
    service = everything["services"][name]
    assert service.keys() <= KNOWN
    for secret in service.get("secrets", ()):
        assert (secret if isinstance(secret, str) else secret["source"]) in everything["secrets"]
    for volume in service.get("volumes", ()):
        source = volume.split(":")[0]
        assert (DEPLOY / source).exists() if source.startswith(".") else source in everything["volumes"], volume
    needed = service.get("depends_on", {})
    for other in needed:
        assert other in everything["services"]
        if isinstance(needed, dict):
            target = everything["services"][other]
            assert needed[other] == {"condition": "service_healthy"}
            assert "healthcheck" in target or other in OURS
    for port in service.get("ports", ()):
        assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port), "published on this machine only"


@pytest.mark.parametrize("name", OURS)
def test_our_services_are_shut_in(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    service = compose()["services"][name]
    assert service["read_only"] is True
    assert service["user"] == "10001:10001"
    assert service["cap_drop"] == ["ALL"]
    assert (ROOT / "deploy" / service["build"]["context"]).resolve() == ROOT
    assert (ROOT / service["build"]["dockerfile"]).exists()
    assert invoke([*service["command"], "--help"]) == 0
    capsys.readouterr()


def test_each_port_is_published_once() -> None:
    ports = [port.split(":")[1] for service in compose()["services"].values() for port in service.get("ports", ())]
    assert len(ports) == len(set(ports))


def test_the_example_configuration_is_one() -> None:
    settings = load(DEPLOY / "pagemason.example.yaml", environ={})
    assert settings.store.startswith("postgresql+psycopg://pagemason:")
    assert set(OURS) == set(settings.dashboard_hosts)
    assert "proxyauth" in settings.mitmproxy


def test_prometheus_asks_all_proxies_and_knows_the_rules() -> None:
    config = yaml(DEPLOY / "prometheus.yml")
    mounted = {volume.split(":")[1] for volume in compose()["services"]["prometheus"]["volumes"]}
    assert set(config["rule_files"]) <= mounted
    (job,) = config["scrape_configs"]
    targets = {target for static in job["static_configs"] for target in static["targets"]}
    assert targets == {f"{name}:8081" for name in OURS if "run" in compose()["services"][name]["command"]}
    assert f'job="{job["job_name"]}"' in (ROOT / "docs" / "alerts.yml").read_text()


def test_grafana_finds_its_dashboard_and_prometheus() -> None:
    (source,) = yaml(DEPLOY / "grafana" / "datasources" / "prometheus.yaml")["datasources"]
    assert source["url"] == "http://prometheus:9090"
    (provider,) = yaml(DEPLOY / "grafana" / "dashboards" / "pagemason.yaml")["providers"]
    volumes = [volume.split(":") for volume in compose()["services"]["grafana"]["volumes"]]
    (shown,) = [host for host, inside, *_ in volumes if inside.startswith(provider["options"]["path"])]
    assert json.loads((DEPLOY / shown).read_text())["uid"] == "pagemason"


def context() -> list[str]:
    """Return the tracked files that the image's context has, by deploy/Dockerfile.dockerignore."""
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    allowed = [line[1:] for line in lines if line.startswith("!")]
    refused = [line for line in lines if not line.startswith("!")]
    assert refused[0] == "*"
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("no git checkout: what the image is made of is not known")
    return [
        name
        for name in tracked.stdout.split("\n")
        if any(name == path or name.startswith(f"{path}/") for path in allowed)
        and not any(fnmatch.fnmatch(f"/{name}", pattern) for pattern in refused[1:])
    ]


def test_the_image_is_no_root_s_and_has_its_health_looked_at() -> None:
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    steps = [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    last = max(n for n, (word, _) in enumerate(steps) if word == "FROM")
    final = dict(steps[last:])
    assert final["USER"] == "10001:10001"
    assert final["ENTRYPOINT"] == '["pagemason"]'
    assert "/-/healthy" in final["HEALTHCHECK"]
    install = "sh /source/deploy/install.sh /source /opt/pagemason $EXTRAS && /opt/pagemason/bin/pagemason --version"
    assert ["RUN", install] in steps[:last]


def test_the_steps_of_the_image_make_a_command_that_works(tmp_path: Path) -> None:
    """The packages that Pagemason needs are those of this environment: only its own is installed."""
    source, installed = tmp_path / "source", tmp_path / "installed"
    for name in context():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    environment = os.environ | {"PYTHON": sys.executable, "PIP_NO_DEPS": "1"}
    command = ["sh", str(source / "deploy" / "install.sh"), str(source), str(installed)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    if "No matching distribution found for setuptools" in done.stderr:
        pytest.skip("no package index here to take setuptools from")
    assert done.returncode == 0, done.stderr
    packages = [path for path in sys.path if path.endswith("site-packages")]
    environment |= {
        "PYTHONPATH": os.pathsep.join(packages),
        "XDG_DATA_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    for arguments in (["--version"], ["init", "--store", f"sqlite:///{tmp_path}/store.db"]):
        program = [str(installed / "bin" / "pagemason"), *arguments]
        ran = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "store.db").exists()


READ_ONLY = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
READ_ONLY += ['mount --bind "$0" "$0" && mount -o remount,bind,ro / && ! touch /usr/written 2>&- && exec "$@"']


def test_a_system_that_cannot_be_written_to_is_enough(tmp_path: Path) -> None:
    """As in the image: all but one folder is read-only."""
    if subprocess.run([*READ_ONLY, str(tmp_path), "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mounts of its own for a process here: `unshare --mount` is not allowed")
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path), "PAGEMASON_CONFDIR": str(tmp_path / "ca")}
    environment |= {"TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    run = [sys.executable, "-m", "apps.cli", "run", "--listen-port=0", "--dashboard-port=0"]
    with subprocess.Popen(
        [*READ_ONLY, str(tmp_path), *run],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as proxy:
        assert proxy.stdout is not None
        greeting = [proxy.stdout.readline() for _ in range(4)]
        proxy.terminate()
        _, said = proxy.communicate(timeout=60)
    assert greeting[0].startswith("proxy "), said
    assert (proxy.returncode, "Traceback" in said) == (0, False), said
    assert (tmp_path / "pagemason" / "pagemason.db").exists()
