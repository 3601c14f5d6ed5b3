"""Host idle recovery: what a settled drive gains while the host leaves it idle."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits import Axis, Line, LineFigure, Page, Table
from drivelab.pts.cells import CellResult
from drivelab.pts.convergence import convergence_figure, window_exhibits, windows_json
from drivelab.pts.courses import course, ends_minutes, values_of
from drivelab.pts.journal import Action, Record, Step
from drivelab.pts.response_times import levels_table
from drivelab.pts.rounds import Settled, Tracked, recorded, run_rounds
from drivelab.pts.settings import MOST_ROUNDS
from drivelab.pts.test import PtsTest, Section, settled_verdict

if TYPE_CHECKING:
    from drivelab.pts.applied_settings import AppliedSettings, Extent
    from drivelab.pts.bench import Bench
    from drivelab.pts.settings import Settings
    from drivelab.workloads.stimulus import Stimulus

#: Lengths of the host's idle times, as multiples of the writing time.
WAIT_STATES: Final = (1, 2, 3, 5, 10)
ACCESSES: Final = 360
ACCESS_SECONDS: Final = 5.0
BASELINE_MINUTES: Final = 30
# An access and a pause, and the minutes of the baseline.
_STEPS_OF_WAITS: Final = len(WAIT_STATES) * (2 * ACCESSES + BASELINE_MINUTES)
_ROUND_MINUTES: Final = 30
_TRACKED: Final = (
    Tracked("last minute of a round, 4 KiB random write", "IOPS", lambda steps: steps[-1].iops),
)
_AXIS: Final = Axis("throughput (IOPS)")
#: Tracked in the writes between idle times.
_OF_ACCESSES: Final = (
    "latency_ns_mean",
    "latency_ns_max",
    "latency_ns_percentiles",
    "iops_per_watt",
)


def _stimulus(applied: AppliedSettings) -> Stimulus:
    return applied.stimulus(4096, 0.0)


def _check(applied: AppliedSettings) -> None:
    _stimulus(applied)


def _section(wait: int) -> str:
    return f"wait state {wait}"


def _carry_out(bench: Bench) -> None:
    applied = bench.applied
    stimulus = _stimulus(applied)
    bench.purge()
    run_rounds(bench, [(stimulus, applied.minutes(1))] * _ROUND_MINUTES, _TRACKED)
    bench.expect(_STEPS_OF_WAITS)
    for wait in WAIT_STATES:
        section = _section(wait)
        access = Action(
            "run", "wait", section, stimulus=stimulus, seconds=applied.seconds(ACCESS_SECONDS)
        )
        rest = Action("idle", "wait", section, seconds=applied.seconds(wait * ACCESS_SECONDS))
        for _ in range(ACCESSES):
            bench.run(access)
            bench.idle(rest)
            bench.save_if_due()
        for _ in range(BASELINE_MINUTES):
            bench.run(
                Action("run", "baseline", section, stimulus=stimulus, seconds=applied.minutes(1))
            )
            bench.save_if_due()


def _most_steps(_settings: Settings, _extent: Extent) -> int:
    # The first is the purge.
    return 1 + MOST_ROUNDS * _ROUND_MINUTES + _STEPS_OF_WAITS


def _settled(record: Record) -> Settled:
    return recorded(record, _ROUND_MINUTES, _TRACKED)


def _sections(record: Record) -> list[Section]:
    settled = _settled(record)
    verdict = settled_verdict(settled.is_steady, record.is_complete)
    # A round is judged by its last minute.
    window = [steps[-1] for steps in settled.window_rounds]
    values = {
        "windows": windows_json(settled),
        "cells": [CellResult(tuple(window)).to_json()] if window else [],
        "wait_states": [_wait_values(record, wait) for wait in _measured(record)],
    }
    return [Section("", verdict, len(settled.rounds), values)]


def _measured(record: Record) -> list[int]:
    return [wait for wait in WAIT_STATES if record.of_phase("wait", _section(wait))]


def _mean(steps: Sequence[Step]) -> float | None:
    return fmean(step.iops for step in steps) if steps else None


def _wait_values(record: Record, wait: int) -> dict[str, Any]:
    accesses = record.of_phase("wait", _section(wait))
    baseline = record.of_phase("baseline", _section(wait))
    mean, base = _mean(accesses), _mean(baseline)
    figures = CellResult(tuple(accesses)).figures_json()
    return {
        "wait_ratio": wait,
        "iops_mean": mean,
        "baseline_iops_mean": base,
        "gain_ratio": None if not base or mean is None else mean / base,
        **{key: value for key, value in figures.items() if key in _OF_ACCESSES},
        "iops": [step.iops for step in accesses],
        "baseline_iops": [step.iops for step in baseline],
    }


def _pages(record: Record) -> list[Page]:
    settled = _settled(record)
    minutes = record.of_phase("rounds")
    if not minutes:
        return []
    trace = course(
        "hir-preconditioning",
        "Preconditioning: 4 KiB random writes",
        Axis("time (min)"),
        _AXIS,
        [("4 KiB random write", ends_minutes(minutes), values_of(minutes, lambda s: s.iops))],
    )
    judged = convergence_figure(
        "hir-convergence",
        "Steady-state convergence: the last minute of each round",
        settled,
        [("4 KiB random write", _TRACKED[0].of_round)],
        _AXIS,
    )
    pages = [
        Page("HIR - preconditioning", (trace, judged)),
        Page("HIR - measurement window", tuple(window_exhibits("hir", settled, record.adjective))),
    ]
    waits = _measured(record)
    if waits:
        pages.append(Page("HIR - wait states compared", (_together(record, waits), _table(record))))
        rows = [
            (f"{_section(wait)}{of}", record.of_phase(phase, _section(wait)))
            for wait in waits
            for phase, of in (("wait", ""), ("baseline", ", baseline"))
        ]
        levels = levels_table("hir-levels", "Confidence levels", rows)
        pages.append(Page("HIR - response times", (levels,)))
    for pair in (waits[place : place + 2] for place in range(0, len(waits), 2)):
        states = f"wait state{'s' if len(pair) > 1 else ''} {' and '.join(map(str, pair))}"
        pages.append(Page(f"HIR - {states}", tuple(_wait_figure(record, wait) for wait in pair)))
    return pages


def _write_seconds(record: Record) -> float:
    return ACCESS_SECONDS * record.settings.scale


def _idle_seconds(record: Record, wait: int) -> float:
    return wait * _write_seconds(record)


def _course_of(record: Record, wait: int) -> tuple[list[float], list[float], int]:
    """Return minutes and IOPS of a wait state and its baseline, and where the baseline begins."""
    accesses = record.of_phase("wait", _section(wait))
    baseline = record.of_phase("baseline", _section(wait))
    idle = _idle_seconds(record, wait)
    ends = ends_minutes(accesses, idle)
    begin = ends[-1] + idle / 60
    ends += [begin + each for each in ends_minutes(baseline)]
    return ends, values_of([*accesses, *baseline], lambda step: step.iops), len(accesses)


def _together(record: Record, waits: Sequence[int]) -> LineFigure:
    series = []
    for wait in waits:
        minutes, iops, _ = _course_of(record, wait)
        idle = _idle_seconds(record, wait)
        series.append((f"{_section(wait)}: {idle:g} s idle", minutes, iops))
    return course(
        "hir-all", "Throughput with idle times, then without", Axis("time (min)"), _AXIS, series
    )


def _wait_figure(record: Record, wait: int) -> LineFigure:
    minutes, iops, count = _course_of(record, wait)
    lines = [Line("with idle times", tuple(minutes[:count]), tuple(iops[:count]), "trace")]
    if minutes[count:]:
        lines.append(Line("without", tuple(minutes[count:]), tuple(iops[count:]), "trace"))
    writes, idle = _write_seconds(record), _idle_seconds(record, wait)
    title = f"{writes:g} s of writes, {idle:g} s idle; then the baseline"
    return LineFigure(f"hir-wait-{wait}", title, Axis("time (min)"), _AXIS, tuple(lines))


def _table(record: Record) -> Table:
    rows = []
    for wait in _measured(record):
        values = _wait_values(record, wait)
        rows.append(
            (
                str(wait),
                f"{_idle_seconds(record, wait):g}",
                values["iops_mean"],
                values["baseline_iops_mean"],
                values["gain_ratio"],
            )
        )
    return Table(
        "hir-table",
        (
            "wait state",
            f"idle after {_write_seconds(record):g} s of writes (s)",
            "mean with idle times (IOPS)",
            "mean of the baseline (IOPS)",
            "ratio",
        ),
        tuple(rows),
        title="Host idle recovery",
    )


TEST: Final = PtsTest(
    name="hir",
    title="Host idle recovery test",
    summary="what a settled drive gains while the host is idle",
    known="implementations",
    check=_check,
    carry_out=_carry_out,
    most_steps=_most_steps,
    sections=_sections,
    pages=_pages,
)
