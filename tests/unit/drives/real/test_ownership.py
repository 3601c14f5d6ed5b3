"""A file is Drivelab's own only if nobody else can have written it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drivelab._core import KeyedContent
from drivelab.cli.main import main
from drivelab.drives.real.block_devices import SystemRoots
from drivelab.drives.real.made_file import Written
from drivelab.drives.real.side_file import generation_of, hidden_name, read_side
from drivelab.drives.real.target_file import TargetFile, open_target_file
from drivelab.errors import RunError, UsageError

MIB = 2**20


@pytest.fixture
def folder(drive_folder: Path, told_generations: None) -> Path:
    folder = drive_folder / "owned"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "bench.bin"


def side_of(path: Path) -> Path:
    return Path(f"{path}.drivelab.json")


def left(path: Path, state: str = "ready") -> Path:
    """Leave a file as a kill in such a state does."""
    with open_target_file(path, size_bytes=2 * MIB) as target:
        target.leave()
    text = json.loads(side_of(path).read_text())
    as_left = None if state == "filling" else text["left"]
    side_of(path).write_text(json.dumps({**text, "state": state, "left": as_left}))
    return path


def looked_at(path: Path) -> tuple[bool, str | None]:
    """Open a file to read it, and close it; say whether it was taken for Drivelab's own."""
    with open_target_file(path) as target:
        return target.made, target.write_refusal


STATES = ("filling", "ready", "writing")


@pytest.mark.parametrize("state", STATES)
def test_what_a_kill_left_is_used_again_and_removed(path: Path, state: str) -> None:
    left(path, state)
    assert looked_at(path) == (True, None)
    assert not path.exists()
    assert not side_of(path).exists()


def copied_over(path: Path, size: int = 2 * MIB) -> bytes:
    """Write somebody's data over a file, in place; give all that the file then holds."""
    with path.open("r+b") as file:
        file.write(os.urandom(size))
    return path.read_bytes()


@pytest.mark.parametrize("size", [2 * MIB, MIB, 512], ids=["all", "half", "a sector"])
@pytest.mark.parametrize("state", STATES)
def test_data_written_over_the_file_in_place_is_kept(
    path: Path, state: str, size: int, capsys: pytest.CaptureFixture[str]
) -> None:
    data = copied_over(left(path, state), size)
    made, refusal = looked_at(path)
    assert not made
    assert refusal is not None
    assert f"--allow-destructive={path} lets it be overwritten" in refusal
    # One line says why, and what of the side file.
    assert capsys.readouterr().err == f"drivelab: {refusal}\n"
    assert "bench.bin.drivelab.json next to it is out of date and may be deleted" in refusal
    assert path.read_bytes() == data


def test_a_kept_file_that_was_written_over_is_only_read(path: Path) -> None:
    open_target_file(path, size_bytes=2 * MIB, keep=True).close()
    data = copied_over(path)
    assert looked_at(path)[0] is False
    with open_target_file(path, allow_destructive=str(path)) as target:
        assert target.write_refusal is None
        assert not target.made
    assert path.read_bytes() == data


@pytest.mark.parametrize("state", STATES)
def test_a_file_whose_inode_proves_nothing_is_never_ours(
    path: Path, state: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left(path, state)
    # As on overlayfs and on network file systems.
    for module in ("side_file", "ownership"):
        monkeypatch.setattr(f"drivelab.drives.real.{module}.generation_of", lambda _: None)
    side = json.loads(side_of(path).read_text())
    side_of(path).write_text(json.dumps({**side, "file": {**side["file"], "generation": None}}))
    data = path.read_bytes()
    assert looked_at(path)[0] is False
    assert "does not distinguish a file from a later one" in capsys.readouterr().err
    assert path.read_bytes() == data
    # A file that was made and is still open needs no proof.
    with open_target_file(path.with_name("other.bin"), size_bytes=MIB) as target:
        target.before_writing(Written("random"))
        assert target.leave() is None
    assert not path.with_name("other.bin").exists()


@pytest.mark.parametrize("how", ["touched", "linked", "moved"])
def test_a_change_of_times_alone_makes_it_the_users(path: Path, how: str) -> None:
    left(path)
    if how == "touched":
        os.utime(path)
    elif how == "linked":
        os.link(path, path.with_name("link"))
    else:
        path.rename(path.with_name("away"))
        path.with_name("away").rename(path)
    assert looked_at(path)[0] is False
    assert path.exists()


def test_zeroes_prove_nothing_after_a_kill(path: Path) -> None:
    left(path, "writing")
    with path.open("r+b") as file:
        file.seek(MIB)
        file.write(bytes(4096))
    assert looked_at(path)[0] is False
    assert path.exists()


def test_a_file_that_was_not_begun_proves_nothing(path: Path) -> None:
    left(path, "filling")
    os.truncate(path, 0)
    os.truncate(path, 2 * MIB)
    with pytest.raises(UsageError, match="was never written at byte 0"):
        open_target_file(path)
    assert path.stat().st_size == 2 * MIB


def overwrite(target: TargetFile, place: int) -> None:
    with target.path.open("r+b") as other:
        other.seek(place)
        other.write(b"precious" * 64)


def test_what_changes_the_file_while_it_is_measured_is_noticed(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_target_file(path, size_bytes=2 * MIB) as target:
        target.before_writing(Written("random"))
        target.after_writing()
        overwrite(target, MIB)
        with pytest.raises(RunError, match="was changed by something else while it was measured"):
            target.before_writing(Written("random"))
    assert "it is not removed" in capsys.readouterr().err
    assert path.read_bytes()[MIB : MIB + 512] == b"precious" * 64


def test_what_comes_while_the_file_is_proved_is_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left(path, "writing")
    really_read = os.pread
    data = b"precious" * 64

    def read(descriptor: int, size: int, place: int) -> bytes:
        content = really_read(descriptor, size, place)
        with path.open("r+b") as other:
            other.write(data)  # where it was read already
        return content

    monkeypatch.setattr(os, "pread", read)
    assert looked_at(path)[0] is False
    assert path.read_bytes()[: len(data)] == data


def test_what_comes_while_the_file_is_filled_is_kept(path: Path) -> None:
    data = b"precious" * 64

    def comes(_: object) -> None:
        with path.open("r+b") as other:
            other.seek(MIB)
            other.write(data)

    with pytest.raises(RunError, match=r"was changed by something else .* it is not filled any"):
        open_target_file(path, size_bytes=2 * MIB, before_filling=comes)
    assert path.read_bytes()[MIB : MIB + len(data)] == data


def test_a_small_file_of_ones_own_in_place_of_a_half_filled_one_is_kept(path: Path) -> None:
    def comes(_: object) -> None:
        path.write_text("my shopping list")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_target_file(path, size_bytes=MIB, before_filling=comes)
    assert path.read_text() == "my shopping list"


def test_what_came_during_a_workload_stops_the_next(path: Path) -> None:
    with open_target_file(path, size_bytes=MIB) as target:
        target.before_writing(Written("random"))
        # While fio writes, a change of times proves nothing.
        with path.open("r+b") as other:
            other.write(os.urandom(MIB))
        target.after_writing()
        with pytest.raises(
            RunError, match="contains data that Drivelab did not write; nothing more is wr"
        ):
            target.before_writing(Written("random"))
    assert path.stat().st_size == MIB


def test_times_of_whole_seconds_prove_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really_stat = os.fstat

    class Coarse:
        """As on ext4 with inodes of 128 bytes."""

        def __init__(self, status: os.stat_result) -> None:
            self._status = status

        def __getattr__(self, name: str) -> Any:
            value = getattr(self._status, name)
            return value // 10**9 * 10**9 if name.endswith("time_ns") else value

    monkeypatch.setattr(os, "fstat", lambda descriptor: Coarse(really_stat(descriptor)))
    open_target_file(path, size_bytes=MIB, keep=True).close()
    side = read_side(path)
    assert side is not None
    assert side.state == "writing", "all of it has to be read"
    copied_over(path, 512)
    assert looked_at(path)[0] is False


def test_an_empty_file_that_a_kill_left_is_used(path: Path) -> None:
    left(path, "filling")
    os.truncate(path, 0)
    with open_target_file(path) as target:
        assert target.made
        assert target.capacity_bytes == 2 * MIB
    assert list(path.parent.iterdir()) == []


def test_a_removal_that_a_kill_cut_short_is_finished(path: Path) -> None:
    left(path)
    side = read_side(path)
    assert side is not None
    away = path.with_name(hidden_name(path.name, side.key, "removed"))
    path.rename(away)
    open_target_file(path, size_bytes=MIB).close()
    assert list(path.parent.iterdir()) == []
    # But not where somebody wrote to it.
    left(path)
    side = read_side(path)
    assert side is not None
    away = path.with_name(hidden_name(path.name, side.key, "removed"))
    path.rename(away)
    copied_over(away, 512)
    open_target_file(path, size_bytes=MIB).close()
    assert away.exists()


def test_the_side_file_is_read_once_the_lock_is_held(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left(path)

    def other_keeps(*_: object) -> None:
        text = json.loads(side_of(path).read_text())
        side_of(path).write_text(json.dumps({**text, "keep": True}))

    monkeypatch.setattr("drivelab.drives.real.target_file.lock_to_measure", other_keeps)
    open_target_file(path).close()
    assert path.exists()


def test_a_file_that_the_last_one_removed_while_it_was_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left(path)
    monkeypatch.setattr(
        "drivelab.drives.real.target_file.lock_to_measure", lambda *_: path.unlink()
    )
    with pytest.raises(UsageError, match="was removed or replaced while another Drivelab"):
        open_target_file(path)


@pytest.mark.parametrize(
    "buffers",
    [[[2**40, 2**40]], [[3, 100]], [[2**22, 4096]], [[1, 512]] * 200, [[0, 512]], [[True, 512]]],
)
def test_a_side_file_asks_for_no_impossible_buffers(path: Path, buffers: list[list[int]]) -> None:
    left(path, "writing")
    text = json.loads(side_of(path).read_text())
    side_of(path).write_text(json.dumps({**text, "buffers": buffers}))
    assert read_side(path) is None
    assert looked_at(path)[0] is False


def test_foreign_data_is_not_removed_even_if_the_time_hides_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_target_file(path, size_bytes=2 * MIB) as target:
        overwrite(target, 0)
        target.after_writing()  # as if Drivelab had done it
    assert "contains data that Drivelab did not write; it is not removed" in capsys.readouterr().err
    assert path.read_bytes()[:512] == b"precious" * 64


def test_a_file_that_takes_the_name_in_the_last_moment_is_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    really_rename = os.rename
    mine = path.with_name("mine.img")
    mine.write_bytes(b"precious")

    def swapped(source: Any, *rest: Any, **options: Any) -> None:
        if source == path.name:
            monkeypatch.setattr(os, "rename", really_rename)
            mine.replace(path)
        really_rename(source, *rest, **options)

    with open_target_file(path, size_bytes=MIB):
        monkeypatch.setattr(os, "rename", swapped)
    assert path.read_bytes() == b"precious"
    assert "was replaced while it was removed" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["symlink", "hard link", "FIFO", "folder"])
def test_nothing_is_written_through_what_lies_at_the_side_file(path: Path, kind: str) -> None:
    precious, side = path.with_name("precious"), side_of(path)
    precious.write_bytes(b"precious")
    if kind == "symlink":
        side.symlink_to(precious)
    elif kind == "hard link":
        os.link(precious, side)
    elif kind == "FIFO":
        os.mkfifo(side)
    else:
        side.mkdir()
    with pytest.raises(UsageError, match="is in the way; move it or choose another path"):
        open_target_file(path, size_bytes=MIB)
    # And where it comes after the check, while the file is made.
    side.rename(path.with_name("away"))

    def comes(_: object) -> None:
        side.unlink()
        path.with_name("away").rename(side)
        raise UsageError("not this one")

    with pytest.raises(UsageError, match="not this one"):
        open_target_file(path, size_bytes=MIB, before_filling=comes)
    assert os.path.lexists(side)
    assert precious.read_bytes() == b"precious"
    assert not path.exists()


def test_drafts_of_the_side_file_have_names_that_nobody_can_take(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, int]] = []
    really_open = os.open

    def note(name: Any, flags: int, *rest: int, **options: int) -> int:
        if flags & os.O_CREAT:
            made.append((str(name), flags))
        return really_open(name, flags, *rest, **options)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(os, "open", note)
    for _ in range(2):
        open_target_file(path, size_bytes=MIB).close()
    assert all(flags & os.O_EXCL and flags & os.O_NOFOLLOW for _, flags in made)
    drafts = [name for name, _ in made if name.startswith(".bench.bin.drivelab.json.")]
    # They follow from the key, which each file has anew.
    assert len(drafts) >= 4
    assert len(set(drafts)) == 2
    assert all(re.fullmatch(r"\.bench\.bin\.drivelab\.json\.[0-9a-f]{16}", name) for name in drafts)


def test_a_stale_side_file_goes_with_the_next_file(path: Path) -> None:
    left(path).unlink()
    stale = read_side(path)
    assert stale is not None
    with open_target_file(path, size_bytes=MIB) as target:
        now = read_side(path)
        assert now is not None
        assert now.key != stale.key
        assert target.made
    assert not side_of(path).exists()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"made_by": "drivelab", "layout": 1}',
        json.dumps({"made_by": "drivelab", "layout": 2, "left": {"changed_ns": 1}}),
        "x" * 100_000,
    ],
    ids=["deep", "older", "short", "long"],
)
def test_a_side_file_that_says_something_else_says_nothing(path: Path, text: str) -> None:
    left(path)
    side_of(path).write_text(text)
    assert looked_at(path)[0] is False
    assert path.exists()


KILLED = """
import os, signal, sys, time
from pathlib import Path
from drivelab._core import KeyedContent
from drivelab.cli import main as cli
from drivelab.drives.real.fio import program as fio_program
from drivelab.drives.real.side_file import read_side
run = fio_program._collect
count = [0]

def collect(process, deadline, log, watch):
    count[0] += 1
    if count[0] == int(sys.argv[1]):
        # In the middle of what fio writes: a file's time changes before its data do.
        path = Path(sys.argv[3])
        content = KeyedContent(read_side(path).key)
        while process.poll() is None and content.tally(path.read_bytes())[2] == 0:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    return run(process, deadline, log, watch)

fio_program._collect = collect
sys.exit(cli.main(sys.argv[2:]))
"""
MIXED = [
    *("--write-ratio", "0.6", "--read-random", "0.5", "--write-random", "1"),
    *("--read-size", "16KiB", "--write-size", "4KiB", "--queue-depth", "5"),
]


@pytest.fixture
def killed(require_tool: Callable[[str], Path], path: Path) -> Path:
    """Give a file whose measurement was killed while fio wrote into it."""
    require_tool("fio")
    # 1: the engine is tried; 2: the measurement.
    words = ["measure", str(path), "--size", "4MiB", "--seconds", "2", *MIXED]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, "2", *words], capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    side = read_side(path)
    assert side is not None
    assert side.state == "writing"
    assert side.buffers == ((8, 16384),)
    content = KeyedContent(side.key)
    # Sectors that its key alone does not explain: fio's own buffers, before a read went into them.
    assert content.tally(path.read_bytes())[2] > 0
    return path


def is_told_from_later_ones(path: Path) -> bool:
    """Tell whether the file system has generations of inodes: an overlay has none."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return generation_of(descriptor) is not None
    finally:
        os.close(descriptor)


def test_what_fio_wrote_is_known_again_after_a_kill(
    killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not is_told_from_later_ones(killed):
        data = killed.read_bytes()
        assert main(["measure", str(killed), "--seconds", "0.2", *MIXED]) == 2
        assert "does not distinguish a file from a later one" in capsys.readouterr().err
        assert killed.read_bytes() == data
        return
    assert main(["measure", str(killed), "--seconds", "0.2", *MIXED]) == 0
    assert not killed.exists()


def test_data_written_over_a_part_of_it_after_a_kill_is_kept(
    killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = copied_over(killed, 4096)
    assert main(["measure", str(killed), "--seconds", "0.2"]) == 0
    reason = "it contains data that Drivelab did not write"
    if not is_told_from_later_ones(killed):
        reason = "does not distinguish a file from a later one"
    assert reason in capsys.readouterr().err
    assert main(["measure", str(killed), "--seconds", "0.2", *MIXED]) == 2
    assert killed.read_bytes() == data


def test_another_made_file_copied_over_it_is_kept(path: Path, folder: Path) -> None:
    other = folder / "other.bin"
    for one in (path, other):
        left(one, "writing")
    with path.open("r+b") as file:
        file.write(other.read_bytes())
    assert looked_at(path)[0] is False
    assert path.read_bytes() == other.read_bytes()


def test_a_kernel_that_shows_no_mounts_changes_nothing(tmp_path: Path, path: Path) -> None:
    left(path)
    with open_target_file(path, roots=SystemRoots(proc=tmp_path / "nothing")) as target:
        assert target.made
