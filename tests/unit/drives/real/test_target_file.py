from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drivelab.drives.real.block_devices import SystemRoots
from drivelab.drives.real.target_file import (
    DEFAULT_SIZE_BYTES,
    TargetFile,
    UnfilledFile,
    open_target_file,
)
from drivelab.errors import RunError, UsageError

MIB = 2**20


@pytest.fixture
def roots(tmp_path: Path, told_generations: None) -> SystemRoots:
    """A kernel that says that everything is on a drive, wherever the tests run."""
    proc = tmp_path / "kernel" / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "mountinfo").write_text("1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n")
    return SystemRoots(proc=proc)


def make(path: Path, roots: SystemRoots, **options: object) -> TargetFile:
    return open_target_file(path, size_bytes=2 * MIB, roots=roots, **options)  # type: ignore[arg-type]


def test_a_path_that_does_not_exist_is_made_written_and_removed(
    tmp_path: Path, roots: SystemRoots
) -> None:
    path = tmp_path / "bench.bin"
    with make(path, roots) as target:
        status = path.stat()
        assert target.capacity_bytes == status.st_size == 2 * MIB
        assert status.st_blocks * 512 >= 2 * MIB
        assert status.st_mode & 0o077 == 0
        content = path.read_bytes()
        assert len({content[at : at + 4096] for at in range(0, 2 * MIB, 4096)}) == 512
        assert target.made
        assert target.write_refusal is None
        assert json.loads(Path(f"{path}.drivelab.json").read_text())["state"] == "ready"
    assert [entry.name for entry in tmp_path.iterdir()] == ["kernel"]


def test_what_objects_to_the_size_prevents_the_file(tmp_path: Path, roots: SystemRoots) -> None:
    def object_to(file: UnfilledFile) -> None:
        # Allocated, so that direct reads can be tried, and begun, so that it is known again.
        content = (tmp_path / "bench.bin").read_bytes()
        assert len(content) == file.capacity_bytes == os.fstat(file.descriptor).st_size
        assert any(content[:4096])
        assert not any(content[4096:])
        possible = file.block_bytes in (512, 4096)
        raise UsageError(f"not with {file.capacity_bytes}" if possible else "blocks")

    with pytest.raises(UsageError, match=f"not with {2 * MIB}"):
        make(tmp_path / "bench.bin", roots, before_filling=object_to)
    assert [entry.name for entry in tmp_path.iterdir()] == ["kernel"]


def test_a_kept_file_is_used_again_and_stays_kept(tmp_path: Path, roots: SystemRoots) -> None:
    path = tmp_path / "bench.bin"
    make(path, roots, keep=True).close()
    content = path.read_bytes()
    for _ in range(2):
        with open_target_file(path, roots=roots) as target:
            assert target.made
            assert target.write_refusal is None
            assert target.capacity_bytes == 2 * MIB
    assert path.read_bytes() == content


def test_keeping_can_be_asked_for_later(tmp_path: Path, roots: SystemRoots) -> None:
    path = tmp_path / "bench.bin"
    first = make(path, roots)
    # As a kill does: the pair stays, not marked to be kept.
    assert first.leave() == path
    first.close()
    open_target_file(path, keep=True, roots=roots).close()
    assert path.exists()
    open_target_file(path, roots=roots).close()
    assert path.exists()


def test_what_was_left_behind_is_used_again_and_removed(tmp_path: Path, roots: SystemRoots) -> None:
    path = tmp_path / "bench.bin"
    first = make(path, roots)
    assert first.leave() == path
    first.close()
    with open_target_file(path, roots=roots) as target:
        assert target.write_refusal is None
    assert not path.exists()
    assert not Path(f"{path}.drivelab.json").exists()


def test_who_left_a_file_and_goes_on_removes_it(tmp_path: Path, roots: SystemRoots) -> None:
    path = tmp_path / "bench.bin"
    with make(path, roots) as target:
        assert target.leave() == path
        target.take_up()
        # Stopped once more, it stays once more.
        assert target.leave() == path
        target.take_up()
    assert not path.exists()
    with make(path, roots, keep=True) as kept:
        kept.take_up()
    assert path.exists()


def test_what_stays_anyway_or_is_gone_is_not_left(tmp_path: Path, roots: SystemRoots) -> None:
    with make(tmp_path / "kept.bin", roots, keep=True) as kept:
        assert kept.leave() is None
    with make(tmp_path / "gone.bin", roots) as gone:
        gone.path.unlink()
        assert gone.leave() is None


def test_a_half_written_file_is_filled_again(tmp_path: Path, roots: SystemRoots) -> None:
    path = tmp_path / "bench.bin"
    side = Path(f"{path}.drivelab.json")
    make(path, roots, keep=True).close()
    text = json.loads(side.read_text())
    side.write_text(json.dumps({**text, "state": "filling", "left": None}))
    os.truncate(path, 5120)
    with open_target_file(path, roots=roots) as target:
        assert target.capacity_bytes == path.stat().st_size == 2 * MIB
        assert json.loads(side.read_text())["state"] == "ready"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_nothing_stays_when_filling_fails(
    tmp_path: Path, roots: SystemRoots, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    expected = RunError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        make(tmp_path / "bench.bin", roots, keep=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["kernel"]


def foreign(path: Path, size: int = 2 * MIB) -> bytes:
    content = os.urandom(size)
    path.write_bytes(content)
    return content


def test_an_existing_file_is_only_read(tmp_path: Path, roots: SystemRoots) -> None:
    path = tmp_path / "mine.img"
    content = foreign(path, 2 * MIB + 5000)
    with open_target_file(path, roots=roots) as target:
        assert not target.made
        assert target.capacity_bytes == 2 * MIB + 4096
        assert target.write_refusal is not None
        assert f"--allow-destructive={path}" in target.write_refusal
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.pwrite(target.descriptor, b"x", 0)
    assert path.read_bytes() == content


def test_the_flag_lets_exactly_this_file_be_overwritten(tmp_path: Path, roots: SystemRoots) -> None:
    path = tmp_path / "mine.img"
    foreign(path)
    with open_target_file(path, allow_destructive=str(path), roots=roots) as target:
        assert target.write_refusal is None
        assert os.pwrite(target.descriptor, b"x", 0) == 1
    assert path.exists()
    (tmp_path / "link").symlink_to(path)
    for other in (tmp_path, tmp_path / "other", tmp_path / "link", f"{path}.drivelab.json"):
        with pytest.raises(UsageError, match=f"it must be {path}"):
            open_target_file(path, allow_destructive=str(other), roots=roots)
    with pytest.raises(UsageError, match=f"it must be {path}"):
        open_target_file(tmp_path / "link", allow_destructive=str(tmp_path / "link"), roots=roots)


@pytest.mark.parametrize("how", ["copied", "replaced", "resized", "generation"])
def test_a_side_file_of_another_file_allows_nothing(
    tmp_path: Path, roots: SystemRoots, how: str
) -> None:
    path, side = tmp_path / "bench.bin", tmp_path / "bench.bin.drivelab.json"
    make(path, roots, keep=True).close()
    if how == "copied":
        other = tmp_path / "mine.img"
        foreign(other)
        shutil.copy(side, f"{other}.drivelab.json")
        path = other
    elif how == "replaced":
        foreign(tmp_path / "mine.img")
        (tmp_path / "mine.img").replace(path)
    elif how == "resized":
        os.truncate(path, MIB)
    else:
        # The same inode number, used again for a later file.
        text = json.loads(side.read_text())
        text["file"]["generation"] = (text["file"]["generation"] or 0) ^ 1
        side.write_text(json.dumps(text))
    content = path.read_bytes()
    with open_target_file(path, roots=roots) as target:
        assert not target.made
        assert target.write_refusal is not None
    assert path.read_bytes() == content
    if how == "resized":
        with pytest.raises(UsageError, match="name a path that does not exist or leave --size"):
            make(path, roots)


def test_a_stranger_at_the_side_file_is_left_alone(tmp_path: Path, roots: SystemRoots) -> None:
    side = tmp_path / "bench.bin.drivelab.json"
    side.write_text("[1, 2]")
    with pytest.raises(UsageError, match="is in the way"):
        make(tmp_path / "bench.bin", roots)
    assert side.read_text() == "[1, 2]"
    assert not (tmp_path / "bench.bin").exists()


def test_what_cannot_be_measured_is_refused(tmp_path: Path, roots: SystemRoots) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    foreign(tmp_path / "small", 4096)
    (tmp_path / "empty").touch()
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 4 * MIB)
    refused = {
        tmp_path: "is a folder",
        tmp_path / "fifo": "is a FIFO",
        Path("/dev/null"): "is a character device",
        tmp_path / "dangling": "is a link to",
        tmp_path / "loop": "is a link to|cannot be followed|symbolic link",
        tmp_path / "small": "at least 1 MiB",
        tmp_path / "empty": "is empty, perhaps left by a run that was killed: remove it",
        tmp_path / "sparse": "was never written at byte 0",
        tmp_path / "missing" / "bench.bin": "is not a folder",
        tmp_path / "small" / "bench.bin": "is not a folder",
        Path("/dev/nvme99n1"): "`drivelab drives`",
        Path("/proc/bench.bin"): "`drivelab drives`",
    }
    for path, reason in refused.items():
        with pytest.raises(UsageError, match=reason) as caught:
            open_target_file(path, roots=roots)
        assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="is a folder's name"):
        open_target_file(f"{tmp_path}/nothing/", roots=roots)


def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, roots: SystemRoots, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.img"
    foreign(path)

    really_open = os.open

    def refuse(name: object, flags: int, *rest: int, **options: int) -> int:
        if flags & os.O_DIRECTORY:
            return really_open(name, flags, *rest, **options)  # type: ignore[call-overload,no-any-return]
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)  # root may read whatever the mode says
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        open_target_file(path, roots=roots)
    with pytest.raises(UsageError, match="cannot be made: Permission denied"):
        make(tmp_path / "bench.bin", roots)


@pytest.mark.parametrize("size", [0, 4096, MIB - 4096, MIB + 512, 2 * MIB + 1])
def test_sizes_that_make_no_sense_are_refused(
    tmp_path: Path, roots: SystemRoots, size: int
) -> None:
    with pytest.raises(UsageError, match="--size must be"):
        open_target_file(tmp_path / "bench.bin", size_bytes=size, roots=roots)


def test_size_is_only_for_files_that_are_made(tmp_path: Path, roots: SystemRoots) -> None:
    path = tmp_path / "mine.img"
    foreign(path)
    with pytest.raises(UsageError, match="leave --size out"):
        open_target_file(path, size_bytes=4 * MIB, roots=roots)
    open_target_file(path, size_bytes=2 * MIB, roots=roots).close()


@pytest.mark.parametrize(
    ("free_blocks", "fits"), [(102400 + 512, True), (102400 + 511, False), (100, False)]
)
def test_a_tenth_of_the_file_system_stays_free(
    tmp_path: Path,
    roots: SystemRoots,
    monkeypatch: pytest.MonkeyPatch,
    free_blocks: int,
    fits: bool,
) -> None:
    # 1,024,000 blocks of 4 KiB; a tenth is 102,400 of them, and 2 MiB are 512.
    real = os.statvfs(tmp_path)
    values = list(real)
    values[0], values[1], values[2], values[4] = 4096, 4096, 1024000, free_blocks
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(values))
    path = tmp_path / "bench.bin"
    if fits:
        make(path, roots).close()
    else:
        with pytest.raises(UsageError, match="less than a tenth"):
            make(path, roots)
        assert not path.exists()


def test_the_default_size_is_a_gibibyte(
    tmp_path: Path, roots: SystemRoots, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def note(_: int, __: int, size_bytes: int) -> None:
        asked.append(size_bytes)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", note)
    with pytest.raises(RunError, match="No space left on device"):
        open_target_file(tmp_path / "bench.bin", roots=roots)
    assert asked == [DEFAULT_SIZE_BYTES] == [1024**3]


def test_a_file_in_memory_is_refused(tmp_path: Path, roots: SystemRoots) -> None:
    mountinfo = roots.proc / "self" / "mountinfo"
    mountinfo.write_text(
        mountinfo.read_text() + f"2 1 0:9 / {tmp_path} rw - tmpfs tmpfs rw,size=1k\n"
    )
    with pytest.raises(UsageError, match="is in memory"):
        make(tmp_path / "bench.bin", roots)


def test_a_second_user_is_refused(
    tmp_path: Path, roots: SystemRoots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drivelab.drives.real.measuring_lock._LOCK_SECONDS", 0.1)
    path = tmp_path / "bench.bin"
    with (
        make(path, roots),
        pytest.raises(UsageError, match="is being measured by another process"),
    ):
        open_target_file(path, roots=roots)
    assert not path.exists()


def test_a_file_that_goes_away_is_noticed(tmp_path: Path, roots: SystemRoots) -> None:
    path = tmp_path / "bench.bin"
    with make(path, roots) as target:
        target.check_present()
        os.truncate(path, MIB)
        with pytest.raises(RunError, match="shrank"):
            target.check_present()
        path.unlink()
        with pytest.raises(RunError, match="vanished"):
            target.check_present()
        content = foreign(path)
        with pytest.raises(RunError, match="replaced"):
            target.check_present()
    assert path.read_bytes() == content


SCRIPT = """
import signal, sys, time
from pathlib import Path
from drivelab.cli.main import _on_terminate
from drivelab.drives.real.block_devices import SystemRoots
from drivelab.drives.real.target_file import open_target_file
signal.signal(signal.SIGTERM, _on_terminate)
target = open_target_file(sys.argv[1], size_bytes=2**20, roots=SystemRoots(proc=Path(sys.argv[2])))
print("open", flush=True)
if sys.argv[3] == "error":
    raise RuntimeError("something else")
time.sleep(60)
"""


@pytest.mark.parametrize("end", ["error", "interrupt", "terminate"])
def test_the_file_goes_however_the_process_ends(
    tmp_path: Path, roots: SystemRoots, end: str
) -> None:
    path = tmp_path / "bench.bin"
    command = [sys.executable, "-c", SCRIPT, str(path), str(roots.proc), end]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        if end != "error":
            time.sleep(0.05)
            process.send_signal(signal.SIGINT if end == "interrupt" else signal.SIGTERM)
        assert process.wait(timeout=20) != 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["kernel"]
