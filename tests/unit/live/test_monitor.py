"""What watchers get over HTTP, and that none of them delays the drive."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbd_client import READ, WRITE, NbdClient

from drivelab.drives.naming import open_simulated
from drivelab.errors import UsageError
from drivelab.live.doors import MOST_WATCHERS, sockets
from drivelab.live.monitor import Monitor
from drivelab.live.serving import Serving
from drivelab.live.settings import ServeSettings

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[tuple[Serving, int]]:
    """A served drive, and the port of its monitor."""
    settings = ServeSettings(tmp_path / "s")
    with (
        open_simulated(SMALL) as drive,
        Monitor(0, lambda: b"<p>page") as monitor,
        Serving(drive, settings) as serving,
    ):
        monitor.show(serving)
        assert monitor.url is not None
        yield serving, int(monitor.url.rpartition(":")[2].rstrip("/"))


def asked(
    port: int, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


def second_after(port: int, second: int) -> dict:
    deadline = time.monotonic() + 30
    while True:
        second_state = json.loads(asked(port, "/state")[2])
        if second_state["second"] > second:
            return second_state
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_numbers_are_those_that_serve_prints_at_the_end(
    shown: tuple[Serving, int], tmp_path: Path
) -> None:
    serving, port = shown
    with NbdClient(tmp_path / "s") as client:
        for place in range(30):
            client.ask(WRITE, place * 4096, 4096, bytes(4096))
        for place in range(20):
            client.ask(READ, place * 4096, 4096)
    # Two seconds later, every one of them is reported.
    before = json.loads(asked(port, "/state")[2])["second"]
    second_state = second_after(port, before + 1)
    text = asked(port, "/metrics")[2].decode()
    served = serving.stop()
    for name, requests in (("write", 30), ("read", 20)):
        of = second_state["total"]["operations"][name]
        assert of["requests"] == requests == served.operations[name].requests
        assert of["latency_ns_mean"] == served.operations[name].latency_ns_mean
        assert f'drivelab_latency_seconds_count{{operation="{name}"}} {requests}\n' in text
        assert f'drivelab_request_bytes_total{{operation="{name}"}} {requests * 4096}\n' in text
    assert second_state["total"]["lateness"]["replies"] == 50
    assert (
        second_state["total"]["flash"]["page_reads"]
        + second_state["total"]["flash"]["buffer_hit_pages"]
        >= 20
    )
    assert (second_state["clients"], second_state["connected_clients"]) == (1, 0)
    # All rows together are all requests.
    assert second_state["now"]["requests"] == 0


def test_paths_methods_and_names(shown: tuple[Serving, int]) -> None:
    _, port = shown
    status, headers, body = asked(port, "/")
    assert (status, body, headers["x-frame-options"]) == (200, b"<p>page", "DENY")
    assert asked(port, "/", "HEAD")[2] == b""
    assert asked(port, "/metrics")[1]["content-type"].startswith("text/plain; version=0.0.4")
    rows = json.loads(asked(port, "/history")[2])["rows"]
    assert rows[-1]["second"] >= 1
    assert asked(port, "/state?x=1")[0] == 200
    assert asked(port, "/other")[0] == 404
    for method in ("POST", "PUT", "DELETE"):
        status, headers, _ = asked(port, "/state", method)
        assert (status, headers["allow"]) == (405, "GET, HEAD")
    # A page from elsewhere has led a browser here by its own name.
    assert asked(port, "/state", Host="evil.example")[0] == 403
    assert asked(port, "/state", Host=f"localhost:{port}")[0] == 200


def test_watchers_that_hang_are_bounded_and_disturb_nobody(
    shown: tuple[Serving, int], tmp_path: Path
) -> None:
    serving, port = shown
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(MOST_WATCHERS)]
    time.sleep(0.5)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as refused:
        refused.sendall(b"GET /state HTTP/1.0\r\n\r\n")
        with pytest.raises((ConnectionResetError, AssertionError)):
            assert refused.recv(100)
    with NbdClient(tmp_path / "s") as client:
        client.ask(READ, 0, 4096)
    for each in idle:
        each.close()
    deadline = time.monotonic() + 20
    while True:
        try:
            assert asked(port, "/state")[0] == 200
            break
        except (OSError, http.client.HTTPException):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert serving.stop().operations["read"].requests == 1


def test_the_socket_is_the_users_and_goes_with_the_server(tmp_path: Path) -> None:
    dead = tmp_path / "drivelab-4000000.watch"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(dead))
    with Monitor(None, bytes) as monitor:
        assert monitor.url is None
        (path,) = sockets()
        assert path.stat().st_mode & 0o777 == 0o600
    assert sockets() == []
    assert not dead.exists()


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"--monitor {port} cannot be used: Address already"):
            Monitor(port, bytes)
    assert sockets() == []
