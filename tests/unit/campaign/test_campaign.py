"""Campaigns: saved one by one, resumed after any stop, refused if they differ."""

from __future__ import annotations

import csv
import dataclasses
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_drive
import pytest
from fake_drive import FakeDrive, workloads

from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.finished import finished_run
from drivelab.campaign.kind import campaign_rows
from drivelab.campaign.order import measuring_order
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import CannotAnswerError, RunError, TerminatedError, UsageError
from drivelab.runs.export import measurements_csv
from drivelab.runs.failures import MOST_FAILURES_IN_A_ROW
from drivelab.store import RunStore
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts

GOLDEN_ORDER = [7, 5, 2, 4, 9, 8, 3, 6, 0, 1]
PLAN = MeasurementPlan(requests=10)
ORDER = measuring_order(range(40), PLAN.seed)
DRIVE = {"name": "fake:simulated", "kind": "simulated"}


def campaign(path: Path, drive: FakeDrive, count: int = 40, **changes) -> RunStore:
    settings = {"plan": PLAN, "design_name": "fake"} | changes
    plan = settings.pop("plan")
    return run_campaign(drive, workloads(count), plan, path, progress=False, **settings)


def exported(path: Path) -> bytes:
    return (path / "measurements.csv").read_bytes()


@pytest.mark.parametrize("kind", ["simulated", "real"])
def test_everything_is_measured_once_in_random_order(tmp_path: Path, kind) -> None:
    drive = FakeDrive(kind)
    with campaign(tmp_path / "run", drive) as store:
        measurements = stored_measurements(store)
    assert drive.measured == ORDER
    assert sorted(ORDER) == list(range(40)) != ORDER
    assert drive.batches == [40]
    assert measurements == [
        fake_drive.answer(index, workload, PLAN) for index, workload in enumerate(workloads(40))
    ]


def test_order_is_random_keyed_and_keeps_when_some_are_done() -> None:
    order = measuring_order(range(1000), 7)
    assert order != measuring_order(range(1000), 8)
    assert measuring_order(range(500, 1000), 7) == [index for index in order if index >= 500]
    # Golden, so that it is the same on every machine and in every version.
    assert measuring_order(range(10), 0) == GOLDEN_ORDER
    # Neither end of the design is favoured: ranks of a fair shuffle correlate like 1 / sqrt(n).
    mean = 499.5
    covariance = sum((place - mean) * (index - mean) for place, index in enumerate(order))
    variance = sum((index - mean) ** 2 for index in order)
    assert abs(covariance / variance) < 4 / 1000**0.5


def test_header_says_what_was_measured(tmp_path: Path) -> None:
    parts = Parts(30, 4, 5, 1)
    with campaign(tmp_path / "run", FakeDrive(), parts=parts, population="forty of them") as store:
        header = store.header
    assert header["drive"] == {
        "name": "fake:simulated",
        "kind": "simulated",
        "capacity_bytes": 2**30,
        "identity": {"model": "fake"},
    }
    assert header["design"]["name"] == "fake"
    assert header["design"]["workloads"] == 40
    assert header["design"]["parts"] == {
        "training": 30,
        "calibration": 4,
        "check": 5,
        "sweeps": 1,
    }
    assert header["design"]["population"] == "forty of them"
    # Queue depths repeat after 32, sizes after 9.
    assert header["design"]["distinct_workloads"] == 40
    assert header["plan"] == PLAN.to_json()
    assert {"drivelab_version", "started_at", "host", "system"} <= set(header["origin"])


def test_real_drive_starts_the_next_measurement_when_the_last_is_stored(tmp_path: Path) -> None:
    stored_at_start: list[int] = []

    class Watching(FakeDrive):
        def measure(self, work, plan):
            for index, workload in work:
                with RunStore.open(tmp_path / "run") as store:
                    stored_at_start.append(len(store.done()))
                yield fake_drive.answer(index, workload, plan)

    campaign(tmp_path / "run", Watching("real"), count=5).close()
    assert stored_at_start == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["simulated", "real"])
@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (RunError("fio died"), "fio died; 21 of 40"),
        (KeyboardInterrupt(), "stopped; 21 of 40"),
        (TerminatedError(15), "terminated; 21 of 40"),
    ],
)
def test_stop_keeps_what_was_measured(tmp_path: Path, kind, failure, said) -> None:
    undisturbed = campaign(tmp_path / "undisturbed", FakeDrive(kind))
    undisturbed.close()
    drive = FakeDrive(kind, fail_at={ORDER[21]: failure})
    with pytest.raises(type(failure), match=said) as caught:
        campaign(tmp_path / "run", drive)
    assert "run the same command again" in str(caught.value)
    assert drive.closed_answers == len(drive.batches)
    again = FakeDrive(kind)
    campaign(tmp_path / "run", again).close()
    # What failed comes last.
    failed = ORDER[21:22] if kind == "real" and isinstance(failure, RunError) else []
    left = [index for index in ORDER[21:] if index not in failed]
    assert again.measured == left + failed
    assert exported(tmp_path / "run") == exported(tmp_path / "undisturbed")


def failing(*indices: int) -> FakeDrive:
    return FakeDrive("real", fail_at={index: RunError(f"no {index}") for index in indices})


def test_failures_are_kept_and_tried_again(tmp_path: Path) -> None:
    campaign(tmp_path / "undisturbed", FakeDrive("real")).close()
    drive = failing(3, 17)
    with campaign(tmp_path / "run", drive, on_failure="continue") as store:
        failures = store.failures()
    assert [(failure.index, failure.message) for failure in failures] == [
        (3, "no 3"),
        (17, "no 17"),
    ]
    assert all(failure.failed_at.endswith("+00:00") for failure in failures)
    assert drive.measured == [index for index in ORDER if index not in (3, 17)]
    assert drive.closed_answers == len(drive.batches) == 3
    rows = list(csv.DictReader(exported(tmp_path / "run").decode().splitlines()))
    assert len(rows) == 38
    again = failing(17)
    with campaign(tmp_path / "run", again, on_failure="continue") as store:
        assert [failure.index for failure in store.failures()] == [17]
    assert again.measured == [3]
    with campaign(tmp_path / "run", FakeDrive("real")) as store:
        assert store.failures() == []
    assert exported(tmp_path / "run") == exported(tmp_path / "undisturbed")


def test_a_drive_that_is_gone_ends_the_campaign(tmp_path: Path) -> None:
    drive = failing(*ORDER[5:])
    with pytest.raises(RunError) as caught:
        campaign(tmp_path / "run", drive, on_failure="continue")
    last = ORDER[4 + MOST_FAILURES_IN_A_ROW]
    assert str(caught.value).startswith(
        f"{MOST_FAILURES_IN_A_ROW} measurements in a row failed, the last: no {last}; 5 of 40"
    )
    # What is known to fail is tried again without ending the rest.
    with pytest.raises(RunError, match="in a row failed"):
        campaign(tmp_path / "run", failing(*ORDER[5:]), on_failure="continue")
    with campaign(tmp_path / "run", failing(*ORDER[5:25]), on_failure="continue") as store:
        assert len(store.failures()) == 20


@pytest.mark.parametrize("rule", ["stop", "continue"])
def test_failure_of_a_simulated_drive_always_stops(tmp_path: Path, rule) -> None:
    drive = FakeDrive("simulated", fail_at={ORDER[4]: RunError("out of memory")})
    with pytest.raises(RunError, match=r"^out of memory; 4 of 40"):
        campaign(tmp_path / "run", drive, on_failure=rule)
    with RunStore.open(tmp_path / "run") as store:
        assert store.failures() == []


def test_every_start_is_kept(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        campaign(tmp_path / "run", FakeDrive(fail_at={ORDER[9]: KeyboardInterrupt()}))
    campaign(tmp_path / "run", FakeDrive(), command="drivelab model fake").close()
    with campaign(tmp_path / "run", FakeDrive()) as store:
        starts = store.starts()
        assert store.header["origin"] == starts[0]
    # The third had nothing to do.
    assert [start["command"] for start in starts] == [None, "drivelab model fake"]
    for key in ("started_at", "host", "system", "numpy_version", "scikit_learn_version"):
        assert isinstance(starts[1][key], str)
    assert starts[1]["processors"] >= 1


def test_measurement_beyond_the_design_is_refused(tmp_path: Path) -> None:
    header = campaign(tmp_path / "run", FakeDrive()).header
    with RunStore.open_to_append(tmp_path / "run", header) as store:
        store.append(fake_drive.answer(40, Characteristics(), PLAN).to_json(), 40)
    with pytest.raises(RunError, match="measurement 40 is none of the 40 of its design"):
        campaign(tmp_path / "run", FakeDrive())
    with (
        RunStore.open(tmp_path / "run") as store,
        pytest.raises(RunError, match="measurement 40 is none"),
    ):
        stored_measurements(store)


def test_complete_run_measures_nothing_again(tmp_path: Path) -> None:
    campaign(tmp_path / "run", FakeDrive()).close()
    again = FakeDrive()
    campaign(tmp_path / "run", again).close()
    assert again.measured == []


@pytest.fixture
def file_run(tmp_path: Path) -> tuple[Path, str]:
    """Give a finished run on a file that was removed, and the file's name."""
    name = str(tmp_path / "bench.bin")
    drive = FakeDrive("real", identity={"path": name})
    drive.name = name
    campaign(tmp_path / "run", drive, design_name="huang2011:40").close()
    return tmp_path / "run", name


def test_finished_run_on_a_removed_file_needs_no_drive(file_run: tuple[Path, str]) -> None:
    path, name = file_run
    store = finished_run(path, name, PLAN, design_name="huang2011:40", size_bytes=2**30)
    assert store is not None
    with store:
        assert len(stored_measurements(store)) == 40


@pytest.mark.parametrize(
    "change",
    [
        {"plan": MeasurementPlan(seed=1, requests=10)},
        {"design_name": "huang2011:41"},
        {"size_bytes": 2**29},
        {"drive_name": "bench.bin"},
        {"path": "elsewhere"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_or_no_finished_run_needs_the_drive(
    file_run: tuple[Path, str], change: dict[str, Any]
) -> None:
    path, name = file_run
    asked = {"path": path, "drive_name": name, "plan": PLAN, "design_name": "huang2011:40"}
    asked |= change
    assert finished_run(Path(asked.pop("path")), **asked) is None


def test_a_finished_run_of_sustained_writes_is_no_burst(tmp_path: Path) -> None:
    drive = FakeDrive("real", identity={"path": str(tmp_path / "bench.bin")})
    drive.name = str(tmp_path / "bench.bin")
    lasting = replace(PLAN, writes="sustained")
    path = tmp_path / "run"
    campaign(path, drive, plan=lasting, design_name="huang2011:40").close()
    asked = {"drive_name": drive.name, "design_name": "huang2011:40"}
    assert finished_run(path, plan=PLAN, **asked) is None
    store = finished_run(path, plan=lasting, **asked)
    assert store is not None
    store.close()


def test_unfinished_run_or_existing_file_needs_the_drive(file_run: tuple[Path, str]) -> None:
    path, name = file_run
    Path(name).touch()
    assert finished_run(path, name, PLAN, design_name="huang2011:40") is None
    Path(name).unlink()
    with sqlite3.connect(path / "run.sqlite") as connection:
        connection.execute("DELETE FROM measurement WHERE position = 7")
    connection.close()
    assert finished_run(path, name, PLAN, design_name="huang2011:40") is None


@pytest.mark.parametrize(
    ("changes", "drive", "said"),
    [
        (
            {"plan": MeasurementPlan(seed=7, requests=10)},
            FakeDrive(),
            "seed: 0 before, 7 now",
        ),
        ({"plan": MeasurementPlan(requests=11)}, FakeDrive(), "requests: 10 before, 11 now"),
        ({"design_name": "other"}, FakeDrive(), "design name: fake before, other now"),
        (
            {"parts": Parts(39, 1)},
            FakeDrive(),
            "design calibration: 0 before, 1 now",
        ),
        ({"count": 41}, FakeDrive(), "design workloads: 40 before, 41 now"),
        ({}, FakeDrive(identity={"model": "x"}), "drive model: fake before, x now"),
        ({}, FakeDrive("closed_form"), "drive kind: simulated before, closed_form now"),
        ({}, FakeDrive(identity={"model": "fake", "more": 1}), "drive more: none before, 1 now"),
    ],
)
def test_other_campaign_is_refused(tmp_path: Path, changes, drive, said) -> None:
    campaign(tmp_path / "run", FakeDrive()).close()
    before = exported(tmp_path / "run")
    with pytest.raises(UsageError) as caught:
        campaign(tmp_path / "run", drive, **changes)
    assert said in str(caught.value)
    assert "choose another --out" in str(caught.value)
    assert drive.measured == []
    assert exported(tmp_path / "run") == before


def test_other_workloads_under_the_same_name_are_refused(tmp_path: Path) -> None:
    campaign(tmp_path / "run", FakeDrive(), count=2).close()
    others = [Characteristics(queue_depth=9), Characteristics(queue_depth=10)]
    with pytest.raises(UsageError, match="design workloads SHA-256"):
        run_campaign(
            FakeDrive(), others, PLAN, tmp_path / "run", design_name="fake", progress=False
        )


def test_volatile_identity_and_workers_may_change(tmp_path: Path) -> None:
    first = FakeDrive(identity={"model": "fake", "volatile": {"free_bytes": 1}})
    campaign(tmp_path / "run", first).close()
    second = FakeDrive(identity={"model": "fake", "volatile": {"free_bytes": 2}})
    campaign(tmp_path / "run", second, plan=dataclasses.replace(PLAN, workers=7)).close()
    assert second.measured == []


def test_impossible_workload_is_refused_before_anything_runs(tmp_path: Path) -> None:
    drive = FakeDrive()
    asked = [*workloads(3), Characteristics(queue_depth=2000)]
    with pytest.raises(CannotAnswerError, match="ends at queue depth 1000"):
        run_campaign(drive, asked, PLAN, tmp_path / "run", design_name="fake", progress=False)
    assert drive.measured == []
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("wrong", ["other index", "other workload", "too few"])
def test_answer_to_another_question_is_never_stored(tmp_path: Path, wrong: str) -> None:
    class Confused(FakeDrive):
        def measure(self, work, plan):
            for index, workload in work:
                if wrong == "too few" and index == ORDER[2]:
                    return
                yield fake_drive.answer(
                    index + (wrong == "other index"),
                    Characteristics(queue_depth=77) if wrong == "other workload" else workload,
                    plan,
                )

    with pytest.raises(RunError, match=r"fake:simulated answered .* when asked for"):
        campaign(tmp_path / "run", Confused())
    with RunStore.open(tmp_path / "run") as store:
        assert store.done() == (set(ORDER[:2]) if wrong == "too few" else set())


def test_export_holds_what_was_measured(tmp_path: Path) -> None:
    measurement = fake_drive.answer(3, Characteristics(queue_depth=4, read_size=4096), PLAN)
    (row,) = csv.DictReader(measurements_csv(campaign_rows([measurement]), DRIVE).splitlines())
    latency_ns = 10_000 + 4000 + 4096 // 3 + 3
    assert (row["drive"], row["drive_kind"]) == ("fake:simulated", "simulated")
    assert int(row["index"]) == 3
    assert int(row["read_size_bytes"]) == 4096
    assert int(row["queue_depth"]) == 4
    assert float(row["latency_ns_mean"]) == latency_ns
    assert int(row["latency_ns_p99_9"]) == latency_ns
    assert float(row["iops"]) == pytest.approx(1e9 / latency_ns, rel=1e-12)
    assert float(row["bandwidth_bytes_per_second"]) == pytest.approx(4096e9 / latency_ns, rel=1e-12)
    assert (row["write_requests"], row["waf"]) == ("", "1.5")
    # What has no effect is blank, as in the designs that are read back.
    assert (row["write_size_bytes"], row["read_stride_bytes"], row["part"]) == ("", "", "")


def test_export_of_mixed_runs_has_every_column() -> None:
    plain = dataclasses.replace(fake_drive.answer(0, Characteristics(), PLAN), extra={})
    rich = fake_drive.answer(1, Characteristics(), PLAN)
    first, second = csv.DictReader(
        measurements_csv(campaign_rows([plain, rich]), DRIVE).splitlines()
    )
    assert (first["waf"], second["waf"]) == ("", "1.5")
    assert isinstance(plain, Measurement)
