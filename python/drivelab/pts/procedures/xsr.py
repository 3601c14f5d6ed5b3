"""Cross stimulus recovery: large sequential writes, small random ones, and large ones again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits import Axis, Cell, Page, Table
from drivelab.pts.cells import CellResult
from drivelab.pts.courses import course, ends_minutes, values_of
from drivelab.pts.journal import Action, Record, Step
from drivelab.pts.response_times import levels_table
from drivelab.pts.test import PtsTest, Section, Verdict
from drivelab.pts.words import minute_words

if TYPE_CHECKING:
    from drivelab.pts.applied_settings import AppliedSettings, Extent
    from drivelab.pts.bench import Bench
    from drivelab.pts.settings import Settings
    from drivelab.workloads.stimulus import Stimulus

_THREADS: Final = 1
_QUEUE_DEPTH: Final = 32
_TIME: Final = Axis("time (min)")
#: A transient is over when throughput stays within this share of the segment's last minute.
_NEAR: Final = 0.10
#: The mean includes fresher minutes, which a drive may never reach again.
_NEARLY_RECOVERED: Final = 0.99


@dataclass(frozen=True)
class Segment:
    """Several minutes of one stimulus."""

    name: str
    size_bytes: int
    is_random: bool
    minutes: int

    def stimulus(self, applied: AppliedSettings) -> Stimulus:
        """Return its stimulus."""
        return applied.stimulus(
            self.size_bytes,
            0.0,
            is_random=self.is_random,
            threads=_THREADS,
            queue_depth=_QUEUE_DEPTH,
        )


SEGMENTS: Final = (
    Segment("1 sequential 1024 KiB", 1024 * 1024, False, 8 * 60),
    Segment("2 random 8 KiB", 8192, True, 6 * 60),
    Segment("3 sequential 1024 KiB", 1024 * 1024, False, 8 * 60),
)
_MINUTES: Final = sum(segment.minutes for segment in SEGMENTS)


def _check(applied: AppliedSettings) -> None:
    for segment in SEGMENTS:
        segment.stimulus(applied)


def _carry_out(bench: Bench) -> None:
    bench.purge()
    bench.expect(_MINUTES)
    for segment in SEGMENTS:
        stimulus = segment.stimulus(bench.applied)
        for minute in range(1, segment.minutes + 1):
            bench.run(
                Action("run", "minutes", segment.name, minute, stimulus, bench.applied.minutes(1))
            )
            bench.save_if_due()


def _most_steps(_settings: Settings, _extent: Extent) -> int:
    # The first is the purge.
    return 1 + _MINUTES


def _segments(record: Record) -> dict[str, list[Step]]:
    found = {segment.name: record.of_phase("minutes", segment.name) for segment in SEGMENTS}
    return {name: steps for name, steps in found.items() if steps}


def recovery_minutes(segments: dict[str, list[Step]], share: float = 1.0) -> int | None:
    """Return the first minute of the third segment at or above a share of the first one's mean.

    Returns
    -------
    int or None
        Counted from 1; ``None`` if it never recovers, or the segment is not measured.
    """
    first, _, third = (segment.name for segment in SEGMENTS)
    if third not in segments:
        return None
    wanted = share * fmean(step.megabytes_per_second for step in segments[first])
    return next(
        (
            minute
            for minute, step in enumerate(segments[third], start=1)
            if step.megabytes_per_second >= wanted
        ),
        None,
    )


def transient_minutes(steps: Sequence[Step]) -> int:
    """Return how many minutes pass before throughput stays near that of the last minute."""
    last = steps[-1].megabytes_per_second
    away = [
        minute
        for minute, step in enumerate(steps, start=1)
        if abs(step.megabytes_per_second - last) > _NEAR * last
    ]
    return max(away, default=0)


def _values(name: str, steps: Sequence[Step]) -> dict[str, Any]:
    means = [step.latency_ms_mean for step in steps if step.latency_ms_mean is not None]
    longest = [step.latency_ms_max for step in steps if step.latency_ms_max is not None]
    return {
        "name": name,
        "minutes": len(steps),
        "first_bandwidth_bytes_per_second": steps[0].result.bandwidth_bytes_per_second,
        "last_bandwidth_bytes_per_second": steps[-1].result.bandwidth_bytes_per_second,
        "bandwidth_bytes_per_second_mean": 1e6 * CellResult(tuple(steps)).megabytes_per_second,
        "transient_minutes": transient_minutes(steps),
        "peak_latency_ns_mean": max(means) * 1e6 if means else None,
        "peak_latency_ns_max": max(longest) * 1e6 if longest else None,
        "bandwidth_bytes_per_second": [step.result.bandwidth_bytes_per_second for step in steps],
    }


def _sections(record: Record) -> list[Section]:
    segments = _segments(record)
    values = {
        "windows": [],
        "cells": [CellResult(tuple(steps)).to_json() for steps in segments.values()],
        "segments": [_values(name, steps) for name, steps in segments.items()],
        "recovery_minutes": recovery_minutes(segments),
        "recovery_to_99_percent_minutes": recovery_minutes(segments, _NEARLY_RECOVERED),
    }
    verdict: Verdict = "untested" if record.is_complete else "incomplete"
    return [Section("", verdict, 0, values)]


def _pages(record: Record) -> list[Page]:
    segments = _segments(record)
    if not segments:
        return []
    steps = [step for each in segments.values() for step in each]
    minutes = ends_minutes(steps)
    rates, mean, longest = [], [], []
    begin = 0
    for name, each in segments.items():
        at = minutes[begin : begin + len(each)]
        begin += len(each)
        rates.append((name, at, values_of(each, lambda step: step.megabytes_per_second)))
        mean.append((name, at, values_of(each, lambda step: step.latency_ms_mean)))
        longest.append((name, at, values_of(each, lambda step: step.latency_ms_max)))
    rate = Axis("throughput (MB/s)")
    return [
        Page(
            "XSR - throughput and mean response time",
            (
                course("xsr-time", "Throughput", _TIME, rate, rates),
                course(
                    "xsr-mean",
                    "Mean response time",
                    _TIME,
                    Axis("mean response time (ms)", "log10"),
                    mean,
                ),
            ),
        ),
        Page(
            "XSR - maximum response time and recovery",
            (
                course(
                    "xsr-maximum",
                    "Maximum response time",
                    _TIME,
                    Axis("maximum response time (ms)", "log10"),
                    longest,
                ),
                _table(record, segments),
                levels_table("xsr-levels", "Confidence levels", list(segments.items())),
            ),
        ),
    ]


def _table(record: Record, segments: dict[str, list[Step]]) -> Table:
    third = SEGMENTS[2].name
    minute = minute_words(record.settings.to_json())
    rows = []
    for name, steps in segments.items():
        values = _values(name, steps)
        recovery: list[Cell] = [None, None]
        if name == third:
            never = "never" if record.is_complete else None
            recovery = [
                recovery_minutes(segments, share) or never for share in (1.0, _NEARLY_RECOVERED)
            ]
        rows.append(
            (
                name,
                values["minutes"],
                values["first_bandwidth_bytes_per_second"] / 1e6,
                values["bandwidth_bytes_per_second_mean"] / 1e6,
                values["last_bandwidth_bytes_per_second"] / 1e6,
                _milliseconds(values["peak_latency_ns_mean"]),
                _milliseconds(values["peak_latency_ns_max"]),
                values["transient_minutes"],
                *recovery,
            )
        )
    return Table(
        "xsr-table",
        (
            "segment",
            f"length ({minute})",
            "first minute (MB/s)",
            "mean (MB/s)",
            "last minute (MB/s)",
            "peak mean response time (ms)",
            "peak maximum response time (ms)",
            f"transient ({minute})",
            f"recovery ({minute})",
            f"to 99 % ({minute})",
        ),
        tuple(rows),
        title="Cross stimulus recovery",
        note="Recovery: the first minute of the third segment at or above the first segment's "
        "mean, and at or above 99 % of it. Transient: minutes before throughput stays within "
        "10 % of that of the segment's last minute.",
    )


def _milliseconds(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


TEST: Final = PtsTest(
    name="xsr",
    title="Cross stimulus recovery test",
    summary="sequential writes before and after random ones",
    known="implementations",
    check=_check,
    carry_out=_carry_out,
    most_steps=_most_steps,
    sections=_sections,
    pages=_pages,
    settles=False,
)
