"""What forbids writing to a block device: on a machine made of files, and on loop devices.

Of all block devices only those are written to that `loop_device` made for the test.
"""

from __future__ import annotations

import errno
import os
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kernel_view import add, small_machine

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real import target_device
from drivelab.drives.real import write_refusals as write_refusals_module
from drivelab.drives.real.block_devices import (
    SystemRoots,
    block_device_by_number,
    find_block_device,
    list_block_devices,
)
from drivelab.drives.real.fio.drive import open_real_drive
from drivelab.drives.real.target_device import TargetDevice, open_target_device
from drivelab.drives.real.write_refusals import probe_content, write_refusals
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.workloads.characteristics import Characteristics

MIB = 2**20
MakeLoop = Callable[..., Path]
Tool = Callable[[str], Path]


@pytest.fixture
def roots(tmp_path: Path) -> SystemRoots:
    return small_machine(tmp_path)


def empty(_: Path) -> str | None:
    return None


def test_every_reason_against_writing_is_given(roots: SystemRoots) -> None:
    sda = list_block_devices(roots)[1]
    assert write_refusals(sda, roots, probe=lambda _: "carries the partition table gpt") == [
        "sda1 is mounted at /mnt/with blank",
        "sda2 is held by dm-0",
        "sda2 is used as swap",
        "has the partitions sda1, sda2",
        "carries the partition table gpt",
        f"needs --allow-destructive={roots.dev}/sda",
    ]


def test_a_mount_under_another_number_is_found_by_its_source(roots: SystemRoots) -> None:
    nvme = list_block_devices(roots)[0]
    assert write_refusals(nvme, roots, probe=empty)[0] == "mounted at /data"


def test_a_partition_answers_for_itself_alone(roots: SystemRoots) -> None:
    second = block_device_by_number("8:2", roots)
    reasons = write_refusals(second, roots, probe=empty)
    assert reasons[:2] == ["held by dm-0", "used as swap"]
    assert not any("mounted" in reason for reason in reasons)


def test_the_flag_must_name_the_device(roots: SystemRoots) -> None:
    add(roots, "sdb", "8:16", 1000)
    sdb = block_device_by_number("8:16", roots)
    (roots.dev / "sdb").touch()
    (roots.dev / "by-id").symlink_to(roots.dev / "sdb")
    needs = f"needs --allow-destructive={roots.dev}/sdb"
    assert write_refusals(sdb, roots, probe=empty) == [needs]
    wrong = write_refusals(sdb, roots, probe=empty, allow_destructive=str(roots.dev / "sda"))
    assert wrong == [needs]
    for name in ("sdb", "by-id"):
        allowed = str(roots.dev / name)
        assert write_refusals(sdb, roots, probe=empty, allow_destructive=allowed) == []


def test_a_read_only_device_says_so(roots: SystemRoots) -> None:
    add(roots, "sr0", "11:0", 1000, ro="1")
    assert "is read-only" in write_refusals(
        block_device_by_number("11:0", roots), roots, probe=empty
    )


def test_a_partition_answers_for_its_drive_too(roots: SystemRoots) -> None:
    """What claims a whole drive (multipath, RAID) claims its partitions."""
    (roots.sys / "block" / "sda" / "holders" / "md0").mkdir(parents=True)
    second = block_device_by_number("8:2", roots)
    assert "sda is held by md0" in write_refusals(second, roots, probe=empty)


def test_a_loop_device_over_it_holds_it(roots: SystemRoots) -> None:
    add(roots, "sdb", "8:16", 1000)
    add(roots, "loop1", "7:1", 1000, loop__backing_file=f"{roots.dev}/sdb")
    sdb = block_device_by_number("8:16", roots)
    assert write_refusals(sdb, roots, probe=empty)[0] == "held by loop1"


def test_unknown_content_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "cannot be checked" in str(probe_content(tmp_path / "sdx"))
    monkeypatch.setattr(write_refusals_module, "_tool", lambda _: None)
    assert "cannot be checked" in str(probe_content(tmp_path / "sdx"))
    monkeypatch.setattr(os, "access", lambda *_: True)
    assert "without blkid" in str(probe_content(tmp_path / "sdx"))


def test_without_permission_lsblk_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "lsblk"
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(write_refusals_module, "_tool", lambda _: str(script))
    answers = {
        '{"blockdevices": [{"fstype": "xfs", "pttype": "gpt"}]}': "carries the file system xfs",
        '{"blockdevices": [{"fstype": null, "pttype": "gpt"}]}': "carries the partition table gpt",
        '{"blockdevices": [{"fstype": null, "pttype": null}]}': "cannot be checked",
        '{"blockdevices": []}': "cannot be checked",
        "nonsense": "cannot be checked",
    }
    for answer, expected in answers.items():
        script.write_text(f"#!/bin/sh\necho '{answer}'\n")
        script.chmod(0o755)
        assert expected in str(probe_content(tmp_path / "sdx")), answer


def run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


def reasons_of(device: Path) -> list[str]:
    return write_refusals(find_block_device(device), allow_destructive=str(device))


def test_nothing_stands_against_an_empty_loop_device(loop_device: MakeLoop, tmp_path: Path) -> None:
    path = loop_device(bytes(16 * MIB))
    device = find_block_device(path)
    assert device.size_bytes == 16 * MIB
    assert device in list_block_devices()
    (tmp_path / "by-id").symlink_to(path)
    assert find_block_device(tmp_path / "by-id") == device
    assert reasons_of(path) == []
    assert write_refusals(device) == [f"needs --allow-destructive={path}"]


MBR = (
    bytes(446)
    # One entry: type 83, from sector 2048, 8192 sectors; then the boot signature.
    + bytes([0, 0, 2, 0, 0x83, 0, 3, 0])
    + struct.pack("<II", 2048, 8192)
    + bytes(48)
    + b"\x55\xaa"
)
# The part of LUKS that identifies it.
LUKS = b"LUKS\xba\xbe\x00\x01aes" + bytes(157) + b"00000000-0000-0000-0000-000000000005"


def gpt() -> bytes:
    """A GUID partition table without partitions: its header twice, and a protective MBR."""
    last, entries = 16 * MIB // 512 - 1, bytes(128 * 128)

    def header(place: int, other: int, table: int) -> bytes:
        fields = (92, 0, 0, place, other, 34, last - 33, bytes(15) + b"7", table, 128, 128)
        text = b"EFI PART" + struct.pack("<IIIIQQQQ16sQII", 0x10000, *fields)
        text += struct.pack("<I", zlib.crc32(entries))
        return text[:16] + struct.pack("<I", zlib.crc32(text)) + text[20:]

    image = bytearray(16 * MIB)
    entry = bytes([0, 0, 2, 0, 0xEE, 0xFF, 0xFF, 0xFF]) + struct.pack("<II", 1, last)
    image[446:462] = entry
    image[510:604] = b"\x55\xaa" + header(1, last, 2)
    image[-512:-420] = header(last, 1, last - 32)
    return bytes(image)


@pytest.fixture(params=["ext4", "dos", "gpt", "swap space", "crypto_LUKS", "read-only"])
def refused(
    request: pytest.FixtureRequest, loop_device: MakeLoop, require_tool: Tool
) -> tuple[Path, str]:
    """A loop device with something against writing to it, and the words for that."""
    kind = request.param
    if kind == "read-only":
        return loop_device(bytes(16 * MIB), "--read-only"), "is read-only"
    contents = {"dos": MBR, "gpt": gpt(), "crypto_LUKS": LUKS}
    path = loop_device(contents.get(kind, b"").ljust(16 * MIB, b"\0"))
    if kind == "ext4":
        run(require_tool("mkfs.ext4"), "-q", path)
    if kind == "swap space":
        run(require_tool("mkswap"), path)
    kinds = {"ext4": "file system ", "crypto_LUKS": "signature ", "swap space": ""}
    noun = "the " + kinds.get(kind, "partition table ") if kind != "swap space" else ""
    return path, f"carries {noun}{kind}"


def test_what_it_carries_keeps_a_device_from_being_written(
    refused: tuple[Path, str], require_tool: Tool
) -> None:
    require_tool("fio")
    path, words = refused
    before = path.read_bytes()
    assert any(words in reason for reason in reasons_of(path))
    with pytest.raises(UsageError, match=rf"{path} is not overwritten: .*{words}"):
        open_real_drive(str(path), allow_destructive=str(path))
    # Reading needs no permission.
    with open_real_drive(str(path)) as drive:
        measure(drive, Characteristics(read_random=0.5))
        with pytest.raises(CannotAnswerError, match=f"no writes on {path}: .*{words}"):
            measure(drive, Characteristics(write_ratio=0.5))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("number", "user", "reason"),
    [
        (errno.EACCES, 1000, "Permission denied; a block device takes root or the group disk"),
        (errno.EPERM, 0, "Operation not permitted, and the user is root: as in a container that"),
        (errno.ENOMEDIUM, 0, "No medium found"),
        (errno.EIO, 1000, "Input/output error"),
    ],
)
def test_the_reason_that_keeps_a_device_closed_is_the_systems(
    roots: SystemRoots, monkeypatch: pytest.MonkeyPatch, number: int, user: int, reason: str
) -> None:
    sda = list_block_devices(roots)[1]

    def closed(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(target_device, "look_at_device", lambda *_, **__: (sda, []))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with monkeypatch.context() as patch:
        patch.setattr(target_device, "open_folder", closed)
        with pytest.raises(UsageError) as caught:
            open_target_device(sda.path, roots=roots)
    message = f"{sda.path} cannot be read: {reason}"
    assert str(caught.value).startswith(message)
    assert ("group disk" in str(caught.value)) == ("group disk" in reason)


@pytest.fixture
def partition(loop_device: MakeLoop, require_tool: Tool) -> Iterator[Path]:
    """The partition of a loop device, which carries no table."""
    add_partition, remove_partition = require_tool("addpart"), require_tool("delpart")
    path = loop_device(bytes(16 * MIB))
    run(add_partition, path, 1, 2048, 8192)
    yield path.with_name(f"{path.name}p1")
    run(remove_partition, path, 1)


def test_a_device_with_a_partition_is_not_written(partition: Path) -> None:
    drive = partition.with_name(partition.name.removesuffix("p1"))
    assert reasons_of(drive) == [f"has the partitions {partition.name}"]
    with pytest.raises(UsageError, match=f"overwritten: has the partitions {partition.name}"):
        open_target_device(str(drive), allow_destructive=str(drive))


def test_an_empty_partition_is_written_and_nothing_next_to_it(
    partition: Path, require_tool: Tool
) -> None:
    require_tool("fio")
    drive = partition.with_name(partition.name.removesuffix("p1"))
    with open_real_drive(str(partition), allow_destructive=str(partition)) as opened:
        assert opened.capacity_bytes == 4 * MIB
        measure(opened, Characteristics(write_ratio=1.0, write_size=65536))
    content = drive.read_bytes()
    assert content[MIB : 5 * MIB] != bytes(4 * MIB)
    assert content[:MIB] == bytes(MIB)
    assert content[5 * MIB :] == bytes(11 * MIB)


def test_a_mounted_partition_keeps_its_drive_from_being_written(
    partition: Path, tmp_path: Path, require_tool: Tool
) -> None:
    run(require_tool("mkfs.ext4"), "-q", partition)
    run(require_tool("mount"), partition, tmp_path)
    try:
        drive = partition.with_name(partition.name.removesuffix("p1"))
        assert reasons_of(drive)[0] == f"{partition.name} is mounted at {tmp_path}"
    finally:
        run(require_tool("umount"), tmp_path)


@pytest.fixture
def mounted(loop_device: MakeLoop, tmp_path: Path, require_tool: Tool) -> Iterator[Path]:
    path = loop_device(bytes(16 * MIB))
    run(require_tool("mkfs.ext4"), "-q", path)
    point = tmp_path / "with blank"
    point.mkdir()
    run(require_tool("mount"), path, point)
    yield path
    run(require_tool("umount"), point)


def test_a_mounted_device_is_not_written(mounted: Path, loop_device: MakeLoop) -> None:
    at = "mounted at .*/with blank"
    assert reasons_of(mounted)[0].startswith("mounted at ")
    with pytest.raises(UsageError, match=f"is not overwritten: {at}; carries"):
        open_target_device(str(mounted), allow_destructive=str(mounted))
    # Nor is one that would write beneath it.
    over = loop_device(mounted)
    assert any(reason.startswith(f"{mounted.name} is mounted at ") for reason in reasons_of(over))


def test_a_device_that_another_lies_over_is_not_written(loop_device: MakeLoop) -> None:
    lower = loop_device(bytes(16 * MIB))
    upper = loop_device(lower)
    assert reasons_of(lower) == [f"held by {upper.name}"]
    assert reasons_of(upper) == []
    third = loop_device(lower)
    assert reasons_of(upper) == [f"{lower.name} is held by {third.name}"]


def test_swap_in_use_is_not_written(loop_device: MakeLoop, require_tool: Tool) -> None:
    path = loop_device(bytes(16 * MIB))
    run(require_tool("mkswap"), path)
    run(require_tool("swapon"), path)
    try:
        assert reasons_of(path) == ["used as swap", "carries swap space"]
    finally:
        run(require_tool("swapoff"), path)


def test_what_only_the_kernel_knows_of_is_not_written(loop_device: MakeLoop) -> None:
    """A mount in another container, or a program that claimed it: only opening shows it."""
    path = loop_device()
    claim = os.open(path, os.O_RDONLY | os.O_EXCL)
    try:
        assert reasons_of(path) == []
        with pytest.raises(UsageError, match="something has claimed it, perhaps in another"):
            open_target_device(str(path), allow_destructive=str(path))
    finally:
        os.close(claim)
    open_target_device(str(path), allow_destructive=str(path)).close()


def test_an_open_device_is_claimed(loop_device: MakeLoop, require_tool: Tool) -> None:
    path = loop_device()
    target = open_target_device(str(path), allow_destructive=str(path))
    try:
        with pytest.raises(OSError, match="busy"):
            os.close(os.open(path, os.O_RDONLY | os.O_EXCL))
        made = subprocess.run(
            [require_tool("mkfs.ext4"), "-q", path], check=False, capture_output=True, text=True
        )
        assert "in use" in made.stderr
    finally:
        target.close()
    assert reasons_of(path) == []


def measure(drive: object, *workloads: Characteristics) -> None:
    plan = MeasurementPlan(seed=1, warmup_requests=10, requests=100)
    list(drive.measure(list(enumerate(workloads)), plan))  # type: ignore[attr-defined]


def test_a_clean_device_is_written_and_read(loop_device: MakeLoop, require_tool: Tool) -> None:
    require_tool("fio")
    content = os.urandom(8 * MIB)
    path = loop_device(content)
    assert probe_content(path) is None
    with open_real_drive(str(path), allow_destructive=str(path)) as drive:
        assert drive.capacity_bytes == 8 * MIB
        identity = drive.identity()
        assert identity["target"] == "block device"
        assert identity["device"]["backing"].endswith("image-0")
        measure(
            drive,
            Characteristics(),
            Characteristics(write_ratio=0.5, queue_depth=8, write_random=0.0, write_stride=4096),
            Characteristics(write_ratio=1.0, write_size=65536),
        )
    written = path.read_bytes()
    assert len(written) == len(content)
    assert written != content
    # Without the flag it is only read, and by two at a time it is not.
    with open_real_drive(str(path)) as drive:
        measure(drive, Characteristics(read_random=0.0, queue_depth=4))
        with pytest.raises(CannotAnswerError, match=f"needs --allow-destructive={path}"):
            measure(drive, Characteristics(write_ratio=0.5))
    assert path.read_bytes() == written
    with pytest.raises(UsageError, match="are for files"):
        open_real_drive(str(path), size_bytes=8 * MIB)
    with pytest.raises(UsageError, match=f"it must be {path}"):
        open_real_drive(str(path), allow_destructive="/dev/other")


def test_what_comes_after_the_opening_is_noticed_before_writing(
    loop_device: MakeLoop, require_tool: Tool
) -> None:
    require_tool("fio")
    path = loop_device()
    with open_real_drive(str(path), allow_destructive=str(path)) as drive:
        # Whoever does not ask the kernel can still write to it.
        with path.open("r+b") as stream:
            stream.write(MBR)
            os.fsync(stream.fileno())
        with pytest.raises(RunError, match="may not be written any more: carries the partition"):
            measure(drive, Characteristics(write_ratio=0.5))
        assert path.read_bytes()[:512] == MBR
        with path.open("r+b") as stream:
            stream.write(bytes(512))
            os.fsync(stream.fileno())
        measure(drive, Characteristics(write_ratio=0.5))
        upper = loop_device(path)
        with pytest.raises(RunError, match=f"any more: held by {upper.name}"):
            measure(drive, Characteristics(write_ratio=0.5))
        measure(drive, Characteristics())


def test_only_one_measures_a_device(loop_device: MakeLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drivelab.drives.real.measuring_lock._LOCK_SECONDS", 0.0)
    path = loop_device()
    first = open_target_device(str(path))
    with pytest.raises(UsageError, match="is being measured by another process"):
        open_target_device(str(path))
    first.close()
    open_target_device(str(path)).close()


def test_a_device_that_goes_away_is_an_error(loop_device: MakeLoop, require_tool: Tool) -> None:
    """As when it is unplugged: the requests fail, and its size is gone."""
    require_tool("fio")
    path = loop_device(os.urandom(8 * MIB))
    device = find_block_device(path)
    assert device.backing is not None
    with open_real_drive(str(path)) as drive:
        measure(drive, Characteristics())
        os.truncate(device.backing, 0)
        with pytest.raises(RunError, match=r"fio .*(Input/output error|error=|exit code)"):
            measure(drive, Characteristics())
        # The kernel notices only when it is asked to look.
        run(require_tool("losetup"), "--set-capacity", path)
        with pytest.raises(RunError, match=f"{path} went away or shrank to 0 B"):
            measure(drive, Characteristics())
        assert isinstance(drive.target, TargetDevice)
