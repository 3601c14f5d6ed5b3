"""Every kind of workload on a simulated drive: from the stated condition, as long as it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drivelab.api import measurements as api
from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import USUAL_REQUESTS, MeasurementPlan
from drivelab.drives.session import StepPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.stream_result import StreamResult
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.side_by_side import Part, SideBySide
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus
from drivelab.workloads.trace import Trace
from drivelab.workloads.whole_pass import WholePass
from drivelab.workloads.workload import KINDS, Workload

MIB = 2**20
SMALL = (Path(__file__).parents[3] / "small_drive.toml").read_text()
# More than what ends by itself has.
PLAN = MeasurementPlan(seed=3, warmup_requests=10, requests=600)
TO_THE_END = MeasurementPlan(seed=3)
WRITES = Stimulus.of_size(4096, 0.0, 64 * MIB, queue_depth=4)
LOG = Stimulus.of_size(65536, 0.0, 8 * MIB, is_random=False, threads=2, range_start_bytes=64 * MIB)
ENDS = """warmup_requests = 20
requests = 300
[[stream]]
name = "database"
queue_depth = 8
write_ratio = 0.5
[[stream]]
name = "log"
rate_iops = 500
write_ratio = 1.0
"""
EACH: dict[str, Workload] = {
    "characteristics": Characteristics(write_ratio=0.5, queue_depth=4),
    "whole_pass": WholePass("write", True, 4096, 2 * MIB),
    "stimuli": Stimuli((WRITES, LOG)),
    "scenario": Scenario(ENDS),
    "trace": Trace(tuple((at * 100_000, "write", at * 8192, 4096) for at in range(50))),
    "side_by_side": SideBySide(
        (
            Part("reads", Characteristics(queue_depth=2), 16 * MIB),
            Part("log", Characteristics(write_ratio=1.0), 8 * MIB, 16 * MIB, rate_iops=2000),
        ),
        duration_ns=10**10,
        requests=200,
    ),
}


@pytest.fixture(scope="module")
def drive(tmp_path_factory) -> SimulatedDrive:
    path = tmp_path_factory.mktemp("drive") / "small.toml"
    path.write_text(SMALL)
    return SimulatedDrive.open(f"sim:{path}")


def requests_of(one: Measurement | StreamResult) -> int:
    return sum(part.requests for part in (one.read, one.write) if part is not None)


def test_each_kind_is_measured_and_knows_of_no_other(drive: SimulatedDrive) -> None:
    assert EACH.keys() == KINDS.keys()
    work = list(enumerate(EACH.values()))
    together = list(drive.measure(work, PLAN))
    alone = [next(iter(drive.measure([each], PLAN))) for each in reversed(work)]
    assert together == alone[::-1]
    counted = dict(zip(EACH, map(requests_of, together), strict=True))
    # A pass, a trace and a scenario that says when it is over are counted as they say.
    assert counted == {
        "characteristics": 600,
        "whole_pass": 512,
        "stimuli": 600,
        "scenario": 300,
        "trace": 50,
        "side_by_side": 200,
    }
    for one in together:
        assert Measurement.from_json(one.to_json()) == one


def test_of_several_stimuli_each_says_what_it_did(drive: SimulatedDrive) -> None:
    [both] = drive.measure([(0, EACH["stimuli"])], PLAN)
    pages, log = both.streams
    assert (pages.name, log.name) == ("stream 0", "stream 1")
    assert requests_of(pages) + requests_of(log) == requests_of(both) == 600
    [one] = drive.measure([(0, Stimuli((WRITES,)))], PLAN)
    assert one.streams == ()


MIXED = """requests = 400
[[stream]]
name = "database"
queue_depth = 4
write_ratio = 0.5
writes_per_flush = 8
range_bytes = 16_777_216
[[stream]]
name = "old files"
rate_iops = 2_000
write_ratio = 1.0
writes_as = "trim"
range_offset_bytes = 16_777_216
range_bytes = 16_777_216
"""


def test_of_a_scenario_each_stream_says_what_it_did_as_simulate_does(
    drive: SimulatedDrive,
) -> None:
    scenario = Scenario(MIXED)
    [measured] = drive.measure([(0, scenario)], PLAN)
    values = drive.simulate(scenario, seed=PLAN.seed).values["streams"]
    assert [each.name for each in measured.streams] == ["database", "old files"]
    for each, simulated in zip(measured.streams, values, strict=True):
        assert each.requests == simulated["requests"]
        assert each.iops == simulated["iops"]
        assert each.by_operation.keys() == simulated["operations"].keys()
        for name, done in each.by_operation.items():
            kept = done.to_json()
            assert kept == {key: simulated["operations"][name][key] for key in kept}
    database, old = measured.streams
    assert database.by_operation.keys() == {"read", "write", "flush"}
    assert old.by_operation.keys() == {"trim"}
    assert database.flush is not None
    assert database.flush.bytes == 0
    assert measured.requests == database.requests + old.requests == 400
    assert Measurement.from_json(measured.to_json()) == measured
    # What an older version stored says nothing of its streams.
    before = {name: value for name, value in measured.to_json().items() if name != "streams"}
    assert Measurement.from_json(before) == replace(measured, streams=())


def test_a_trace_of_trims_and_flushes_alone_is_measured(drive: SimulatedDrive) -> None:
    trace = Trace(((0, "trim", 0, 4096), (10, "trim", 8192, 4096), (100_000, "flush", 0, 0)))
    [measured] = drive.measure([(0, trace)], PLAN)
    [stream] = measured.streams
    assert (measured.read, measured.write, stream.name) == (None, None, "trace")
    # Trims give bytes up and move none.
    assert (measured.requests, measured.bytes) == (3, 0)
    assert stream.trim is not None
    assert (stream.trim.requests, stream.trim.bytes) == (2, 8192)
    assert stream.flush is not None
    assert stream.flush.requests == 1
    assert measured.latency_ns_max == stream.latency_ns_max > 0
    assert Measurement.from_json(measured.to_json()) == measured
    of_api = api.Measurement.of(measured, drive.name, drive.kind)
    assert "2 trims, latency" in of_api._repr_html_()
    assert "1 flushes" not in of_api._repr_html_()
    assert "2 trims and 1 flush recorded over" in repr(of_api)
    with drive.session(seed=1) as session:
        step = session.run(trace, StepPlan(), 0)
    assert (step.requests, step.stopped_by) == (3, "requests")
    assert [each.name for each in step.streams] == ["trace"]


def test_a_scenario_that_is_measured_is_the_one_that_is_simulated(drive: SimulatedDrive) -> None:
    scenario = EACH["scenario"]
    [measured] = drive.measure([(0, scenario)], PLAN)
    values = drive.simulate(scenario, seed=PLAN.seed).values
    assert measured.duration_ns == values["duration_ns"]
    assert requests_of(measured) == values["counted_requests"]


def test_a_scenario_without_an_end_takes_the_plan_s(drive: SimulatedDrive) -> None:
    endless = Scenario(ENDS.replace("requests = 300", ""))
    [measured] = drive.measure([(0, endless)], PLAN)
    assert requests_of(measured) == 600
    for each in (endless, EACH["characteristics"], EACH["stimuli"]):
        [usual] = drive.measure([(0, each)], TO_THE_END)
        assert usual.requests == USUAL_REQUESTS
        with (
            drive.session() as session,
            pytest.raises(UsageError, match="nothing ends the step: give seconds or total_bytes"),
        ):
            session.run(each, StepPlan(), 0)


@pytest.mark.parametrize("plan", [MeasurementPlan(), MeasurementPlan.of_kind("simulated")])
def test_what_ends_by_itself_is_not_cut_by_a_plan_that_nobody_chose(
    plan: MeasurementPlan, drive: SimulatedDrive
) -> None:
    # All writes of the trace take the same time: a half-width is reached at once.
    many = USUAL_REQUESTS + 100
    trace = Trace(tuple((at * 1_000_000, "write", at % 64 * 4096, 4096) for at in range(many)))
    whole_pass = WholePass("read", False, 512, many * 512)
    for each in (trace, whole_pass):
        [one] = drive.measure([(0, each)], plan)
        assert (one.requests, one.stopped_by) == (many, "requests")
    [asked] = drive.measure([(0, trace)], MeasurementPlan(requests=USUAL_REQUESTS))
    assert asked.requests == USUAL_REQUESTS


OF_THEIR_OWN = {"whole_pass": 512, "scenario": 300, "trace": 50}


@pytest.mark.parametrize("name", OF_THEIR_OWN)
def test_whatever_comes_first_ends_it_the_workload_or_the_plan(
    name: str, drive: SimulatedDrive
) -> None:
    workload, own = EACH[name], OF_THEIR_OWN[name]

    def measured(**plan: Any) -> Measurement:
        [one] = drive.measure([(0, workload)], MeasurementPlan(seed=3, **plan))
        return one

    def step(**plan: Any) -> Measurement:
        with drive.session(seed=3) as session:
            return session.run(workload, StepPlan(**plan), 0)

    whole, stepped = measured(requests=None), step()
    assert (whole.requests, whole.stopped_by) == (own, "requests")
    assert (stepped.requests, stepped.stopped_by) == (own, "requests")
    # An end that is later changes nothing.
    assert measured(requests=10_000, seconds=60.0) == whole
    assert step(seconds=60.0) == stepped
    # A half is what the plan ends first.
    seconds = whole.duration_ns / 2e9
    for one in (measured(requests=None, seconds=seconds), step(seconds=seconds)):
        assert 0 < one.requests < own
        assert one.stopped_by == "seconds"
    assert measured(requests=20).requests == 20
    if len(workload.streams()) == 1:
        assert step(total_bytes=20 * 4096).requests == 20
        assert step(total_bytes=20 * 4096).stopped_by == "bytes"
        assert step(total_bytes=1 << 30) == stepped
    sure = measured(requests=5, half_width_ratio=0.9)
    assert (sure.requests < own, sure.stopped_by) == (True, "half_width")
    if name == "scenario":
        # In the others requests are alike, and any half-width is reached.
        unsure = measured(requests=5, half_width_ratio=1e-9)
        assert (unsure.requests, unsure.stopped_by) == (own, "max_requests")


def test_every_kind_can_be_simulated(drive: SimulatedDrive) -> None:
    for name, each in EACH.items():
        counted = (OF_THEIR_OWN | {"side_by_side": 200}).get(name)
        simulation = drive.simulate(each, seed=3, requests=None if counted else 100)
        values = simulation.values
        assert values["counted_requests"] == (counted or 100)
        assert sum(stream["requests"] for stream in values["streams"]) == values["counted_requests"]
        assert [one["name"] for one in simulation.asked] == [
            one["name"] for one in values["streams"]
        ]


def test_what_the_drive_cannot_hold_is_refused(drive: SimulatedDrive) -> None:
    end = drive.capacity_bytes
    beyond: list[Workload] = [
        Stimuli((Stimulus.of_size(4096, 0.0, MIB, range_start_bytes=end),)),
        Trace(((0, "write", end, 512),)),
        Scenario(
            'requests = 1\n[[stream]]\nname = "a"\nqueue_depth = 1\n'
            f"range_offset_bytes = {end}\nrange_bytes = 4096"
        ),
    ]
    for one in beyond:
        with pytest.raises(UsageError, match="allowed: at most the drive's"):
            drive.check(one)


def test_a_formula_refuses_all_but_characteristics() -> None:
    drive = AnalyticDrive.open("x25m-yoo2014")
    for name, each in EACH.items():
        if name != "characteristics":
            with pytest.raises(CannotAnswerError, match="answers only workload characteristics"):
                drive.check(each)
