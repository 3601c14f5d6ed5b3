"""A user's file in the place of one that Drivelab made is never changed and never removed.

A measurement is killed while it fills, reads or writes its file, or keeps it; then the user's data
comes there, in every way that leaves the name; then Drivelab is asked again.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drivelab.drives.real.side_file import generation_of, read_side

pytestmark = pytest.mark.faults
MIB = 2**20
SIZE = 32 * MIB
DRIVELAB = "import sys; from drivelab.cli.main import main; sys.exit(main())"
WRITES = ["--write-ratio", "0.7", "--write-random", "1", "--queue-depth", "4"]
STATES = ["filling", "ready", "writing", "kept"]
WAYS = ["cp", "dd in place", "mv"]


def command(path: Path, *words: str) -> list[str]:
    return [sys.executable, "-c", DRIVELAB, "measure", str(path), *words]


def measured(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(path, "--seconds", "0.1", *words), capture_output=True, text=True, check=False
    )


def in_state(path: Path, state: str) -> None:
    """Let a measurement be killed in this state of its file, or keep it."""
    size = f"--size={SIZE}"
    if state == "kept":
        done = measured(path, size, "--keep", *WRITES)
        assert done.returncode == 0, done.stderr
        return
    words = [size, "--seconds", "20", *(WRITES if state == "writing" else [])]
    with subprocess.Popen(
        command(path, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 30
        while (side := read_side(path)) is None or side.state != state:
            assert time.monotonic() < deadline, f"never {state}"
            assert process.poll() is None, "ended too early"
        if state == "writing":
            time.sleep(1)
        process.send_signal(signal.SIGKILL)
    assert path.exists()


def put(data: Path, path: Path, way: str) -> None:
    """Bring somebody's data to the file's name."""
    if way == "dd in place":
        with path.open("r+b") as file:
            file.seek(SIZE // 2 + 512)
            file.write(data.read_bytes()[:4096])
    elif way == "mv":
        shutil.copy(data, data.with_name("copy"))
        data.with_name("copy").replace(path)
    else:
        shutil.copyfile(data, path)  # truncates and writes: the inode stays


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("state", STATES)
def test_the_users_data_stays(loop_file_system: Path, state: str, way: str) -> None:
    data, path = loop_file_system / "precious.img", loop_file_system / "bench.bin"
    data.write_bytes(os.urandom(SIZE))
    in_state(path, state)
    put(data, path, way)
    before = path.read_bytes()
    for words in ([], WRITES, [f"--size={SIZE}", "--keep"]):
        done = measured(path, *words)
        assert "Traceback" not in done.stderr
        assert path.read_bytes() == before, words
        if words == WRITES:
            assert done.returncode == 2
            assert "is only read" in done.stderr


@pytest.mark.parametrize("state", STATES)
def test_what_a_kill_left_is_used_again_where_it_can_be_recognised(
    loop_file_system: Path, state: str
) -> None:
    path = loop_file_system / "bench.bin"
    in_state(path, state)
    descriptor = os.open(path, os.O_RDONLY)
    has_generation = generation_of(descriptor) is not None
    os.close(descriptor)
    before = path.read_bytes()
    done = measured(path, *WRITES)
    if has_generation:
        assert done.returncode == 0, done.stderr
        assert path.exists() == (state == "kept")
    else:
        assert done.returncode == 2
        assert "does not distinguish a file from a later one with the same inode" in done.stderr
        assert path.read_bytes() == before


def test_a_file_of_one_run_is_removed_on_every_file_system(loop_file_system: Path) -> None:
    path = loop_file_system / "bench.bin"
    done = measured(path, f"--size={SIZE}", *WRITES)
    assert done.returncode == 0, done.stderr
    assert list(loop_file_system.iterdir()) == []
