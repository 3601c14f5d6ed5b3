"""A board over ssh: a server of the tests' own on this machine, with keys that are thrown away."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ssh_server import Server, serving, wait_until

from drivelab.cli.main import main
from drivelab.errors import RunError, UsageError
from drivelab.firmware.board import BoardSession, look_at
from drivelab.ssh import SshPlace, ssh_error
from drivelab.store import RunStore

SCENARIO = """summary = "anywhere on a small drive"
requests = {requests}

[[stream]]
name = "mixed"
queue_depth = 8
write_ratio = {writes}
read_size_bytes = 16_384
write_size_bytes = 8_192
"""
PROFILE = ("firmware", "profile", "--geometry", "2x2x1x64x64", "--part", "1", "--cores", "2")


@pytest.fixture
def server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, require_tool: Callable[[str], Path]
) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    for name, writes in (("reads", 0.0), ("mixed", 0.4), ("writes", 1.0)):
        Path(f"{name}.toml").write_text(SCENARIO.format(requests=2000, writes=writes))
    with serving(tmp_path / "ssh", require_tool("sshd")) as found:
        yield found


def test_a_board_is_profiled_evaluated_and_left_as_it_was(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("reads.toml", "mixed.toml", "writes.toml")
    words = [*PROFILE, "--out", "run", *server.words]
    assert main([*words, *names, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["workloads"]
    assert [each["records"] for each in found] == [2, 2, 2]
    assert all(each["target_ns_per_request"] > 0 for each in found)
    assert {each["target_ns_per_request_low"] for each in found} == {None}
    assert server.left() == []
    assert main(["firmware", "evaluate", "run", "--models", "linear", "--out", "page"]) == 0
    said = capsys.readouterr().out
    assert "times were measured on " in said
    assert "Measured on a board" in Path("page/report.html").read_text()
    assert main(["firmware", "evaluate", "run", "--models", "static"]) == 1
    assert "a board reports no instructions" in capsys.readouterr().err
    assert main(["firmware", "train", "run", "--out", "model.json"]) == 2
    assert "profile without --board" in capsys.readouterr().err
    # It goes on with the same board, and no other.
    assert main([*words, *names]) == 0
    without = [word for word in words if word not in server.words]
    assert main([*without, *names]) == 2
    assert "the run began with the board " in capsys.readouterr().err


def test_another_board_is_refused(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*PROFILE, "reads.toml", "--out", "run", *server.words]
    assert main(words) == 0
    with RunStore.open(Path("run")) as store:
        board = store.header["plan"]["board"]
    assert board["cores"] == os.sysconf("SC_NPROCESSORS_ONLN")
    # The same machine under another name is another board.
    real, tools = shutil.which("uname"), server.folder / "bin"
    tools.mkdir()
    (tools / "uname").write_text(
        f'#!/bin/sh\n[ "$1" = -n ] && echo elsewhere && exit\nexec {real} "$@"\n'
    )
    (tools / "uname").chmod(0o755)
    capsys.readouterr()
    with ToolsOfBoard(server, tools):
        assert main(words) == 2
    error = capsys.readouterr().err
    assert f"the run began with the board {board['name']}" in error
    assert "this is the board elsewhere" in error


class ToolsOfBoard:
    """Programs of a folder come first on the board, whose shell reads this at once."""

    def __init__(self, server: Server, tools: Path) -> None:
        text = (server.folder / "keys").read_text()
        self._keys = server.folder / "keys"
        self._before = text
        path = f"{tools}:/usr/local/bin:/usr/bin:/bin"
        self._after = f'command="PATH={path}; eval \\"$SSH_ORIGINAL_COMMAND\\"" {text}'

    def __enter__(self) -> None:
        self._keys.write_text(self._after)

    def __exit__(self, *_: object) -> None:
        self._keys.write_text(self._before)


def _tool(server: Server, name: str, text: str) -> Path:
    tools = server.folder / f"bin-{name}"
    tools.mkdir()
    (tools / name).write_text(f"#!/bin/sh\n{text}\n")
    (tools / name).chmod(0o755)
    return tools


def test_what_is_no_board_for_it_is_one_line(server: Server) -> None:
    riscv = _tool(server, "uname", 'if [ "$1" = -m ]; then echo riscv64; else echo box; fi')
    with (
        ToolsOfBoard(server, riscv),
        pytest.raises(UsageError, match="is a riscv64, and the firmware is built for aarch64 and"),
    ):
        look_at(server.place)
    full = _tool(server, "mktemp", "echo 'mktemp: No space left on device' >&2; exit 1")
    with (
        ToolsOfBoard(server, full),
        pytest.raises(RunError, match=r"makes no folder: mktemp: No space left on device"),
    ):
        BoardSession(server.place)
    full = _tool(server, "cat", "echo 'cat: write error: No space left on device' >&2; exit 1")
    with (
        BoardSession(server.place) as session,
        ToolsOfBoard(server, full),
        pytest.raises(RunError, match="failed: cat: write error: No space left"),
    ):
        session.put(server.config, "file")
    assert server.left() == []


def test_keys_are_checked(server: Server) -> None:
    server.knows("other.pub")
    with pytest.raises(UsageError, match=r"another key than ssh knows .*ssh-keygen -R '\[127"):
        look_at(server.place)
    (server.folder / "known").unlink()
    with pytest.raises(UsageError, match=r"ssh does not know 127.* \(ssh-keyscan -p [0-9]+ 127"):
        look_at(server.place)
    # Nothing was taken as known.
    assert not (server.folder / "known").exists()
    server.knows()
    (server.folder / "keys").write_bytes((server.folder / "other.pub").read_bytes())
    with pytest.raises(UsageError, match=r"lets nobody in with the keys of this machine"):
        look_at(server.place)


def test_a_board_that_is_not_there_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        place = SshPlace.parse(f"127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(UsageError, match=r"127.0.0.1 cannot be reached: .*Connection refused"):
            look_at(place)
    for text in ("", "-oProxyCommand=x", "a b", "host:99999", "a@b@c", "host:"):
        with pytest.raises(UsageError, match="names no board: write USER@HOST"):
            SshPlace.parse(text)
    named = SshPlace.parse("pi@[fe80::1%eth0]:2222")
    assert (named.user, named.host, named.port) == ("pi", "fe80::1%eth0", 2222)
    assert "cannot be reached: ssh gave no reason" in str(ssh_error("box", "box", None, ""))


def test_a_program_ends_with_the_session(server: Server) -> None:
    with BoardSession(server.place) as session:
        code, said = session.run(["sh", "-c", "echo one; echo two >&2; exit 3"])
        assert (code, said) == (3, "one\ntwo\n")
    assert server.left() == []
    mark = server.folder / "mark"
    session = BoardSession(server.place)
    assert session._process.stdin is not None
    session._process.stdin.write(f"exec sh -c 'echo $$ >{mark}; exec sleep 600'\n".encode())
    session._process.stdin.flush()
    wait_until(lambda: mark.exists() and mark.read_text().endswith("\n"))
    assert Path(f"/proc/{mark.read_text().strip()}").exists()
    session.close()
    assert server.left() == []
    assert not Path(f"/proc/{mark.read_text().strip()}").exists()


def test_a_lost_connection_leaves_nothing(server: Server) -> None:
    with BoardSession(server.place) as session:
        assert server.left() != []
        session._process.kill()
        with pytest.raises(RunError, match=r"connection to 127.0.0.1 is lost; the board removes"):
            session.run(["true"])
    wait_until(lambda: server.left() == [])


def test_ctrl_c_leaves_nothing_on_the_board(server: Server) -> None:
    slow = _tool(server, "cat", '[ $# = 0 ] || exec /bin/cat "$@"; sleep 60')
    words = [*PROFILE, "reads.toml", "--out", "run", *server.words]
    code = "import sys; from drivelab.cli.main import main; sys.exit(main())"
    with ToolsOfBoard(server, slow):
        started = subprocess.Popen(
            [sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True
        )
        # The folder is there, and the program on its way.
        wait_until(lambda: server.left() != [])
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=60)
    assert started.returncode == 130, said
    wait_until(lambda: server.left() == [])
