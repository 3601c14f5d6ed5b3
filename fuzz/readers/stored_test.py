"""Runs of performance tests: steps are read as stored, and are rewritten unchanged."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from drivelab._core import histogram_bin
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.session import StepPlan, step_measurement
from drivelab.drives.stream_result import StreamResult
from drivelab.pts.journal import Action, read_record
from drivelab.pts.settings import Settings
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus
from fuzz.made_folder import input_of, run_of
from fuzz.reader import Reader


def _check(data: bytes) -> None:
    with run_of(data) as store:
        record = read_record(store)
    assert 0 < record.extent.range_bytes <= record.extent.capacity_bytes
    for step in record.steps:
        assert Action.from_json(json.loads(json.dumps(step.action.to_json()))) == step.action
        stored = json.loads(json.dumps(step.result.results_json()))
        assert Measurement.of_results(step.position, step.action.work, stored) == step.result
        assert step.iops >= 0
        assert step.streams


PURGE = {"outcome": "done", "method": "a fresh state", "reason": ""}


def _seeds() -> list[bytes]:
    stimulus = Stimulus(
        read_ratio=0.65, is_random=True, sizes=((4096, 0.5), (8192, 0.5)), range_bytes=2**30
    )
    done = OperationResult(
        requests=10,
        bytes=40960,
        latency_ns_mean=80_000.0,
        latency_ns_min=80_000,
        latency_ns_max=80_000,
        histogram={histogram_bin(80_000): 10},
    )
    known: dict[str, Any] = {"plan": StepPlan(seconds=60), "extra": {"energy_joules": 3.5}}
    one = StreamResult("stream 0", 60_000_000_000, done)
    two = dataclasses.replace(one, name="stream 1")
    alone, twice = Stimuli((stimulus,)), Stimuli((stimulus, stimulus))
    result = step_measurement(0, alone, alone.streams(), 60_000_000_000, [one], **known)
    both = step_measurement(1, twice, twice.streams(), 60_000_000_000, [one, two], **known)
    run = Action("run", "rounds", round=1, stimulus=stimulus, seconds=60.0)
    entries = [
        {"action": Action("purge", "purge").to_json(), "result": PURGE},
        {"action": run.to_json(), "result": result.results_json()},
        {
            "action": dataclasses.replace(run, beside=(stimulus,), shares=(0.5, 0.5)).to_json(),
            "result": both.results_json(),
        },
        {"action": Action("end", "end").to_json(), "result": {}},
    ]
    header = {
        "kind": "pts",
        "drive": {"kind": "simulated", "capacity_bytes": 2**36, "block_bytes": 512},
        "pts": {"test": "iops", "settings": Settings("enterprise", 1.0, 2, 16).to_json()},
    }
    return [input_of(header, entries), input_of(header, entries[1:2])]


READER = Reader(
    "stored_test",
    (
        "drivelab.pts.journal",
        "drivelab.pts.settings",
        "drivelab.drives.session",
        "drivelab.workloads.stimulus",
    ),
    _check,
    _seeds,
)
