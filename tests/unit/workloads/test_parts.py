"""The parts of a run: stretches of indices, in order."""

from __future__ import annotations

import json

import pytest

from drivelab.errors import UsageError
from drivelab.workloads.parts import PART_NAMES, Parts


def test_parts_are_stretches_one_after_the_other() -> None:
    parts = Parts(training=3, calibration=2, check=0, sweeps=4)
    assert parts.total == 9
    assert [parts.part_of(index) for index in range(9)] == (
        ["training"] * 3 + ["calibration"] * 2 + ["sweeps"] * 4
    )
    assert [index for name in PART_NAMES for index in parts.range(name)] == list(range(9))
    assert list(parts.range("check")) == []


@pytest.mark.parametrize("index", [-1, 9])
def test_an_index_beyond_the_run_is_in_no_part(index: int) -> None:
    with pytest.raises(UsageError, match=f"measurement {index} is in no part of a run of 9"):
        Parts(9).part_of(index)


def test_an_unknown_part_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(KeyError):
        Parts(9).range("holdout")  # type: ignore[arg-type]


def test_json_gives_the_parts_back() -> None:
    parts = Parts(240, 60, 1000, 75)
    stored = json.loads(json.dumps(parts.to_json()))
    assert stored == {"training": 240, "calibration": 60, "check": 1000, "sweeps": 75}
    assert Parts.from_json(stored) == parts


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        {"training": 1},
        {"training": 1, "calibration": 0, "check": 0, "sweeps": 0, "more": 0},
        {"training": -1, "calibration": 0, "check": 0, "sweeps": 0},
        {"training": 1.0, "calibration": 0, "check": 0, "sweeps": 0},
        {"training": True, "calibration": 0, "check": 0, "sweeps": 0},
        {"training": "1", "calibration": 0, "check": 0, "sweeps": 0},
    ],
)
def test_what_are_no_parts_is_refused(stored: object) -> None:
    with pytest.raises(UsageError, match="part"):
        Parts.from_json(stored)
