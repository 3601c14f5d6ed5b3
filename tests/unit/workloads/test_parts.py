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
    # What release 0.1.0 wrote: its runs go on, and are compared by it.
    assert stored == {"training": 240, "calibration": 60, "check": 1000, "sweeps": 75}
    assert Parts.from_json(stored) == parts
    assert parts.counts == {**stored, "chosen": 0, "probes": 0, "fills": 0}
    with_probes = Parts(240, 60, chosen=1, probes=20)
    assert Parts.from_json(json.loads(json.dumps(with_probes.to_json()))) == with_probes


def test_a_run_that_asks_round_by_round_has_a_stretch_a_part_and_round() -> None:
    parts = Parts.of_stretches(
        [("training", 3), ("calibration", 1), ("sweeps", 2), ("training", 2)]
    )
    assert [parts.part_of(index) for index in range(8)] == (
        ["training"] * 3 + ["calibration"] + ["sweeps"] * 2 + ["training"] * 2
    )
    assert parts.counts == Parts(5, 1, 0, 2).counts
    assert Parts.from_json(json.loads(json.dumps(parts.to_json()))) == parts
    assert parts.range("sweeps") == range(4, 6)
    with pytest.raises(ValueError, match="training has 2 stretches"):
        parts.range("training")
    with pytest.raises(UsageError, match="other numbers than its parts"):
        Parts.from_json({**parts.to_json(), "training": 6})


PARTS = {
    "training": 1,
    "calibration": 0,
    "check": 0,
    "sweeps": 0,
    "chosen": 0,
    "probes": 0,
    "fills": 0,
}


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        {"training": 1},
        {**PARTS, "more": 0},
        {**PARTS, "training": -1},
        {**PARTS, "training": 1.0},
        {**PARTS, "training": True},
        {**PARTS, "training": "1"},
        {**PARTS, "order": 1},
        {**PARTS, "order": [["training", -1]]},
        {**PARTS, "order": [["training"]]},
        {**PARTS, "order": [["holdout", 1]]},
    ],
)
def test_what_are_no_parts_is_refused(stored: object) -> None:
    with pytest.raises(UsageError, match="part"):
        Parts.from_json(stored)
