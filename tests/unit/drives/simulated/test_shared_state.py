"""A drive that begins in another drive's state behaves as if it had made that state itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from drivelab.drives.in_order import measured_in_order
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import PresetSource, preset_at
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.write_pattern import WRITES, Writes
from drivelab.workloads.characteristics import Characteristics

SMALL = Path(__file__).parents[3] / "small_drive.toml"
PLAN = MeasurementPlan(requests=4000, warmup_requests=0, seed=5)
# Random writes: collection depends on where everything lies.
WORKLOADS = [Characteristics(write_ratio=1.0, queue_depth=8, write_size=131072)]


def changed(name: str, values: str) -> PresetSource:
    text = f'name = "{name}"\nbase = "{SMALL.stem}"\n{values}'
    return preset_at(str(SMALL.with_name(f"{name}.toml")), text)


def result_of(drive: SimulatedDrive, writes: Writes = "burst") -> str:
    plan = replace(PLAN, writes=writes)
    measured = [one.to_json() for one in measured_in_order(drive, WORKLOADS, plan)]
    return json.dumps(measured, sort_keys=True)


@pytest.mark.parametrize(
    "values",
    [
        "[timing]\nprogram_cell_ns = 700_000\n",
        "[host]\nwrite_command_ns = 40_000\n",
        # Another state, which has to be made: nothing of the first may be left in it.
        "[geometry]\nuser_capacity_bytes = 1_073_741_824\n",
    ],
)
@pytest.mark.parametrize("writes", WRITES)
def test_what_was_made_for_another_drive_changes_nothing(values: str, writes: Writes) -> None:
    first = SimulatedDrive("sim:first", changed("first", ""), varies=False)
    before = result_of(first, writes)
    other = changed("other", values)
    alone = result_of(SimulatedDrive("sim:other", other, varies=False), writes)
    shared = result_of(SimulatedDrive("sim:other", other, varies=False, like=first), writes)
    assert shared == alone
    assert shared != before
    # What the other did left nothing in the first.
    assert result_of(first, writes) == before
