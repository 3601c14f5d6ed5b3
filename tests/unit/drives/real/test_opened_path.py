"""The opened file is the named one, even while another program swaps it for something else."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from swapped_names import swapped

from drivelab.drives.real import opened_path
from drivelab.drives.real.block_devices import SystemRoots, find_block_device
from drivelab.drives.real.opened_path import find_in, open_folder, open_in
from drivelab.drives.real.target_device import open_target_device
from drivelab.drives.real.target_file import open_target_file
from drivelab.drives.real.write_refusals import usage
from drivelab.errors import RunError, UsageError

MIB = 2**20
TRIES = 300


@pytest.fixture
def roots(tmp_path: Path) -> SystemRoots:
    """A kernel that says that everything is on a drive, wherever the tests run."""
    proc = tmp_path / "kernel" / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "mountinfo").write_text("1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n")
    return SystemRoots(proc=proc)


@pytest.fixture(params=["openat2", "folder by folder"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to open a folder: of this kernel, and of one that has no openat2."""

    def missing(path: Path) -> int:
        raise OSError(errno.ENOSYS, "not there", str(path))

    if request.param != "openat2":
        monkeypatch.setattr(opened_path, "_open_at_once", missing)


@pytest.mark.usefixtures("way")
def test_a_link_anywhere_in_a_path_is_not_followed(tmp_path: Path) -> None:
    inner = tmp_path / "real" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (inner / "link").symlink_to("file")
    (inner / "file").write_bytes(b"content")
    for path in (tmp_path / "link", tmp_path / "link" / "inner", inner / "file"):
        with pytest.raises(OSError, match=r"levels of symbolic links|Not a directory"):
            open_folder(path)
    folder = open_folder(inner)
    try:
        with pytest.raises(OSError, match="levels of symbolic links"):
            open_in(folder, "link", os.O_RDONLY)
        found = find_in(folder, "file")
        assert os.path.samestat(os.fstat(found), (inner / "file").stat())
        os.close(found)
    finally:
        os.close(folder)


@pytest.mark.usefixtures("way")
def test_a_parent_folder_swapped_for_a_link_never_opens_another_file(
    tmp_path: Path, roots: SystemRoots
) -> None:
    """Between check and open such a swap let another file be written, once in five tries."""
    named, foreign, link = (tmp_path / name for name in ("named", "foreign", "link"))
    for folder in (named, foreign):
        folder.mkdir()
        (folder / "file").write_bytes(b"x" * MIB)
    link.symlink_to(foreign)
    path = named / "file"
    ours = path.stat().st_ino
    opened = 0
    with swapped(named, link):
        for _ in range(TRIES):
            with contextlib.suppress(UsageError):
                target = open_target_file(path, allow_destructive=str(path), roots=roots)
                opened += 1
                assert os.fstat(target.descriptor).st_ino == ours
                target.close()
    # Both outcomes are met, or nothing was tried.
    assert 0 < opened < TRIES


@pytest.mark.parametrize("kind", ["link", "fifo", "device"])
def test_a_file_swapped_for_something_else_is_never_waited_for_nor_written(
    tmp_path: Path, roots: SystemRoots, kind: str
) -> None:
    path, other, foreign = (tmp_path / name for name in ("file", "other", "foreign"))
    for file in (path, foreign):
        file.write_bytes(b"x" * MIB)
    ours = path.stat().st_ino
    if kind == "link":
        other.symlink_to(foreign)
    elif kind == "fifo":
        os.mkfifo(other)
    else:
        # /dev/zero, under a name of the test's.
        if os.geteuid():
            pytest.skip("only root makes devices")
        os.mknod(other, 0o20600, os.makedev(1, 5))
    with swapped(path, other):
        for _ in range(TRIES):
            with contextlib.suppress(UsageError):
                target = open_target_file(path, allow_destructive=str(path), roots=roots)
                assert os.fstat(target.descriptor).st_ino == ours
                target.close()


MakeLoop = Callable[..., Path]


@pytest.fixture
def image(drive_folder: Path) -> Iterator[Path]:
    """A file of somebody's, written throughout, to be put beneath loop devices."""
    path = drive_folder / "beneath.bin"
    path.write_bytes(b"x" * 8 * MIB)
    yield path
    path.unlink(missing_ok=True)


def test_a_file_beneath_a_loop_device_is_only_read(
    image: Path, loop_device: MakeLoop, tmp_path: Path
) -> None:
    allowed = str(image)
    with open_target_file(image, allow_destructive=allowed) as target:
        target.before_writing()
        name = loop_device(image).name
        with pytest.raises(RunError, match=rf"not be written any more: held by {name}"):
            target.before_writing()
    with pytest.raises(UsageError, match=rf"is not overwritten: held by {name}; without --allow"):
        open_target_file(image, allow_destructive=allowed)
    with open_target_file(image) as target:
        assert target.write_refusal == f"{image.resolve()} is only read: held by {name}"
    # By another name it is the same file.
    linked = image.with_name("linked.bin")
    os.link(image, linked)
    try:
        with pytest.raises(UsageError, match=rf"held by {name}"):
            open_target_file(linked, allow_destructive=str(linked))
    finally:
        linked.unlink()


def test_what_uses_a_loop_device_uses_its_file(
    image: Path, loop_device: MakeLoop, require_tool: Callable[[str], Path], tmp_path: Path
) -> None:
    device, point = loop_device(image), tmp_path / "mounted"
    point.mkdir()
    subprocess.run([require_tool("mkfs.ext4"), "-q", device], check=True)
    subprocess.run([require_tool("mount"), device, point], check=True)
    try:
        with pytest.raises(UsageError, match=rf"{device.name} is mounted at {point}"):
            open_target_file(image, allow_destructive=str(image))
    finally:
        subprocess.run([require_tool("umount"), point], check=True)


def test_a_swap_file_in_use_is_only_read(tmp_path: Path, roots: SystemRoots) -> None:
    path, linked = tmp_path / "swap file", tmp_path / "linked"
    path.write_bytes(b"x" * MIB)
    linked.hardlink_to(path)
    lines = ["Filename Type Size Used Priority", f"{tmp_path}/swap\\040file file 1024 0 -2"]
    (roots.proc / "swaps").write_text("\n".join(lines))
    for name in (path, linked):
        with pytest.raises(UsageError, match="is not overwritten: used as swap"):
            open_target_file(name, allow_destructive=str(name), roots=roots)
    (roots.proc / "swaps").write_text(lines[0])
    open_target_file(path, allow_destructive=str(path), roots=roots).close()


def test_a_file_that_is_mounted_is_only_read(
    image: Path, require_tool: Callable[[str], Path], tmp_path: Path
) -> None:
    point = tmp_path / "mounted"
    point.touch()
    done = subprocess.run([require_tool("mount"), "--bind", image, point], check=False)
    if done.returncode:
        pytest.skip("mounting is not permitted here")
    try:
        with pytest.raises(UsageError, match=rf"is not overwritten: mounted at {point}"):
            open_target_file(image, allow_destructive=str(image))
    finally:
        subprocess.run([require_tool("umount"), point], check=True)


def test_two_loop_devices_and_their_file_are_one_drive(
    image: Path, loop_device: MakeLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drivelab.drives.real.measuring_lock._LOCK_SECONDS", 0.1)
    one, other = loop_device(image), loop_device(image)
    assert usage(find_block_device(one)) == [f"its file {image.resolve()} is held by {other.name}"]
    first = open_target_device(str(one))
    try:
        assert len(first.locks) == 2
        for again in (lambda: open_target_device(str(other)), lambda: open_target_file(image)):
            with pytest.raises(UsageError, match="is being measured by another process"):
                again()
    finally:
        first.close()
    with (
        open_target_file(image),
        pytest.raises(UsageError, match="is being measured by another process"),
    ):
        open_target_device(str(other))
    open_target_device(str(other)).close()
