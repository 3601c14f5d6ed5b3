"""`drivelab watch`: in a pipe, on a terminal, and when there is nothing to watch."""

from __future__ import annotations

import json
import os
import pty
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbd_client import WRITE, NbdClient

from drivelab.cli import main as cli

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server with a monitor, whose socket is `s`, and where a browser finds it."""
    words = ["serve", SMALL, "--socket", str(tmp_path / "s"), "--monitor", "0", "--late", "10s"]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        url = process.stdout.readline().split()[-1]
        try:
            yield process, url
        finally:
            process.terminate()


def test_a_pipe_gets_lines_and_objects(served, tmp_path: Path, capsys) -> None:
    with NbdClient(tmp_path / "s") as client:
        client.ask(WRITE, 0, 4096, bytes(4096))
    assert cli.main(["watch", "--once"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(SMALL)
    for name in (str(tmp_path / "s"), SMALL, served[1]):
        assert cli.main(["watch", name, "--for", "1500ms", "--json"]) == 0
        answer = [json.loads(each) for each in capsys.readouterr().out.splitlines()]
        assert 1 <= len(answer) <= 3
        assert all(each["drive"] == SMALL for each in answer)
    assert answer[-1]["total"]["operations"]["write"]["requests"] == 1
    assert cli.main(["watch", "--for", "1s"]) == 0
    assert " IOPS, " in capsys.readouterr().out


def test_the_servers_end_is_said(served) -> None:
    process, _ = served
    with subprocess.Popen(
        [*COMMAND, "watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline()
        process.terminate()
        _, error = watching.communicate(timeout=60)
    assert watching.returncode == 0
    assert error == f"drivelab: the server of {SMALL} has ended\n"


def test_a_terminal_is_filled_and_given_back(served) -> None:
    main, side = pty.openpty()
    os.environ.pop("COLUMNS", None)
    with subprocess.Popen([*COMMAND, "watch"], stdin=side, stdout=side, stderr=side) as watching:
        os.close(side)
        seen = b""
        deadline = time.monotonic() + 60
        while b"q ends it" not in seen and time.monotonic() < deadline:
            seen += _read(main)
        os.write(main, b"q")
        while watching.poll() is None and time.monotonic() < deadline:
            seen += _read(main)
        seen += _read(main)
        os.close(main)
    assert watching.returncode == 0
    text = seen.decode()
    assert text.count("\x1b[?1049h") == text.count("\x1b[?1049l") == 1
    assert text.rstrip().endswith("\x1b[?25h\x1b[?1049l")
    assert "write" in text


def _read(descriptor: int) -> bytes:
    ready, _, _ = select.select([descriptor], [], [], 0.1)
    try:
        return os.read(descriptor, 100_000) if ready else b""
    except OSError:
        return b""


def test_mistakes_are_one_line(capsys) -> None:
    for words, said in (
        (["watch"], "no drive is served by this user"),
        (["watch", "sim:x25m"], "no drive called 'sim:x25m' is served"),
        (["watch", "--for", "0"], "--for is 0"),
        (["watch", "--once", "--for", "1s"], "--once and --for exclude each other"),
        (["watch", "http://127.0.0.1:1/"], "nobody answers at http://127.0.0.1:1/: Connection"),
    ):
        assert cli.main(words) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


def test_a_port_in_use_is_refused_before_anything_is_prepared(capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert cli.main(["serve", SMALL, "--monitor", port]) == 2
    assert f"--monitor {port} cannot be used: Address already in use" in capsys.readouterr().err
    assert cli.main(["serve", SMALL, "--monitor", "70000"]) == 2
