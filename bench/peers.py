"""Other caches as reverse proxies in front of an origin, each as it comes, with the least that makes it cache."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from bench.ports import free_port, wait_for

Peer = Callable[[Path, str], AbstractContextManager[int]]


@contextmanager
def _running(command: list[str], port: int) -> Iterator[int]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()
            process.wait(60)


@contextmanager
def squid(folder: Path, origin: str) -> Iterator[int]:
    """Run squid as an accelerator; its log has to be the user's that it becomes."""
    port = free_port()
    host, _, origin_port = origin.removeprefix("http://").partition(":")
    folder.chmod(0o777)
    folder.parent.chmod(0o755)
    (folder / "squid.conf").write_text(
        f"http_port 127.0.0.1:{port} accel defaultsite={host} no-vhost\n"
        f"cache_peer {host} parent {origin_port} 0 no-query no-digest originserver default name=o\n"
        f"http_access allow all\npid_filename {folder}/squid.pid\ncache_log {folder}/cache.log\n"
        "access_log none\nshutdown_lifetime 0 seconds\n"
    )
    with _running(["squid", "-N", "-f", str(folder / "squid.conf")], port) as listening:
        yield listening


@contextmanager
def varnishd(folder: Path, origin: str) -> Iterator[int]:
    """Run Varnish without a lifetime or grace of its own, so that the origin's words count."""
    port = free_port()
    host, _, origin_port = origin.removeprefix("http://").partition(":")
    (folder / "v.vcl").write_text(f'vcl 4.1;\nbackend o {{ .host = "{host}"; .port = "{origin_port}"; }}\n')
    command = ["varnishd", "-F", "-n", str(folder / "n"), "-a", f"127.0.0.1:{port}", "-f", str(folder / "v.vcl")]
    numbers = ["-p", "default_ttl=0", "-p", "default_grace=0", "-p", "default_keep=3600"]
    with _running([*command, *numbers, "-s", "malloc,64m", "-T", "none"], port) as listening:
        yield listening


@contextmanager
def nginx(folder: Path, origin: str) -> Iterator[int]:
    """Run nginx with proxy_cache and validation."""
    port = free_port()
    folder.parent.chmod(0o755)
    folder.chmod(0o777)
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nevents {{}}\nhttp {{\n"
        f"  access_log off;\n  proxy_temp_path {folder}/temp;\n  client_body_temp_path {folder}/bodies;\n"
        f"  proxy_cache_path {folder}/cache keys_zone=c:10m;\n  server {{\n    listen 127.0.0.1:{port};\n"
        f"    location / {{\n      proxy_pass {origin};\n      proxy_cache c;\n      proxy_cache_revalidate on;\n"
        "      proxy_http_version 1.1;\n    }\n  }\n}\n"
    )
    with _running(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], port) as listening:
        yield listening


PEERS: dict[str, Peer] = {"squid": squid, "varnishd": varnishd, "nginx": nginx}
