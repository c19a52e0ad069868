"""A web server on loopback, over http and https, that counts what it is asked."""

import datetime
import ipaddress
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Page:
    """What the origin answers for a path."""

    body: bytes
    headers: dict[str, str] = field(default_factory=lambda: {"Cache-Control": "max-age=3600"})
    status: int = 200
    delay_seconds: float = 0.0


class Origin:
    """Pages by path, and how often each was asked for. `seen` holds the requests' header fields."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.pages: dict[str, Page] = {}
        self.otherwise: Callable[[str], Page] | None = None
        self.asked: Counter[str] = Counter()
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                origin.answer(self)

            do_HEAD = do_POST = do_GET  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._scheme = "http" if tls is None else "https"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def url(self, path: str) -> str:
        """Return the URL of a path."""
        return f"{self._scheme}://127.0.0.1:{self.port}{path}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Count a request and answer it."""
        if (length := int(request.headers.get("Content-Length", 0))) > 0:
            request.rfile.read(length)
        self.asked[request.path] += 1
        self.seen.append((request.command, request.path, dict(request.headers.items())))
        page = self.pages.get(request.path) or (self.otherwise or (lambda _: Page(b"not here", {}, 404)))(request.path)
        if page.delay_seconds:
            threading.Event().wait(page.delay_seconds)
        headers = dict(page.headers)
        status, body = page.status, page.body
        if headers.get("ETag") and headers["ETag"] in request.headers.get("If-None-Match", ""):
            status, body = 304, b""
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        if status != 304:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)

    def close(self) -> None:
        """Switch it off."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away, as a killed proxy does, is no error here."""


def make_authority(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Make a certificate authority; return its certificate's path, and a context for a server on 127.0.0.1."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests of Pagemason")])
    ca = _certificate(ca_name, ca_name, ca_key, ca_key, is_ca=True)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = _certificate(name, ca_name, key, ca_key, is_ca=False)
    pem = serialization.Encoding.PEM
    authority, chain = folder / "origin-ca.pem", folder / "origin.pem"
    authority.write_bytes(ca.public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    chain.write_bytes(private + certificate.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return authority, context


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    is_ca: bool,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
    )
    return builder.sign(signer, hashes.SHA256())


@pytest.fixture
def origin() -> Iterator[Origin]:
    """A web server over http."""
    server = Origin()
    yield server
    server.close()


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[Origin, str]]:
    """A web server over https, and the argument that makes the proxy trust it."""
    authority, context = make_authority(tmp_path)
    server = Origin(context)
    yield server, f"--set=ssl_verify_upstream_trusted_ca={authority}"
    server.close()
