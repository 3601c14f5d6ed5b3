"""Finding a server, and what answers in its place."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from made_watched import about, watched

from drivelab.errors import UsageError
from drivelab.live import watching
from drivelab.live.state import state
from drivelab.live.watching import GoneError, Server, find


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@contextmanager
def answering(body: bytes) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield Server(host="127.0.0.1", port=server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_nothing_to_watch_says_how_to_begin() -> None:
    with pytest.raises(UsageError, match=r"no drive is served .* `drivelab serve sim:x25m`"):
        find(None)
    with pytest.raises(UsageError, match="no drive called 'sim:y' is served"):
        find("sim:y")


def test_several_are_listed_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    second = state(about(), watched())
    other = second | {"drive": "sim:x25m", "uri": "nbd://127.0.0.1:10809/"}
    both = [(Server(port=1), second), (Server(port=2), other)]
    monkeypatch.setattr(watching, "_running", lambda: both)
    with pytest.raises(UsageError, match=r"several .* `drivelab watch /run/odd.sock`"):
        find(None)
    for name in ("sim:x25m", "nbd://127.0.0.1:10809/"):
        assert find(name) == Server(port=2)
    assert find("/run/odd.sock") == Server(port=1)
    with pytest.raises(UsageError, match="no served drive is called 'x25m'; these are served"):
        find("x25m")


@pytest.mark.parametrize("name", ["http://", "https://a/", "http://a/b", "http://a:99999", "http:"])
def test_what_is_no_address_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not an address of a monitor"):
        find(name)


def test_a_drive_reports_its_state() -> None:
    second = state(about(), watched())
    with answering(json.dumps(second).encode()) as server:
        assert server.state() == second
        assert find(str(server)) == server
    with pytest.raises(GoneError, match=r"nobody answers at http://127.0.0.1:"):
        server.state()


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"{}", b'{"drive": 3}', b"[" * 100_000, b" " * (5 * 2**20), b"\xff"],
)
def test_what_is_no_drive_is_said(body: bytes) -> None:
    with answering(body) as server, pytest.raises(GoneError, match="not as a served drive"):
        server.state()
