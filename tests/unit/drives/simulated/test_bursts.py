"""Random writes on simulated drives, before and after the spare space was full."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from drivelab.campaign.exhibits.bursts import room_found
from drivelab.cli import main as cli
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

WRITES = Characteristics(write_ratio=1.0)


@pytest.mark.parametrize(
    ("preset", "warmup", "random", "room"),
    [
        ("bali-st91000640ns", 2_000, 1.0, "cache"),
        # 32 MiB of cache hold 8,192 of them.
        ("bali-st91000640ns", 20_000, 1.0, None),
        ("bali-st91000640ns", 2_000, 0.0, None),
        # 64 log blocks of 128 pages hold 8,192 of them.
        ("logs", 2_000, 1.0, "logs"),
        ("logs", 10_000, 1.0, None),
        ("x25m", 2_000, 1.0, "erased"),
    ],
)
def test_what_random_writes_found_is_seen(
    preset: str, warmup: int, random: float, room: str | None, tmp_path: Path
) -> None:
    (tmp_path / "logs.toml").write_text(
        'base = "mlc-d"\nname = "logs"\nmapping.log_blocks_per_plane = 4\n'
    )
    name = f"sim:{tmp_path / 'logs.toml'}" if preset == "logs" else f"sim:{preset}"
    plan = MeasurementPlan(warmup_requests=warmup, requests=2_000)
    with SimulatedDrive.open(name, varies=False) as drive:
        (one,) = drive.measure([(0, replace(WRITES, write_random=random))], plan)
        assert room_found(one, drive.preset, plan.to_json()) == room
        # Without its preset nobody knows of logs.
        found = room_found(one, {}, plan.to_json())
    assert found == (None if room == "logs" else room)


def test_measure_reports_a_burst(capsys) -> None:
    words = ["measure", "sim:bali-st91000640ns", "--queue-depth", "32", "--write-ratio", "1"]
    assert cli.main(words) == 0
    assert "a burst          random writes found room in the cache" in capsys.readouterr().out
    assert cli.main([*words, "--writes", "sustained"]) == 0
    assert "burst" not in capsys.readouterr().out
    assert cli.main([*words, "--warmup-requests", "20000"]) == 0
    assert "burst" not in capsys.readouterr().out


def test_a_burst_ends_before_it_has_used_up_what_was_erased() -> None:
    # A half-width that no measurement reaches.
    plan = replace(MeasurementPlan.of_kind("simulated"), half_width_ratio=1e-9)
    half = replace(WRITES, write_ratio=0.5, write_size=16 << 10, queue_depth=4)
    with SimulatedDrive.open("samsung-slc-32gb", varies=False) as drive:
        of_burst = int(0.01 * drive.capacity_bytes / (0.5 * (16 << 10)))
        large = replace(half, write_size=256 << 10)
        whole, least = drive.measure([(0, half), (1, large)], plan)
        assert (whole.requests, whole.stopped_by) == (of_burst - 2_000, "max_requests")
        # So many are counted in any case.
        assert (least.requests, least.stopped_by) == (5_000, "max_requests")
        # Nor does a workload that hardly writes end sooner.
        rare = replace(half, write_ratio=1e-305, read_random=0.5)
        (one,) = drive.measure([(0, rare)], replace(plan, max_requests=6_000))
        assert one.requests == 6_000
        # Reads leave the drive as it is, and a settled drive stays as it is.
        reads = replace(half, write_ratio=0.0, read_random=0.5)
        more = replace(plan, max_requests=of_burst)
        for work, how in ((reads, more), (half, replace(more, writes="sustained"))):
            (one,) = drive.measure([(0, work)], how)
            assert one.requests == of_burst
