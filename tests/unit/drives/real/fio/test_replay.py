"""Recorded traces on a real file: what fio is given, what it sends, and how late that was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.made_trace import msr_file

from drivelab._core import Completions, histogram_bin
from drivelab.drives.lateness import LATE_NS
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio import measurement as fio_measurement
from drivelab.drives.real.fio import replay as fio_replay
from drivelab.drives.real.fio.asked import check_step
from drivelab.drives.real.fio.drive import FioDrive, open_real_drive
from drivelab.drives.real.fio.program import FioOutput, run_fio
from drivelab.drives.real.fio.replay_asked import USUAL_JOBS, check_replay, jobs_of
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.workloads.recorded import RecordedFiles
from drivelab.workloads.trace import Request, Trace

KIB, MIB = 2**10, 2**20
CAPACITY = 8 * MIB
PLAN = MeasurementPlan.of_kind("real", seed=3)
MS = 1_000_000


def requests_of(count: int, gap_ns: int) -> tuple[Request, ...]:
    """Give a request each so many ns: two of three read 4 KiB, the third writes 8 KiB."""
    kinds = (("read", 4 * KIB), ("read", 4 * KIB), ("write", 8 * KIB))
    return tuple(
        (number * gap_ns, action, number * 7919 % 512 * 8 * KIB, size)
        for number in range(count)
        for action, size in (kinds[number % 3],)
    )


@pytest.fixture(scope="module")
def drive(require_tool: Callable[[str], Path], drive_folder: Path) -> Iterator[FioDrive]:
    require_tool("fio")
    with open_real_drive(str(drive_folder / "replayed.bin"), size_bytes=CAPACITY) as drive:
        yield drive


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, int, int]]]:
    """Give what each job of fio sent, in order."""
    kept: list[list[tuple[str, int, int]]] = []

    class Kept:
        merged = Completions.merged

        def __new__(cls, log: bytes) -> Any:
            rows = [list(map(int, line.split(b", "))) for line in log.splitlines()]
            kept.append([(("read", "write")[row[2]], row[4], row[3]) for row in rows])
            return Completions(log)

    monkeypatch.setattr(fio_replay, "Completions", Kept)
    return kept


def asked(trace: Trace) -> list[tuple[str, int, int]]:
    return [(action, offset, size) for _, action, offset, size in trace.requests]


def waits_ms(trace: Trace, jobs: int, lead_ms: int) -> list[list[int]]:
    segments = trace.on_real_drive(CAPACITY, jobs)
    assert segments.next(10_000, 10**18) is not None
    iologs = segments.timed_iologs("/f", jobs, lead_ms)
    lines = [[line.split() for line in iolog.decode().splitlines()] for iolog in iologs]
    return [[int(line[2]) for line in job if line[1:2] == ["wait"]] for job in lines]


def test_every_request_is_sent_at_its_time(
    drive: FioDrive, sent: list[list[tuple[str, int, int]]]
) -> None:
    trace = Trace(requests_of(800, 2_500_000))
    (measured,) = drive.measure([(7, trace)], PLAN)
    assert [job for job in sent if job] == [asked(trace)[job::USUAL_JOBS] for job in range(64)]
    assert measured.read is not None
    assert measured.write is not None
    assert (measured.read.requests, measured.read.bytes) == (534, 534 * 4 * KIB)
    assert (measured.write.requests, measured.write.bytes) == (266, 266 * 8 * KIB)
    assert sum(measured.write.histogram.values()) == 266
    (stream,) = measured.streams
    assert stream.lateness is not None
    assert stream.lateness.requests == 800
    # Half of them, whatever else the machine does.
    assert stream.lateness.percentile_ns(50.0) < LATE_NS
    assert measured.duration_ns >= 799 * 2_500_000 - MS
    assert measured.extra == {"segments": 1, "queue_depth": USUAL_JOBS}
    assert (measured.index, measured.workload, measured.stopped_by) == (7, trace, "requests")


@pytest.mark.parametrize("speed", [1.0, None])
def test_a_single_request_takes_as_long_as_its_latency(
    drive: FioDrive, speed: float | None
) -> None:
    (measured,) = drive.measure([(0, Trace(requests_of(1, 0), speed=speed, depth=1))], PLAN)
    assert measured.read is not None
    # fio's clock counts milliseconds, and a read of a file takes less than one.
    assert measured.duration_ns >= measured.read.latency_ns_max
    assert measured.streams[0].duration_ns == measured.duration_ns


def latencies(*latencies_ns: int) -> OperationResult:
    mean = sum(latencies_ns) / len(latencies_ns)
    bins: dict[int, int] = {}
    for each in map(histogram_bin, latencies_ns):
        bins[each] = bins.get(each, 0) + 1
    ends = min(latencies_ns), max(latencies_ns)
    return OperationResult(len(latencies_ns), 512, mean, *ends, bins)


@pytest.mark.parametrize(
    ("clock_ns", "depth", "done", "expected"),
    [
        (0, 64, [latencies(80_000), None], 80_000),
        # The longest of all kinds.
        (0, 64, [latencies(80_000), latencies(300_000), latencies(90_000)], 300_000),
        # One after the other, or two at a time.
        (0, 1, [latencies(80_000, 90_000), latencies(70_000)], 240_000),
        (0, 2, [latencies(80_000, 90_000), latencies(70_000)], 120_000),
        # The clock decides as soon as it shows more.
        (MS, 1, [latencies(80_000, 90_000), None], MS),
        (MS, 1, [latencies(1_700_000), None], 1_700_000),
        (0, 1, [None, None], 1),
    ],
)
def test_a_replay_takes_at_least_as_long_as_its_latencies(
    clock_ns: int, depth: int, done: list[OperationResult | None], expected: int
) -> None:
    assert fio_replay._duration_ns(clock_ns, depth, *done) == expected


def test_times_are_those_of_the_recording_divided_by_the_speed() -> None:
    requests = requests_of(800, 2_500_000)
    recorded = waits_ms(Trace(requests), 3, 10)
    twice = waits_ms(Trace(requests, speed=2.0), 3, 10)
    due_ns = [at_ns for at_ns, *_ in requests]
    assert recorded == [[10 + at // MS for at in due_ns[job::3]] for job in range(3)]
    assert twice == [[10 + at // 2 // MS for at in due_ns[job::3]] for job in range(3)]


def test_a_drive_that_is_too_slow_was_late(drive: FioDrive) -> None:
    trace = Trace(tuple((at, "read", 0, 4 * MIB) for at in range(100)), depth=1)
    (measured,) = drive.measure([(0, trace)], PLAN)
    lateness = measured.streams[0].lateness
    assert lateness is not None
    assert lateness.was_late
    assert "did not keep up" in str(lateness.caution())
    # The last waited for all others, one after the other.
    assert measured.read is not None
    waited_ns = 99 * measured.read.latency_ns_min
    assert lateness.late_ns_max >= waited_ns - 2 * MS
    assert lateness.late_ns_max <= measured.duration_ns


@pytest.mark.parametrize("depth", [1, 4])
def test_as_fast_as_possible_keeps_the_order_and_the_depth(
    drive: FioDrive, sent: list[list[tuple[str, int, int]]], depth: int
) -> None:
    trace = Trace(requests_of(600, 10**9), speed=None, depth=depth)
    (measured,) = drive.measure([(0, trace)], PLAN)
    (job,) = sent
    if depth == 1:
        assert job == asked(trace)
    assert sorted(job) == sorted(asked(trace))
    assert measured.duration_ns < 60 * 10**9
    assert measured.streams[0].lateness is None
    assert measured.extra == {"segments": 1, "queue_depth": depth}


def test_fio_keeps_the_mean_of_the_recorded_depths(drive: FioDrive, tmp_path: Path) -> None:
    trace = Trace.of_files(RecordedFiles((str(msr_file(tmp_path)),)), speed=None, fit="scale")
    assert trace.facts is not None
    assert trace.facts.depth_mean == pytest.approx(2.0, abs=0.1)
    (measured,) = drive.measure([(0, trace)], PLAN)
    assert measured.extra["queue_depth"] == 2
    assert measured.requests == 300


@pytest.mark.parametrize("fit", ["wrap", "scale"])
def test_what_lies_beyond_the_drive_is_fitted_to_it(
    drive: FioDrive, sent: list[list[tuple[str, int, int]]], fit: str
) -> None:
    far = 1000 * MIB
    requests = tuple((0, "read", far * (k % 4) + 4 * KIB * k, 4 * KIB) for k in range(40))
    (measured,) = drive.measure([(0, Trace(requests, fit=fit))], PLAN)
    offsets = {"wrap": [far * (k % 4) % CAPACITY for k in range(40)]}
    offsets["scale"] = [MIB * (k % 4) for k in range(40)]
    expected = [("read", offsets[fit][k] + 4 * KIB * k, 4 * KIB) for k in range(40)]
    assert sorted(each for job in sent for each in job) == sorted(expected)
    assert measured.requests == 40


@pytest.mark.parametrize("speed", [1.0, None])
def test_flushes_are_sent_and_timed(drive: FioDrive, speed: float | None) -> None:
    requests: list[Request] = []
    for number in range(20):
        at_ns = number * 5 * MS
        requests += [(at_ns, "write", number * 8 * KIB, 4 * KIB), (at_ns, "flush", 0, 0)]
    requests.append((100 * MS, "read", 0, 4 * KIB))
    trace = Trace(tuple(requests), speed=speed, depth=4)
    (measured,) = drive.measure([(0, trace)], PLAN)
    flush = measured.streams[0].flush
    assert flush is not None
    assert (flush.requests, flush.bytes) == (20, 0)
    assert measured.write is not None
    assert measured.write.requests == 20


def test_a_segment_may_be_a_flush_alone(drive: FioDrive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fio_replay, "MOST_SECONDS", 0.5)
    reads = [(k * MS, "read", 0, 4 * KIB) for k in range(3)]
    trace = Trace((*reads, (600 * MS, "flush", 0, 0)))
    (measured,) = drive.measure([(0, trace)], PLAN)
    assert measured.extra["segments"] == 2
    assert measured.streams[0].flush is not None
    assert measured.duration_ns == 600 * MS
    (measured,) = drive.measure([(0, Trace(trace.requests, speed=None, depth=2))], PLAN)
    assert measured.read is not None
    assert measured.read.requests == 3


@pytest.mark.parametrize("speed", [1.0, None])
def test_a_long_trace_goes_on_in_segments(
    drive: FioDrive,
    sent: list[list[tuple[str, int, int]]],
    monkeypatch: pytest.MonkeyPatch,
    speed: float | None,
) -> None:
    monkeypatch.setattr(fio_replay, "MOST_REQUESTS", 100)
    trace = Trace(requests_of(250, MS), speed=speed, depth=8)
    shares: list[float] = []
    drive.watch = shares.append
    (measured,) = drive.measure([(0, trace)], PLAN)
    drive.watch = None
    assert measured.extra["segments"] >= 3
    assert sorted(each for job in sent for each in job) == sorted(asked(trace))
    lateness = measured.streams[0].lateness
    assert (lateness is None) == (speed is None)
    if lateness is not None:
        assert lateness.requests == 250
        assert measured.duration_ns >= 248 * MS
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] <= 1.0


def test_a_request_that_is_missing_is_an_error(
    drive: FioDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drop_one(*args: Any, **options: Any) -> FioOutput:
        output = run_fio(*args, **options)
        output.report["jobs"][0]["read"]["total_ios"] -= 1
        return output

    monkeypatch.setattr(fio_measurement, "run_fio", drop_one)
    with pytest.raises(RunError, match="fio's numbers disagree"):
        list(drive.measure([(0, Trace(requests_of(10, 0)))], PLAN))


def test_what_cannot_be_replayed_is_refused_in_a_line() -> None:
    def refused(trace: Trace, capacity: int = CAPACITY, block: int = 512) -> str:
        with pytest.raises(UsageError) as caught:
            check_replay(trace, "a.bin", capacity, block, None)
        return str(caught.value)

    reads = requests_of(3, 0)
    assert "has 1 trim, which fio cannot" in refused(Trace((*reads, (0, "trim", 0, 512))))
    assert "neither reads nor writes" in refused(Trace(((0, "flush", 0, 0),)))
    far = Trace(((0, "read", CAPACITY, 512),))
    assert "--fit wrap or --fit scale, or a larger drive" in refused(far)
    check_replay(Trace(far.requests, fit="wrap"), "a.bin", CAPACITY, 512, None)
    odd = Trace(((0, "read", 0, 4 * KIB), (0, "read", 512, 4 * KIB)))
    assert "multiples of 512 bytes, and those of direct requests" in refused(odd, block=4 * KIB)
    check_replay(odd, "a.bin", CAPACITY, 512, None)
    with pytest.raises(CannotAnswerError, match=r"no writes on a.bin: it is mine"):
        check_replay(Trace(reads), "a.bin", CAPACITY, 512, "it is mine")
    assert "at most 256: fio sends no more" in refused(Trace(reads, depth=257))
    large = ((0, "read", 0, 64 * MIB),)
    assert "at most 16: requests of up to" in refused(Trace(large, depth=17), 64 * MIB)
    assert jobs_of(Trace(large), "a.bin") == 16
    with pytest.raises(CannotAnswerError, match=r"a trace is not a step on a.bin"):
        check_step("a.bin", CAPACITY, 512, Trace(reads), engine="libaio")


def test_a_replay_ends_at_its_end(drive: FioDrive) -> None:
    with pytest.raises(CannotAnswerError, match=r"is replayed to its end .*: leave seconds out"):
        list(drive.measure([(0, Trace(requests_of(3, 0)))], MeasurementPlan(seconds=1.0)))
