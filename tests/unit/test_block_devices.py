from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drivelab.drives import block_devices
from drivelab.drives.block_devices import (
    ONLY_READ,
    BlockDevice,
    SystemRoots,
    block_device_by_number,
    find_block_device,
    list_block_devices,
    mounts,
    probe_content,
    write_refusals,
)
from drivelab.errors import UsageError


def add(roots: SystemRoots, path: str, number: str, sectors: int, **files: str) -> Path:
    folder = roots.sys / "block" / path
    contents = {"dev": number, "size": str(sectors), "ro": "0", **files}
    for name, text in contents.items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    return folder


@pytest.fixture
def roots(tmp_path: Path) -> SystemRoots:
    roots = SystemRoots(tmp_path / "sys", tmp_path / "proc", tmp_path / "dev")
    roots.dev.mkdir()
    (roots.proc / "self").mkdir(parents=True)
    add(
        roots,
        "nvme0n1",
        "259:0",
        2_000_000,
        device__model="FAST 980 ",
        device__serial=" S123",
        device__firmware_rev="5B2Q",
        queue__rotational="0",
        queue__logical_block_size="4096",
        queue__scheduler="[none] mq-deadline",
    )
    add(
        roots,
        "sda",
        "8:0",
        4_000_000,
        device__model="ST4000DM",
        queue__rotational="1",
        queue__logical_block_size="512",
        queue__scheduler="none [mq-deadline] kyber",
    )
    add(roots, "sda/sda1", "8:1", 2_000_000, partition="1")
    (add(roots, "sda/sda2", "8:2", 1_000_000, partition="2") / "holders" / "dm-0").mkdir(
        parents=True
    )
    add(roots, "loop0", "7:0", 0)
    (roots.proc / "self" / "mountinfo").write_text(
        "22 1 0:21 / /proc rw,relatime - proc proc rw\n"
        "27 1 8:1 / /mnt/with\\040blank rw,noatime shared:1 - ext4 /dev/sda1 rw,discard\n"
        f"28 1 0:44 /sub /data rw - btrfs {roots.dev}/nvme0n1 rw,ssd\n"
    )
    (roots.proc / "swaps").write_text(
        f"Filename\tType\tSize\tUsed\tPriority\n{roots.dev}/sda2 partition 1 0 -2\n"
    )
    return roots


def empty(_: Path) -> str | None:
    return None


def test_devices_are_described_as_the_kernel_does(roots: SystemRoots) -> None:
    nvme, sda = list_block_devices(roots)
    assert nvme == BlockDevice(
        name="nvme0n1",
        path=str(roots.dev / "nvme0n1"),
        number="259:0",
        size_bytes=2_000_000 * 512,
        logical_block_bytes=4096,
        model="FAST 980",
        serial="S123",
        firmware="5B2Q",
        rotational=False,
        scheduler="none",
        read_only=False,
    )
    assert (sda.name, sda.rotational, sda.scheduler) == ("sda", True, "mq-deadline")
    assert (sda.serial, sda.firmware) == (None, None)


def test_a_partition_has_the_hardware_of_its_drive(roots: SystemRoots) -> None:
    partition = block_device_by_number("8:1", roots)
    assert partition.name == "sda1"
    assert partition.size_bytes == 2_000_000 * 512
    assert partition.model == "ST4000DM"
    assert partition.rotational


def test_a_number_without_a_device_is_an_error(roots: SystemRoots) -> None:
    with pytest.raises(UsageError, match="no block device has the number 0:21"):
        block_device_by_number("0:21", roots)


def test_no_kernel_tree_means_no_devices(tmp_path: Path) -> None:
    assert list_block_devices(SystemRoots(sys=tmp_path)) == []


def test_every_reason_against_writing_is_given(roots: SystemRoots) -> None:
    sda = list_block_devices(roots)[1]
    assert write_refusals(sda, roots, probe=lambda _: "carries the partition table gpt") == [
        "sda1 is mounted at /mnt/with blank",
        "sda2 is held by dm-0",
        "sda2 is used as swap",
        "has the partitions sda1, sda2",
        "carries the partition table gpt",
        f"needs --allow-destructive={roots.dev}/sda",
        ONLY_READ,
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
    assert write_refusals(sdb, roots, probe=empty) == [needs, ONLY_READ]
    wrong = write_refusals(sdb, roots, probe=empty, allow_destructive=str(roots.dev / "sda"))
    assert wrong == [needs, ONLY_READ]
    for name in ("sdb", "by-id"):
        allowed = str(roots.dev / name)
        assert write_refusals(sdb, roots, probe=empty, allow_destructive=allowed) == [ONLY_READ]


def test_a_read_only_device_says_so(roots: SystemRoots) -> None:
    add(roots, "sr0", "11:0", 1000, ro="1")
    assert "is read-only" in write_refusals(
        block_device_by_number("11:0", roots), roots, probe=empty
    )


def test_mounts_are_read_with_their_escapes(roots: SystemRoots) -> None:
    mount = mounts(roots)[1]
    assert (mount.number, mount.point, mount.file_system) == ("8:1", "/mnt/with blank", "ext4")
    assert mount.options == "rw,noatime,discard"


def test_what_is_no_block_device_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/null")):
        with pytest.raises(UsageError, match="is not a block device"):
            find_block_device(path)
    with pytest.raises(UsageError, match="`drivelab drives`"):
        find_block_device(tmp_path / "missing")


def test_unknown_content_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "cannot be checked" in str(probe_content(tmp_path / "sdx"))
    monkeypatch.setattr(block_devices, "_tool", lambda _: None)
    assert "cannot be checked" in str(probe_content(tmp_path / "sdx"))
    monkeypatch.setattr(os, "access", lambda *_: True)
    assert "without blkid" in str(probe_content(tmp_path / "sdx"))


def test_without_permission_lsblk_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "lsblk"
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(block_devices, "_tool", lambda _: str(script))
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


@pytest.fixture
def loop_device(tmp_path: Path, require_tool: Callable[[str], Path]) -> Iterator[Path]:
    losetup = require_tool("losetup")
    image = tmp_path / "image"
    image.write_bytes(bytes(16 * 2**20))
    result = subprocess.run(
        [losetup, "--find", "--show", image], capture_output=True, text=True, check=False
    )
    if result.returncode:
        pytest.skip(f"needs a loop device (root): {result.stderr.strip()}")
    path = Path(result.stdout.strip())
    yield path
    subprocess.run([losetup, "--detach", path], check=True)


def test_a_loop_device_and_what_is_put_on_it(
    loop_device: Path, tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    device = find_block_device(loop_device)
    assert device.size_bytes == 16 * 2**20
    assert device in list_block_devices()
    (tmp_path / "by-id").symlink_to(loop_device)
    assert find_block_device(tmp_path / "by-id") == device
    flag = str(loop_device)
    assert write_refusals(device, allow_destructive=flag) == [ONLY_READ]

    subprocess.run([require_tool("mkfs.ext4"), "-q", loop_device], check=True)
    carries = ["carries the file system ext4", ONLY_READ]
    assert write_refusals(device, allow_destructive=flag) == carries

    point = tmp_path / "with blank"
    point.mkdir()
    subprocess.run([require_tool("mount"), loop_device, point], check=True)
    try:
        mounted = [f"mounted at {point}", *carries]
        assert write_refusals(device, allow_destructive=flag) == mounted
    finally:
        subprocess.run([require_tool("umount"), point], check=True)
    assert write_refusals(device, allow_destructive=flag) == carries


def test_a_partition_table_on_a_loop_device_is_found(loop_device: Path) -> None:
    # One MBR entry: type 83, from sector 2048, 8192 sectors, and the boot signature.
    entry = bytes([0, 0, 2, 0, 0x83, 0, 3, 0]) + (2048).to_bytes(4, "little")
    with loop_device.open("r+b") as stream:
        stream.seek(446)
        stream.write(entry + (8192).to_bytes(4, "little"))
        stream.seek(510)
        stream.write(b"\x55\xaa")
        os.fsync(stream.fileno())
    device = find_block_device(loop_device)
    reasons = write_refusals(device, allow_destructive=str(loop_device))
    assert "carries the partition table dos" in reasons


def test_swap_space_on_a_loop_device_is_found(
    loop_device: Path, require_tool: Callable[[str], Path]
) -> None:
    subprocess.run([require_tool("mkswap"), loop_device], check=True, capture_output=True)
    reasons = write_refusals(find_block_device(loop_device), allow_destructive=str(loop_device))
    assert reasons == ["carries swap space", ONLY_READ]
