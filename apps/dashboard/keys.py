"""Who may change something: a token made on first run, sessions signed with it, and a form's own token."""

import hmac
import os
import secrets
import time
from hashlib import blake2b
from pathlib import Path

TOKEN_FILE = "dashboard-token"
TOKEN_BYTES = 32
SESSION_SECONDS = 12 * 3600


def token_of(directory: Path) -> str:
    """Return the token kept in a directory, readable by its owner only; makes both when they are not there."""
    path = directory / TOKEN_FILE
    directory.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        token = path.read_text("ascii", "replace").strip()
        if len(token) >= TOKEN_BYTES:
            path.chmod(0o600)
            return token
        path.unlink()
        return token_of(directory)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with os.fdopen(descriptor, "w") as file:
        file.write(token + "\n")
    return token


class Keys:
    """Sessions and form tokens that only a holder of the token can have made. Nothing is kept on the server."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._secret = blake2b(token.encode(), digest_size=32, person=b"pagemason").digest()

    def is_token(self, given: str) -> bool:
        """Tell whether this is the token."""
        return hmac.compare_digest(given.strip().encode("utf-8", "replace"), self._token.encode())

    def new_session(self, now: float | None = None) -> str:
        """Return the value of a session's cookie; it ends by itself after SESSION_SECONDS."""
        ends = int(time.time() if now is None else now) + SESSION_SECONDS
        content = f"{ends}.{secrets.token_urlsafe(16)}"
        return f"{content}.{self._sign('session', content)}"

    def is_session(self, cookie: str, now: float | None = None) -> bool:
        """Tell whether a cookie is that of a session which has not ended."""
        content, _, signature = cookie.rpartition(".")
        ends = content.partition(".")[0]
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._sign("session", content).encode()):
            return False
        return ends.isascii() and ends.isdigit() and int(ends) > (time.time() if now is None else now)

    def form_token(self, session: str) -> str:
        """Return what the forms of a session carry, so that no other site's form counts."""
        return self._sign("form", session)

    def is_form_token(self, given: str, session: str) -> bool:
        """Tell whether a form came from a page of this session."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.form_token(session).encode())

    def _sign(self, purpose: str, content: str) -> str:
        message = f"{purpose}\0{content}".encode("utf-8", "replace")
        return blake2b(message, key=self._secret, digest_size=24).hexdigest()
