"""The cost of a campaign, estimated on a smaller drive: the large one is not prepared."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab.campaign.forecast import forecast_by_pilot
from drivelab.drives.naming import open_drive, open_simulated
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import UsageError
from drivelab.preset_fit import smaller
from drivelab.preset_fit.smaller import MOST_STATE_BYTES, forecast_on_smaller, smaller_drive
from drivelab.workloads.design import parse_design

PLAN = MeasurementPlan.of_kind("simulated", requests=40, warmup_requests=10, seed=2)


def design(count: int = 20):
    return parse_design(f"sobol:{count}").select(1, block_bytes=512).workloads


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give the capacities of the drives that are measured."""
    found = []
    measure = SimulatedDrive.measure

    def noted(self: SimulatedDrive, *words: object, **more: object):
        found.append(self.capacity_bytes)
        return measure(self, *words, **more)

    monkeypatch.setattr(SimulatedDrive, "measure", noted)
    return found


@pytest.mark.parametrize("name", ["x25m", "consumer-qlc", "enterprise-tlc-pcie4"])
def test_a_smaller_drive_is_built_like_the_large_one(name: str) -> None:
    drive = open_simulated(f"sim:{name}")
    like = smaller_drive(drive)
    assert MOST_STATE_BYTES / 4 < like.session_bytes < 4.5 * MOST_STATE_BYTES
    assert like.capacity_bytes < drive.capacity_bytes / 5
    for part in ("channels", "ways_per_channel", "page_size_bytes", "pages_per_block"):
        assert like.preset["geometry"][part] == drive.preset["geometry"][part]
    assert like.preset["timing"] == drive.preset["timing"]


def test_a_smaller_array_has_smaller_members(tmp_path: Path) -> None:
    drive = open_simulated("sim:array-x25m-raid5")
    assert smaller_drive(drive).capacity_bytes < drive.capacity_bytes / 20
    mine = 'name = "mine"\nsummary = "mine"\nbase = "x25m"\n[timing]\n'
    (tmp_path / "mine.toml").write_text(mine)
    array = 'kind = "raid0"\nmember = "mine"\nmembers = 2\nstripe_bytes = 65536\n'
    (tmp_path / "two.toml").write_text(
        f'name = "two"\nsummary = "two"\n{array}[variability]\nsigma = 0.0\n'
    )
    two = open_simulated(f"sim:{tmp_path / 'two.toml'}")
    like = smaller_drive(two)
    assert like.preset["members"] == 2
    assert like.capacity_bytes < two.capacity_bytes / 10


def test_a_large_drive_is_not_prepared(asked: list[int]) -> None:
    drive = open_simulated("sim:x25m")
    cost = forecast_on_smaller(drive, design(), PLAN)
    assert asked
    assert max(asked) < drive.capacity_bytes / 5
    assert cost.pilot_capacity_bytes == asked[0]
    # Times are those of the large drive, give or take what other places of its map do to them.
    whole = forecast_by_pilot(drive, design(), PLAN)
    assert cost.drive_seconds == pytest.approx(whole.drive_seconds, rel=0.25)
    assert cost.written_bytes == pytest.approx(whole.written_bytes, rel=0.1)


def test_what_cannot_be_made_smaller_costs_what_the_plan_says(
    asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_: SimulatedDrive) -> SimulatedDrive:
        raise UsageError("it is an array")

    monkeypatch.setattr(smaller, "smaller_drive", none)
    cost = forecast_on_smaller(open_simulated("sim:x25m"), design(), PLAN)
    assert (asked, cost.pilot_workloads, cost.settling_bytes) == ([], 0, 0)
    assert cost.drive_seconds is cost.host_seconds is None
    assert cost.written_bytes > 0


def test_what_needs_no_preparing_is_asked_itself() -> None:
    with open_drive("sim:sas-15k") as drive:
        cost = forecast_on_smaller(drive, design(8), PLAN)
        assert cost.pilot_capacity_bytes == drive.capacity_bytes
