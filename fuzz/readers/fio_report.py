"""What fio prints, and its latency log: the numbers agree, or one line says what does not."""

from __future__ import annotations

import json
from typing import Any

from drivelab._core import Completions, histogram_bin, histogram_value
from drivelab.drives.measurement import Measurement
from drivelab.drives.real.fio.job import Segment
from drivelab.drives.real.fio.program import _split, message_of
from drivelab.drives.real.fio.result import check_segment
from drivelab.drives.real.fio.step_result import step_result
from drivelab.drives.session import StepPlan, step_measurement
from drivelab.drives.stream_result import streams_of_reads_and_writes
from drivelab.errors import RunError
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus
from fuzz.reader import Reader

_LOG = b"0, 83884, 0, 4096, 72134656, 0\n2, 11778, 1, 512, 0, 0\n2, 5000, 0, 4096, 8192, 0\n"


def _check(data: bytes) -> None:
    log, _, output = data.partition(b"\0")
    before, report, after = _split(output.decode(errors="replace"))
    remarks = (*before.splitlines(), *after.splitlines())
    message_of(remarks)
    try:
        completions = Completions(log)
        is_cut = check_segment(report, remarks, Segment(3, 0.002), completions)
        assert is_cut == (len(completions) < 3)
    except RunError as error:
        assert len(str(error).splitlines()) == 1
    # Of one stream, or of several that end together.
    jobs = report.get("jobs")
    streams = max(1, len(jobs)) if isinstance(jobs, list) else 1
    duration_ns, done = step_result(
        report,
        remarks,
        streams=streams,
        milliseconds=2,
        total_bytes=None,
        end_at_once=streams > 1,
    )
    if duration_ns:
        sent = _sent(len(done))
        by_stream = streams_of_reads_and_writes(sent.streams(), duration_ns, done)
        step = step_measurement(0, sent, sent.streams(), duration_ns, by_stream, plan=StepPlan())
        stored = json.loads(json.dumps(step.to_json()))
        assert Measurement.from_json(stored) == step


def _sent(streams: int) -> Stimuli:
    return Stimuli((Stimulus.of_size(4096, 0.5, 1 << 20),) * streams)


def _operation(latencies: list[int], size: int) -> dict[str, Any]:
    bins: dict[str, int] = {}
    for latency in latencies:
        key = str(histogram_value(histogram_bin(latency)))
        bins[key] = bins.get(key, 0) + 1
    count = len(latencies)
    return {
        "io_bytes": size * count,
        "runtime": 2,
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        "lat_ns": {
            "min": min(latencies, default=0),
            "max": max(latencies, default=0),
            "mean": sum(latencies) / max(count, 1),
            "N": count,
            "bins": bins,
        },
    }


def _seeds() -> list[bytes]:
    job = {
        "jobname": "segment",
        "error": 0,
        "job_runtime": 2,
        "read": _operation([83884, 5000], 4096),
        "write": _operation([11778], 512),
    }
    one = json.dumps({"fio version": "fio-3.33", "jobs": [job]}).encode()
    two = json.dumps({"jobs": [job, {**job, "error": 28}]}, indent=1).encode()
    return [
        _LOG + b"\0" + one,
        b"\0fio: a warning\n" + two + b"\nfio: another\n",
        _LOG[:31] + b"\0note\n" + one.replace(b'"error": 0', b'"error": 5'),
    ]


READER = Reader(
    "fio_report",
    (
        "drivelab.bounded_json",
        "drivelab.drives.real.fio.program",
        "drivelab.drives.real.fio.result",
        "drivelab.drives.real.fio.step_result",
        "drivelab.drives.measurement",
    ),
    _check,
    _seeds,
)
