"""Campaigns that ask round by round: saved before they are measured, unchanged when resumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from fake_drive import FakeDrive, workloads

from drivelab.campaign.kind import CAMPAIGN
from drivelab.campaign.rounds import Asked, Measured, run_rounds
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.write_pattern import write_pattern
from drivelab.errors import DamagedError, RunError, UsageError
from drivelab.store import RunStore
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from drivelab.workloads.probes import every_probe, is_rewrites

PLAN = MeasurementPlan(requests=10)
POOL = {"training": workloads(30), "calibration": workloads(40)[30:], "chosen": workloads(30)}


class Asking:
    """Asks for the next three to train on and one to calibrate with, until there are enough."""

    note = "nothing known"
    seconds_left = None
    bound = "about"

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.seen: list[Measured] = []

    @property
    def expected_total(self) -> int:
        return 4 * self.rounds

    @property
    def ending(self) -> dict[str, Any]:
        return {"rounds": self.rounds}

    def next_round(self, measured: Measured) -> Sequence[Asked]:
        self.seen.append(measured)
        done = measured.parts.calibration
        if done >= self.rounds:
            return []
        part = "training" if done % 2 == 0 else "chosen"
        return [
            Asked(part, tuple(range(3 * done, 3 * done + 3))),
            Asked("calibration", (done,)),
        ]


def rounds(path: Path, drive: FakeDrive, asking: Asking, **changes: Any) -> RunStore:
    settings = {"plan": PLAN, "pool": POOL, "population": "forty"} | changes
    pool, plan = settings.pop("pool"), settings.pop("plan")
    return run_rounds(
        drive, pool, plan, path, asking, design_name="fake", left_out=0, progress=False, **settings
    )


def test_it_is_complete_once_nothing_more_is_asked_for(tmp_path: Path) -> None:
    with rounds(tmp_path / "run", FakeDrive(), Asking(3)) as store:
        found = CAMPAIGN.standing(store)
        assert (found.is_complete, found.planned) == (True, 12)
    with pytest.raises(RunError):
        rounds(tmp_path / "stopped", FakeDrive(fail_at={5: RunError("gone")}), Asking(3))
    with RunStore.open(tmp_path / "stopped") as store:
        found = CAMPAIGN.standing(store)
        assert (found.is_complete, found.planned) == (False, None)


def test_rounds_follow_each_other_until_nothing_more_is_asked_for(tmp_path: Path) -> None:
    drive, asking = FakeDrive(), Asking(3)
    with rounds(tmp_path / "run", drive, asking) as store:
        header, measurements = store.header, stored_measurements(store)
    assert drive.batches == [4, 4, 4]
    assert [len(seen.measurements) for seen in asking.seen] == [0, 4, 8, 12]
    assert header["design"]["workloads"] == 12
    parts = Parts.from_json(header["design"]["parts"])
    assert parts.counts == Parts(6, 3, chosen=3).counts
    assert [parts.part_of(index) for index in range(4, 8)] == ["chosen"] * 3 + ["calibration"]
    pool = [*POOL["training"][3:6], POOL["calibration"][1]]
    assert [one.characteristics for one in measurements[4:8]] == pool
    assert header["ended"] == {"rounds": 3}
    assert (tmp_path / "run" / "measurements.csv").is_file()


def test_a_run_that_stopped_in_a_round_goes_on_with_what_it_asked_for(tmp_path: Path) -> None:
    class Broken(FakeDrive):
        def measure(self, work, plan):
            for place, answer in enumerate(super().measure(work, plan)):
                if len(self.measured) > 6:
                    raise RunError("the drive is gone")
                yield answer
                assert place >= 0

    with pytest.raises(RunError, match="6 measurements are saved"):
        rounds(tmp_path / "run", Broken(), Asking(3))
    with RunStore.open(tmp_path / "run") as store:
        assert [one["part"] for one in store.header["asked"]] == [
            "training", "calibration", "chosen", "calibration",
        ]  # fmt: skip
        assert len(store.done()) == 6
    drive = FakeDrive()
    rounds(tmp_path / "run", drive, Asking(3)).close()
    assert drive.batches == [2, 4]
    rounds(tmp_path / "other", FakeDrive(), Asking(3)).close()
    texts = [(tmp_path / name / "measurements.csv").read_bytes() for name in ("run", "other")]
    assert texts[0] == texts[1]


def test_a_round_begins_with_the_writes_that_the_last_one_ended_with(tmp_path: Path) -> None:
    kinds = [
        Characteristics(write_ratio=1.0),
        Characteristics(write_ratio=1.0, write_random=0.0),
        Characteristics(),
    ]
    mixed = [replace(kinds[place % 3], queue_depth=1 + place) for place in range(30)]
    pool = {**POOL, "training": mixed, "chosen": mixed}
    plan = replace(PLAN, writes="sustained")
    drive = FakeDrive()
    rounds(tmp_path / "run", drive, Asking(3), pool=pool, plan=plan).close()
    with RunStore.open(tmp_path / "run") as store:
        by_index = {one.index: one.characteristics for one in stored_measurements(store)}
    found = [write_pattern(by_index[index]) for index in drive.measured]
    # Three of each round are of three kinds, and what calibrates only reads.
    changes = [kind for kind, _ in groupby(kind for kind in found if kind is not None)]
    assert changes == ["in order", "small at random", "in order", "small at random"]


def test_a_complete_run_goes_on_where_more_is_asked_for(tmp_path: Path) -> None:
    rounds(tmp_path / "run", FakeDrive(), Asking(2)).close()
    drive = FakeDrive()
    rounds(tmp_path / "run", drive, Asking(3)).close()
    assert drive.batches == [4]
    idle = FakeDrive()
    rounds(tmp_path / "run", idle, Asking(1)).close()
    assert idle.measured == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"plan": MeasurementPlan(requests=10, seed=1)}, "seed: 0 before, 1 now"),
        ({"plan": replace(PLAN, writes="sustained")}, "writes: burst before, sustained now"),
        ({"pool": POOL | {"calibration": workloads(50)[40:]}}, "design pool SHA-256: [0-9a-f]+"),
    ],
)
def test_another_run_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    rounds(tmp_path / "run", FakeDrive(), Asking(1)).close()
    with pytest.raises(UsageError, match=message):
        rounds(tmp_path / "run", FakeDrive(), Asking(1), **changes)


@pytest.mark.parametrize(
    "asked",
    [
        {"part": "none", "places": []},
        {"part": "chosen", "places": [30]},
        {"places": [1]},
        {"part": "training", "places": [1], "requests": 0},
    ],
)
def test_what_it_never_asked_for_is_damage(tmp_path: Path, asked: dict[str, Any]) -> None:
    rounds(tmp_path / "run", FakeDrive(), Asking(1)).close()
    with RunStore.open(tmp_path / "run") as store:
        header = store.header
    with RunStore.open_to_append(tmp_path / "run", header) as store:
        store.tell({"asked": [asked]})
    with pytest.raises(DamagedError, match="it asked for"):
        rounds(tmp_path / "run", FakeDrive(), Asking(2))


def test_what_fails_is_tried_again_by_the_next_start_only(tmp_path: Path) -> None:
    drive = FakeDrive("real", fail_at={5: RunError("a bad block")})
    with rounds(tmp_path / "run", drive, Asking(3), on_failure="continue") as store:
        assert [failure.index for failure in store.failures()] == [5]
        assert len(store.done()) == 11
    again = FakeDrive("real")
    with rounds(tmp_path / "run", again, Asking(3), on_failure="continue") as store:
        assert store.failures() == []
    assert again.measured == [5]


def test_what_says_its_requests_follows_a_plan_of_its_own_and_comes_last(tmp_path: Path) -> None:
    plans: list[tuple[MeasurementPlan, list[int]]] = []

    class Watched(FakeDrive):
        def measure(self, work, plan):
            plans.append((plan, [index for index, _ in work]))
            return super().measure(work, plan)

    class WithFills(Asking):
        def next_round(self, measured: Measured) -> Sequence[Asked]:
            if measured.asked:
                return []
            return [Asked("fills", (1,), 70), Asked("training", (0, 1)), Asked("fills", (0,), 8)]

    pool = {**POOL, "fills": workloads(2)}
    plan = replace(PLAN, warmup_requests=20)
    with rounds(tmp_path / "run", Watched(), WithFills(1), pool=pool, plan=plan) as store:
        header = store.header
    assert [sorted(indices) for _, indices in plans] == [[1, 2], [0], [3]]
    assert [one.requests for one, _ in plans] == [10, 70, 8]
    assert [one.warmup_requests for one, _ in plans] == [20, 0, 0]
    assert header["asked"][0] == {"part": "fills", "places": [1], "requests": 70}
    # A run of a version that had no fills resumes with them.
    with rounds(tmp_path / "old", FakeDrive(), Asking(1), plan=plan) as store:
        assert store.header["design"]["pool"] == header["design"]["pool"]
        assert store.header["design"]["pool_sha256"] == header["design"]["pool_sha256"]


def test_a_run_without_writes_to_a_few_places_resumes_with_them(tmp_path: Path) -> None:
    """Versions before these probes began runs whose pool has only the others."""
    probes = every_probe(1 << 30)
    old = {**POOL, "probes": [one for one in probes if not is_rewrites(one)]}
    with rounds(tmp_path / "run", FakeDrive(), Asking(1), pool=old) as store:
        begun = len(stored_measurements(store))
    with rounds(tmp_path / "run", FakeDrive(), Asking(2), pool={**POOL, "probes": probes}) as store:
        assert len(stored_measurements(store)) > begun
    with pytest.raises(UsageError, match="design pool"):
        rounds(tmp_path / "run", FakeDrive(), Asking(2), pool={**POOL, "probes": probes[1:]})
