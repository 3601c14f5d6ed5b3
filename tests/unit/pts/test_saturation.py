"""What write saturation leaves, and what leaves more: a smaller range, or more spare blocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_test_run import ORIGIN

from drivelab.drives.sessions import open_session
from drivelab.pts.every_test import TESTS
from drivelab.pts.run import run_test
from drivelab.pts.saturation import end_iops, lost_ratio
from drivelab.pts.settings import Settings

#: 20 dies of 2 planes with 96 blocks of 1 MiB: 3.75 GiB of flash.
_DRIVE = """
base = "x25m"
name = "tight"
summary = "x25m with a twentieth of its flash and little to spare"
geometry.blocks_per_plane = 96
geometry.user_capacity_bytes = {user_bytes}
collection.reserve_blocks_per_plane = 4
"""


def lost(folder: Path, *, user_bytes: int, active_range_ratio: float = 1.0) -> float:
    folder.mkdir()
    preset = folder / "drive.toml"
    preset.write_text(_DRIVE.format(user_bytes=user_bytes))
    settings = Settings.of_edition("enterprise", active_range_ratio=active_range_ratio, seed=1)
    session = open_session(f"sim:{preset}", seed=1)
    with session:
        outcome = run_test(
            TESTS["wsat"], session, settings, folder / "run", origin=ORIGIN, shown=False
        )
    (section,) = outcome.result["sections"]
    # Four fills are over before the fifth round is judged.
    assert section["settled_iops"] is None
    assert section["lost_ratio"] is not None
    return float(section["lost_ratio"])


def test_less_active_range_and_more_over_provisioning_keep_more(tmp_path: Path) -> None:
    full = lost(tmp_path / "full", user_bytes=3 << 30)
    # What is not written is spare too. The drive of less capacity is written less, as it ends after
    # four times its own.
    part = lost(tmp_path / "part", user_bytes=3 << 30, active_range_ratio=0.75)
    less = lost(tmp_path / "less", user_bytes=(3 << 30) * 3 // 4)
    # 61 % against 29 and 19 %: a fifth leaves a third of the smaller gain to other seeds.
    assert part < full - 0.2
    assert less < full - 0.2


def test_what_is_left_is_that_of_the_window_or_else_of_the_last_minutes() -> None:
    iops = [100.0, 90.0, 30.0, 20.0, 20.0, 20.0, 10.0]
    assert end_iops(iops) == 20.0
    assert end_iops(iops[:2]) == 95.0
    assert lost_ratio(100.0, 40.0, iops) == pytest.approx(0.6)
    assert lost_ratio(100.0, None, iops) == pytest.approx(0.8)
    assert lost_ratio(0.0, None, [0.0, 0.0]) is None
