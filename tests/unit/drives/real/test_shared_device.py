"""Which drives share hardware, on a machine made of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_view import add, small_machine

from drivelab.drives.real import shared_device
from drivelab.drives.real.block_devices import SystemRoots, block_device_by_number


@pytest.fixture
def roots(tmp_path: Path) -> SystemRoots:
    return small_machine(tmp_path)


def below(number: str, roots: SystemRoots) -> frozenset[str]:
    return shared_device._bottom(block_device_by_number(number, roots), roots)


def test_partitions_and_what_is_made_of_drives_lie_on_whole_drives(roots: SystemRoots) -> None:
    mirror = add(roots, "md0", "9:0", 3000)
    for name in ("sda2", "nvme0n1"):
        (mirror / "slaves" / name).mkdir(parents=True)
    volume = add(roots, "dm-0", "253:0", 3000)
    (volume / "slaves" / "md0").mkdir(parents=True)
    sda, nvme = str(roots.dev / "sda"), str(roots.dev / "nvme0n1")
    assert below("8:1", roots) == {sda}
    assert below("259:0", roots) == {nvme}
    assert below("253:0", roots) == {sda, nvme}


def test_two_files_of_one_file_system_share_it_and_simulated_drives_share_nothing(
    tmp_path: Path,
) -> None:
    one, other = (str(tmp_path / name) for name in ("one.bin", "other.bin"))
    found = shared_device.sharing_pair([one, "sim:x25m", other, "sim:x25m"])
    assert found is not None
    assert found[:2] == (one, other)
    assert shared_device.sharing_pair([one, "sim:x25m"]) is None
