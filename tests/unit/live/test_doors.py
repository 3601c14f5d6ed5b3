"""A signal closes the sockets of watchers at any time, without messages from their threads."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from drivelab.live.doors import Doors


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.mark.parametrize("_", range(20))
def test_a_signal_while_a_door_opens_shuts_it_silently(monkeypatch, _: int) -> None:
    said: list[object] = []
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading, "excepthook", said.append)
    before = threading.active_count()
    doors = Doors(BaseHTTPRequestHandler, 0)
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), doors:
        doors.open(lambda: None)
    assert said == []
    assert threading.active_count() == before


def test_a_door_that_was_shut_before_its_thread_began_hears_nobody(monkeypatch) -> None:
    said: list[object] = []
    monkeypatch.setattr(threading, "excepthook", said.append)
    doors = Doors(BaseHTTPRequestHandler, 0)
    threads = [door.hearing for door in doors._doors]
    doors.close()
    for thread in threads:
        thread.start()
        thread.join(timeout=10)
        assert not thread.is_alive()
    assert said == []
