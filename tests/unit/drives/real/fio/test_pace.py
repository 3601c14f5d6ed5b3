"""How much of a stream is sent next: few segments, bounded, and never one that counts nothing."""

from __future__ import annotations

from typing import Any

import pytest

from drivelab._core import Completions, CompletionWindow
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio import pace as fio_pace
from drivelab.drives.real.fio.job import Segment
from drivelab.drives.real.fio.pace import (
    LONGEST_SECONDS,
    MOST_REQUESTS,
    least_requests,
    next_segment,
)
from drivelab.workloads.characteristics import Characteristics

READS = Characteristics()


class PacedDrive:
    """A drive that answers `rate` requests a second, all with about the same latency."""

    def __init__(self, rate: float, workload: Characteristics = READS, spread: int = 0) -> None:
        self.rate = rate
        self.workload = workload
        self.spread = spread
        self.segments: list[Segment] = []

    def measure(self, **asked: Any) -> CompletionWindow:
        plan = MeasurementPlan.of_kind("real", **asked)
        window = CompletionWindow(
            warmup_requests=plan.warmup_requests,
            warmup_ns=round(plan.warmup_seconds * 1e9),
            requests=least_requests(plan),
            duration_ns=None if plan.seconds is None else round(plan.seconds * 1e9),
            half_width_ratio=plan.half_width_ratio,
            max_requests=plan.max_requests,
        )
        while (segment := next_segment(plan, self.workload, window)) is not None:
            assert 0 < segment.requests <= MOST_REQUESTS
            assert 0 < segment.seconds <= LONGEST_SECONDS
            self.segments.append(segment)
            # What is in flight when time is up completes too.
            in_time = int(segment.milliseconds * self.rate / 1000)
            sent = min(segment.requests, in_time + self.workload.queue_depth)
            stopped = sent < segment.requests
            window.add(
                Completions(self.log(sent)),
                filling=self.workload.queue_depth if len(self.segments) > 1 else 0,
                draining=self.workload.queue_depth - 1,
                stopped_ns=segment.milliseconds * 1_000_000 if stopped else None,
            )
            assert len(self.segments) < 100
        return window

    def log(self, sent: int) -> bytes:
        return b"".join(
            b"%d, %d, 0, 4096, 0, 0\n"
            % (number * 1000 / self.rate, 50_000 + number * 7919 % 104729 * self.spread)
            for number in range(sent)
        )


@pytest.mark.parametrize("rate", [50, 5000, 90_000])
@pytest.mark.parametrize("queue_depth", [1, 16])
def test_a_second_is_one_segment(rate: float, queue_depth: int) -> None:
    drive = PacedDrive(rate, Characteristics(queue_depth=queue_depth))
    window = drive.measure(seconds=1.0)
    assert (window.closed_by, window.duration_ns, len(drive.segments)) == ("seconds", 10**9, 1)
    assert window.requests == pytest.approx(rate, rel=0.01, abs=1)
    assert drive.segments[0].seconds == pytest.approx(1.2)


def test_a_drive_faster_than_expected_gets_another_segment() -> None:
    drive = PacedDrive(800_000, Characteristics(queue_depth=64))
    window = drive.measure(seconds=0.5, warmup_seconds=0.1)
    assert (window.closed_by, window.duration_ns) == ("seconds", 500_000_000)
    assert len(drive.segments) == 2
    # The second is sized by what was seen, and ends in time.
    assert drive.segments[1].requests > 800_000 * (drive.segments[1].seconds - 0.01)


def test_large_requests_are_not_expected_by_the_million() -> None:
    drive = PacedDrive(1000, Characteristics(read_size=2**20, queue_depth=16))
    drive.measure(seconds=1.0)
    assert drive.segments[0].requests < 15_000


def test_a_number_of_requests_is_one_segment_of_its_size() -> None:
    drive = PacedDrive(5000, Characteristics(queue_depth=8))
    window = drive.measure(requests=3000, warmup_requests=200, warmup_seconds=0.0)
    assert (window.closed_by, window.requests) == ("requests", 3000)
    assert [segment.requests for segment in drive.segments] == [3207]


def test_a_warm_up_by_time_is_a_segment_before_a_number_of_requests() -> None:
    drive = PacedDrive(5000, Characteristics(queue_depth=8))
    window = drive.measure(requests=3000, warmup_seconds=0.5)
    assert (window.closed_by, window.requests) == ("requests", 3000)
    assert window.opened_ns == 500_000_000
    assert [segment.seconds for segment in drive.segments][:1] == [0.5]
    assert len(drive.segments) == 2
    assert drive.segments[1].requests == pytest.approx(8 + 3000 + 7, abs=2)


def test_both_warm_ups_are_waited_for() -> None:
    drive = PacedDrive(1000)
    window = drive.measure(requests=500, warmup_requests=700, warmup_seconds=0.2)
    assert (window.requests, len(drive.segments)) == (500, 2)
    assert window.opened_ns == pytest.approx(700_000_000, abs=2_000_000)


def test_a_slow_drive_may_take_longer_for_a_number_of_requests() -> None:
    drive = PacedDrive(2)
    window = drive.measure(requests=200, warmup_seconds=0.0)
    assert (window.closed_by, window.requests) == ("requests", 200)
    assert [segment.seconds for segment in drive.segments] == [30.0, 120.0]


def test_time_ends_what_a_number_of_requests_does_not() -> None:
    drive = PacedDrive(100)
    window = drive.measure(requests=10_000, seconds=2.0, warmup_seconds=0.1)
    assert (window.closed_by, window.duration_ns) == ("seconds", 2 * 10**9)
    assert len(drive.segments) == 2


def test_a_half_width_is_approached_in_few_segments() -> None:
    drive = PacedDrive(50_000, spread=20)
    window = drive.measure(half_width_ratio=0.01)
    assert window.closed_by == "half_width"
    assert window.requests > 2000
    assert len(drive.segments) <= 4


def test_a_half_width_is_not_believed_at_once() -> None:
    drive = PacedDrive(50_000)
    window = drive.measure(half_width_ratio=0.5)
    assert (window.closed_by, window.requests) == ("half_width", 1000)
    assert drive.measure(half_width_ratio=0.5, max_requests=300).requests == 300
    assert drive.measure(half_width_ratio=0.5, requests=200).requests == 200


def test_a_half_width_that_is_not_reached_ends_at_the_most_requests() -> None:
    drive = PacedDrive(100_000, spread=20)
    window = drive.measure(half_width_ratio=1e-6, max_requests=50_000, seconds=100.0)
    assert (window.closed_by, window.requests) == ("max_requests", 50_000)
    assert len(drive.segments) <= 6


def test_long_measurements_are_cut_where_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fio_pace, "MOST_REQUESTS", 50_000)
    drive = PacedDrive(12_500, Characteristics(queue_depth=4))
    window = drive.measure(seconds=10.0, warmup_seconds=0.2)
    assert (window.closed_by, window.duration_ns) == ("seconds", 10**10)
    assert [segment.requests for segment in drive.segments][:2] == [50_000, 50_000]
    assert len(drive.segments) == 3


def test_milliseconds_are_never_fewer_than_asked() -> None:
    assert Segment(1, 0.2).milliseconds == 200
    assert Segment(1, 0.2001).milliseconds == 201
    assert Segment(1, 1e-9).milliseconds == 1
