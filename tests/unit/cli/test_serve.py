"""`drivelab serve`: how to connect, what it prints at the end, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from nbd_client import READ, WRITE, NbdClient, RefusedError, when_served

from drivelab.cli import main as cli

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]
# A busy machine is late, and nothing here is about that.
PATIENT = ("--late", "10s")


def serving(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "serve", SMALL, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_what_was_served(tmp_path: Path, number: int) -> None:
    path = tmp_path / "s"
    with serving("--socket", str(path), *PATIENT) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.rstrip().endswith(f"(2 GiB) at nbd+unix:///?socket={path}")
        with NbdClient(path) as client:
            client.ask(WRITE, 0, 4096, bytes(4096))
            client.ask(READ, 0, 4096)
        process.send_signal(number)
        output, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (0, "")
    assert "1 client, 2 requests" in output
    for word in ("read", "write", "lateness"):
        assert f"\n{word} " in output
    assert not path.exists()


def test_json_is_one_object_and_the_port_is_printed(tmp_path: Path) -> None:
    with serving("--port", "0", "--for", "3s", "--json", *PATIENT) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        port = int(first.rstrip().rpartition(":")[2].rstrip("/"))
        with NbdClient(port, structured=True) as client:
            client.ask(READ, 0, 4096)
        output, _ = process.communicate(timeout=60)
    values = json.loads(output)
    assert values["uri"] == f"nbd://127.0.0.1:{port}/"
    assert values["operations"]["read"]["requests"] == 1
    assert values["wall_seconds"] == pytest.approx(3, abs=1.5)
    assert not values["was_late"]


def test_too_late_is_exit_code_3(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with serving("--socket", str(path), "--late", "0") as process:
        with when_served(path) as client:
            client.ask(READ, 0, 4096)
        process.terminate()
        _, error = process.communicate(timeout=60)
    assert process.returncode == cli_late()
    assert "100 % of the replies" in error


def cli_late() -> int:
    from drivelab.cli.serve import EXIT_LATE

    return EXIT_LATE


def test_a_saved_state_is_where_it_starts(tmp_path: Path, capsys) -> None:
    state, path = tmp_path / "a.state", tmp_path / "s"
    words = ["simulate", SMALL, "--write-ratio", "1", "--requests", "2000"]
    assert cli.main([*words, "--save-state", str(state)]) == 0
    serve = ["serve", SMALL, "--socket", str(path), "--from-state", str(state)]
    assert cli.main([*serve, "--for", "100ms"]) == 0
    state.write_bytes(b"something else")
    capsys.readouterr()
    assert cli.main([*serve, "--for", "100ms"]) == 2
    assert "no snapshot" in capsys.readouterr().err
    assert not path.exists()


def refused(capsys, *words: str) -> str:
    assert cli.main(["serve", *words, "--for", "50ms"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line


def test_bad_input_is_refused_and_nothing_is_left(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    busy = socket.create_server(("127.0.0.1", 0))
    listening = socket.socket(socket.AF_UNIX)
    listening.bind("taken")
    listening.listen()
    (tmp_path / "text").write_text("mine")
    (tmp_path / "folder").mkdir()
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(2**32)
    before = sorted(tmp_path.iterdir())
    cases: list[tuple[list[str], str]] = [
        (["--socket", "taken"], "in use by another server"),
        (["--socket", "text"], "exists and is no socket"),
        (["--socket", "x" * 120], "name a shorter one"),
        (["--socket", "missing/s"], "mkdir -p"),
        (["--port", str(busy.getsockname()[1])], "--port 0"),
        (["--port", "80"], "from 1024 on"),
        (["--port", "70000"], "from 0 to 65535"),
        (["--socket", "s", "--port", "5000"], "exclude each other"),
        (["--socket", "s", "--backing", "text"], "--allow-destructive=text"),
        (["--socket", "s", "--backing", "text", "--allow-destructive", "text"], "has 4 bytes"),
        (["--socket", "s", "--backing", "large", "--allow-destructive", "large"], "4294967296"),
        (["--socket", "s", "--backing", "folder"], "is a folder"),
        (["--socket", "s", "--backing", "/dev/null"], "no ordinary file"),
        (["--socket", "s", "--backing", "missing/file"], "mkdir -p"),
        (["--socket", "s", "--backing", "b", "--memory", "1GiB"], "leave out --memory"),
        (["--socket", "s", "--allow-destructive", "b"], "--backing FILE"),
        (["--socket", "s", "--memory", "1k"], "too little"),
        (["--socket", "s", "--memory", "1000TiB"], "--backing FILE"),
        (["--socket", "s", "--cpu", "4000"], "no core 4000"),
        (["--socket", "s", "--dilate", "0.5"], "from 1 to 100000"),
        (["--socket", "s", "--dilate", "nan"], "from 1 to 100000"),
        (["--socket", "s", "--no-delay", "--dilate", "2"], "no effect with --no-delay"),
        (["--socket", "s", "--from-state", "missing.state"], "missing.state"),
        (["--socket", "s", "--block-size", "512"], "add --block"),
        (["--socket", "s", "--block", "--block-size", "1KiB"], "512 or 4KiB"),
        (["--socket", "s", "--power-cut-every", "0s"], "more than 0"),
        (["--socket", "s", "--power-off-for", "1s"], "add --power-cut-every"),
        (["--socket", "s", "--power-cut-loss", "all"], "add --power-cut-every"),
    ]
    for words, said in cases:
        assert said in refused(capsys, SMALL, *words), words
        assert sorted(tmp_path.iterdir()) == before, words
    assert "closed form does not hold" in refused(capsys, "analytic:x25m")
    assert "real drive" in refused(capsys, "./a.bin")
    assert (tmp_path / "text").read_text() == "mine"
    listening.close()
    busy.close()


def test_a_full_disk_is_reported_to_the_client(tmp_path: Path, require_tool) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small file system")
    folder = tmp_path / "small"
    folder.mkdir()
    mount = require_tool("mount")
    small = [str(mount), "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(small, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        path = tmp_path / "s"
        with serving("--socket", str(path), "--backing", str(folder / "data"), *PATIENT) as process:
            with when_served(path) as client:
                with pytest.raises(RefusedError, match="28"):
                    client.ask(WRITE, 0, 4 * 2**20, bytes(4 * 2**20))
                client.ask(READ, 0, 4096)
            process.terminate()
            output, _ = process.communicate(timeout=60)
        assert "no space 1 writes" in output
    finally:
        subprocess.run([str(require_tool("umount")), str(folder)], check=True)


def test_other_programs_use_it(tmp_path: Path, require_tool: Callable[[str], Path]) -> None:
    tools = {
        name: str(require_tool(name)) for name in ("nbdinfo", "nbdcopy", "qemu-img", "qemu-io")
    }
    path = tmp_path / "s"
    uri = f"nbd+unix:///?socket={path}"

    def run(*words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    image, copy = tmp_path / "image", tmp_path / "copy"
    image.write_bytes(os.urandom(3 * 2**20))
    with serving("--socket", str(path), "--no-delay", *PATIENT) as process:
        when_served(path).close()
        shown = run(tools["nbdinfo"], uri)
        for words in ("export-size: 2147483648", "can_multi_conn: true", "can_trim: true"):
            assert words in shown
        run(tools["nbdcopy"], "--flush", str(image), uri)
        writing = ["-c", "write -P 7 8M 1M", "-c", "discard 8M 64k", "-c", "write -z 9M 64k"]
        reading = ["-c", "read -P 0 8M 64k", "-c", "read -P 7 8256k 64k", "-c", "flush"]
        run(tools["qemu-io"], "-f", "raw", *writing, *reading, uri)
        run(tools["qemu-img"], "convert", "-f", "raw", "-O", "raw", uri, str(copy))
        process.terminate()
        process.communicate(timeout=60)
    with copy.open("rb") as file:
        assert file.read(3 * 2**20) == image.read_bytes()


def test_fio_verifies_what_it_wrote(tmp_path: Path, require_tool: Callable[[str], Path]) -> None:
    fio = str(require_tool("fio"))
    if (
        "nbd"
        not in subprocess.run(
            [fio, "--enghelp"], capture_output=True, text=True, check=False
        ).stdout
    ):
        pytest.skip("this fio has no engine for nbd")
    path = tmp_path / "s"
    job = [
        *("--name=x", "--ioengine=nbd", f"--uri=nbd+unix:///?socket={path}", "--rw=randwrite"),
        *("--bsrange=512-64k", "--blocksize_unaligned=0", "--size=32m", "--iodepth=16"),
        *("--verify=crc32c", "--verify_state_save=0", "--io_size=16m", "--randseed=5"),
        "--output-format=json",
    ]
    with serving("--socket", str(path), *PATIENT) as process:
        when_served(path).close()
        done = subprocess.run([fio, *job], capture_output=True, text=True, timeout=300, check=False)
        process.terminate()
        process.communicate(timeout=60)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr)
    # What the engine says of its connection comes first.
    (found,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    assert found["error"] == 0
    assert found["read"]["total_ios"] > 0
