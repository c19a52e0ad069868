"""Two people share the proxy on a site that mixes public and private pages: neither sees anything of the other's."""

import html
import re
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from store.database import Database
from store.reading import Reader
from tests.end_to_end.program import Program, Reply, ask
from tests.origin import Origin, Page

PEOPLE = ("alice", "bob", "")

PATHS = (
    "/public",
    "/silent",
    "/silent-cookie",
    "/private",
    "/no-store",
    "/no-cache",
    "/set-cookie",
    "/vary-cookie",
    "/vary-star",
    "/claims-public",
    "/style.css",
    "/account/x.css",
    "/authorized",
    "/etag",
    "/redirect",
    "/missing",
)

HEADERS: dict[str, dict[str, str]] = {
    "/public": {"Cache-Control": "public, max-age=3600"},
    "/silent": {},
    "/silent-cookie": {"Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"},
    "/private": {"Cache-Control": "private, max-age=3600"},
    "/no-store": {"Cache-Control": "no-store"},
    "/no-cache": {"Cache-Control": "no-cache"},
    "/set-cookie": {"Cache-Control": "max-age=3600"},
    "/vary-cookie": {"Cache-Control": "max-age=3600", "Vary": "Cookie"},
    "/vary-star": {"Cache-Control": "max-age=3600", "Vary": "*"},
    "/claims-public": {"Cache-Control": "public, max-age=3600"},
    "/style.css": {"Cache-Control": "public, max-age=3600"},
    "/account/x.css": {"Cache-Control": "max-age=3600", "Content-Type": "text/html"},
    "/authorized": {"Cache-Control": "max-age=3600"},
    "/etag": {"Cache-Control": "max-age=0"},
    "/redirect": {"Cache-Control": "max-age=3600"},
    "/missing": {"Cache-Control": "max-age=3600"},
}

FOR_ALL = ("/public", "/style.css")


def marker(person: str) -> str:
    """Return what only this person may see."""
    return f"the-secret-of-{person}"


def answer(origin: Origin, path: str) -> Page:
    """Return a page as a site with logins makes it: with the name of whoever the cookie says asks."""
    sent = origin.seen[-1][2]
    said = sent.get("Cookie", "") + sent.get("Authorization", "")
    found = re.search(r"alice|bob", said)
    person = found[0] if found else ""
    headers = dict(HEADERS[path])
    text = f"<html><p>{path}</p>" + "<p>the same for everyone</p>" * 20
    if person and path not in FOR_ALL:
        text += f"<p>{marker(person)}</p>"
        headers["X-User"] = marker(person)
        if path == "/set-cookie":
            headers["Set-Cookie"] = f"session={marker(person)}"
        if path == "/etag":
            headers["ETag"] = f'"{marker(person)}"'
        if path == "/redirect":
            headers["Location"] = f"/{marker(person)}"
    return Page(text.encode(), headers, {"/redirect": 302, "/missing": 404}.get(path, 200))


def everything_in(reply: Reply) -> bytes:
    """Return the header fields and the body of a reply."""
    return str(reply.headers).encode() + reply.body


def visit(program: Program, origin: Origin, person: str, path: str) -> bytes:
    """Ask for a page as a person; return all that came back."""
    url = origin.url(path)
    connection = program.connect(url)
    try:
        headers: dict[str, Any] = {"Cookie": f"login={person}; password=cookie-of-{person}"} if person else {}
        if person and path == "/authorized":
            headers["Authorization"] = f"Basic {person}-password-of-{person}"
        return everything_in(ask(connection, url, **headers))
    finally:
        connection.close()


def walk(program: Program) -> dict[str, bytes]:
    """Return what the dashboard shows, by path, wherever its links lead, once it shows what is kept."""
    deadline = time.monotonic() + 60
    while program.dashboard("/sites.json").body.strip() == b"[]" and time.monotonic() < deadline:
        time.sleep(0.1)
    walked: dict[str, bytes] = {}
    paths = {"/", "/sites", "/metrics"}
    while paths - walked.keys() and len(walked) < 200:
        path = min(paths - walked.keys())
        walked[path] = everything_in(program.dashboard(path))
        found = (html.unescape(link.decode()) for link in re.findall(rb'href="(/[^"#]*)', walked[path]))
        paths |= {link for link in found if not link.startswith("/login")}
    return walked


@pytest.mark.parametrize("mode", ["cache", "record", "replay", "offline"])
def test_neither_sees_what_is_the_other_s(tmp_path: Path, origin: Origin, mode: str) -> None:
    origin.otherwise = lambda path: answer(origin, path)
    if mode == "offline":
        with Program(tmp_path, "--mode=replay") as before:
            for person in PEOPLE:
                for path in PATHS:
                    visit(before, origin, person, path)
    with Program(tmp_path, f"--mode={mode}") as program:
        for _ in range(2):
            for person in PEOPLE:
                for path in PATHS:
                    seen = visit(program, origin, person, path)
                    for other in PEOPLE[:2]:
                        if other != person:
                            assert marker(other).encode() not in seen, (person, path)
        program.settle()
        for path in ("/", "/metrics"):
            shown = everything_in(program.dashboard(path))
            assert b"the-secret-of" not in shown
            assert b"/private" not in shown
        if mode == "cache":  # in other modes whoever runs the proxy may look at what is private
            walked = walk(program)
            assert any(b"the same for everyone" in shown for shown in walked.values())
            assert not [path for path, shown in walked.items() if b"the-secret-of" in shown]
        assert program.stop() == 0
    kept = everything_kept(tmp_path / "store.db")
    assert b"the same for everyone" in kept
    for secret in (b"cookie-of-", b"password-of-"):
        assert secret not in kept  # what people send is never written down
    if mode == "cache":
        assert b"the-secret-of-" not in kept
    elif mode in ("record", "replay"):
        assert b"the-secret-of-alice" in kept  # marked as private, for whoever runs the proxy


def everything_kept(path: Path) -> bytes:
    """Return a store's file as it is, free pages and WAL included, and every pack in it decoded."""
    parts = [file.read_bytes() for file in path.parent.glob(f"{path.name}*")]
    database = Database(f"sqlite:///{path}", read_only=True)
    with sqlite3.connect(path) as rows:
        packs = rows.execute("select site, id from pack").fetchall()
    rows.close()
    reader = Reader()
    with database.read() as connection:
        for site, pack in packs:
            parts += [reader.raw(connection, site, pack), reader.raw_head(connection, site, pack)]
    database.close()
    return b"\n".join(parts)
