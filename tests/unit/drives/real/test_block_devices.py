"""What the kernel and udev say about block devices, read from a machine made of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_view import add, small_machine

from drivelab.drives.real.block_devices import (
    BlockDevice,
    SystemRoots,
    block_device_by_number,
    find_block_device,
    list_block_devices,
    mounts,
)
from drivelab.errors import UsageError


@pytest.fixture
def roots(tmp_path: Path) -> SystemRoots:
    return small_machine(tmp_path)


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
        write_cache="write through",
        read_only=False,
    )
    assert nvme.hardware() == "FAST 980, serial S123, firmware 5B2Q"
    assert (sda.name, sda.rotational, sda.scheduler) == ("sda", True, "mq-deadline")
    assert (sda.serial, sda.firmware) == (None, None)


def test_a_partition_has_the_hardware_of_its_drive(roots: SystemRoots) -> None:
    partition = block_device_by_number("8:1", roots)
    assert partition.name == "sda1"
    assert partition.size_bytes == 2_000_000 * 512
    assert partition.model == "ST4000DM"
    assert partition.rotational


def test_what_the_kernel_does_not_say_udev_may(roots: SystemRoots) -> None:
    notes = roots.run / "udev" / "data" / "b8:0"
    notes.parent.mkdir(parents=True)
    notes.write_text("S:disk/by-id/x\nE:ID_SERIAL_SHORT=WDH1\nE:ID_REVISION=0002\nE:ID_MODEL=Y\n")
    sda = list_block_devices(roots)[1]
    assert (sda.model, sda.serial, sda.firmware) == ("ST4000DM", "WDH1", "0002")


def test_a_serial_number_is_read_from_its_page(roots: SystemRoots) -> None:
    page = roots.sys / "block" / "sda" / "device" / "vpd_pg80"
    page.write_bytes(b"\0\x80\0\x0c  WD-WX12\0\0")
    assert list_block_devices(roots)[1].serial == "WD-WX12"


def test_a_device_made_of_others_names_its_drives(roots: SystemRoots) -> None:
    upper = add(roots, "dm-1", "253:1", 3000)
    lower = add(roots, "dm-0", "253:0", 3000)
    for folder, below in ((upper, "dm-0"), (lower, "sda2"), (lower, "nvme0n1")):
        (folder / "slaves" / below).mkdir(parents=True)
    device = block_device_by_number("253:1", roots)
    assert device.members == ("FAST 980, serial S123, firmware 5B2Q", "ST4000DM")
    assert device.describe()["members"] == list(device.members)


def test_a_loop_device_names_what_is_behind_it(roots: SystemRoots) -> None:
    add(roots, "loop1", "7:1", 1000, loop__backing_file="/images/disk.img")
    assert block_device_by_number("7:1", roots).backing == "/images/disk.img"


def test_a_number_without_a_device_is_an_error(roots: SystemRoots) -> None:
    with pytest.raises(UsageError, match="no block device has the number 0:21"):
        block_device_by_number("0:21", roots)


def test_no_kernel_tree_means_no_devices(tmp_path: Path) -> None:
    assert list_block_devices(SystemRoots(sys=tmp_path)) == []


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
