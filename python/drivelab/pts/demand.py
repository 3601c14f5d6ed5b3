"""Demand: the throughput of a settled drive at seven numbers of threads and seven queue depths.

::

    purge, preconditioning, the workload's writes 32 x 32 until steady
    rounds   5 minutes of the writes, then 49 points from 32 x 32 down to 1 x 1,
             until 32 x 32 is steady
    points   MIN, MID, MAX: an hour of the writes, then 10 minutes for the histogram
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab.exhibits import Axis, Exhibit, Line, LineFigure, Page, Table
from drivelab.pts.bench import PRECONDITIONING_STEPS
from drivelab.pts.cells import CellResult, cell_results
from drivelab.pts.convergence import convergence_figure, window_exhibits, windows_json
from drivelab.pts.journal import Action, Record, Step
from drivelab.pts.response_times import levels_table, response_time_figure, response_times_json
from drivelab.pts.rounds import Settled, Tracked, recorded, run_rounds
from drivelab.pts.settings import MOST_ROUNDS
from drivelab.pts.test import Section, settled_verdict
from drivelab.pts.words import span_words

if TYPE_CHECKING:
    from drivelab.pts.applied_settings import AppliedSettings, Extent
    from drivelab.pts.bench import Bench
    from drivelab.pts.settings import Settings
    from drivelab.workloads.stimulus import Stimulus

#: Numbers of threads, and queue depths of each, in their order.
DEMANDS: Final = (32, 16, 8, 6, 4, 2, 1)
#: The mean response time of an operating point is below this.
MOST_LATENCY_MS: Final = 5.0
WRITE_MINUTES: Final = 5
POINT_WRITE_MINUTES: Final = 60
POINT_MINUTES: Final = 10
_STEPS_A_ROUND: Final = 1 + len(DEMANDS) ** 2
_STEPS_OF_POINTS: Final = 3 * (POINT_WRITE_MINUTES + POINT_MINUTES)
_MOST: Final = DEMANDS[0]
_SETTLING: Final = "settling"

PointName = Literal["MIN", "MID", "MAX"]


@dataclass(frozen=True)
class Workload:
    """The workload of the demand.

    Attributes
    ----------
    mixed
        Returns the measured stimulus, for a number of threads and a queue depth.
    writes
        Returns the stimulus that settles the drive, 32 x 32.
    """

    mixed: Callable[[AppliedSettings, int, int], Stimulus]
    writes: Callable[[AppliedSettings, int, int], Stimulus]

    def check(self, applied: AppliedSettings) -> None:
        """Refuse what the drive cannot run."""
        applied.preconditioning()
        self.mixed(applied, _MOST, _MOST)
        self.writes(applied, _MOST, _MOST)


def carry_out(bench: Bench, workload: Workload) -> None:
    """Carry out every step."""
    applied = bench.applied
    writes = workload.writes(applied, _MOST, _MOST)
    bench.precondition()
    run_rounds(bench, [(writes, applied.minutes(1))], _tracked_writes(), phase=_SETTLING)
    stimuli = [(writes, applied.minutes(WRITE_MINUTES))]
    stimuli += [
        (workload.mixed(applied, threads, depth), applied.minutes(1))
        for threads in DEMANDS
        for depth in DEMANDS
    ]
    settled = run_rounds(bench, stimuli, _tracked())
    bench.expect(_STEPS_OF_POINTS)
    for name, point in operating_points(_points(settled)).items():
        stimulus = point.steps[0].stimulus
        for phase, each, minutes in (
            ("point-writes", writes, POINT_WRITE_MINUTES),
            ("point", stimulus, POINT_MINUTES),
        ):
            for _ in range(minutes):
                bench.run(Action("run", phase, name, stimulus=each, seconds=applied.minutes(1)))
                bench.save_if_due()


def most_steps(_settings: Settings, _extent: Extent) -> int:
    """Return the largest number of steps."""
    rounds = MOST_ROUNDS * (1 + _STEPS_A_ROUND)
    return PRECONDITIONING_STEPS + rounds + _STEPS_OF_POINTS


def _tracked() -> tuple[Tracked, ...]:
    # The first point of a round, after its writes.
    return (Tracked(f"{_MOST} threads x {_MOST}", "IOPS", lambda steps: steps[1].iops),)


def _tracked_writes() -> tuple[Tracked, ...]:
    return (Tracked(f"writes, {_MOST} threads x {_MOST}", "IOPS", lambda steps: steps[0].iops),)


def _points(settled: Settled) -> list[CellResult]:
    return cell_results([steps[1:] for steps in settled.window_rounds])


def operating_points(points: Sequence[CellResult]) -> dict[PointName, CellResult]:
    """Choose points for response times, among those below 5 ms on average.

    Returns
    -------
    dict
        ``MIN`` is one thread at depth 1, whatever its response time. ``MID`` is the point nearest
        to the middle of the highest and the lowest throughput. ``MAX`` has the highest. Only
        ``MIN`` if no point is below 5 ms; empty if nothing was measured.
    """
    if not points:
        return {}
    chosen: dict[PointName, CellResult] = {"MIN": points[-1]}
    quick = [
        point
        for point in points
        if point.latency_ms_mean is not None and point.latency_ms_mean < MOST_LATENCY_MS
    ]
    if quick:
        rates = [point.iops for point in quick]
        middle = (max(rates) + min(rates)) / 2
        chosen["MID"] = min(quick, key=lambda point: abs(point.iops - middle))
        chosen["MAX"] = max(quick, key=lambda point: point.iops)
    return chosen


def sections(record: Record) -> list[Section]:
    """Judge a record."""
    settled = recorded(record, _STEPS_A_ROUND, _tracked())
    points = _points(settled)
    values: dict[str, Any] = {
        "windows": windows_json(settled),
        "cells": [point.to_json() for point in points],
        "operating_points": [
            {
                "name": name,
                "threads": point.steps[0].stimulus.threads,
                "queue_depth": point.steps[0].stimulus.queue_depth,
                "iops_mean": point.iops,
                "response_times": response_times_json(steps) if steps else None,
            }
            for name, point in operating_points(points).items()
            if (steps := record.of_phase("point", name)) or record.is_complete
        ],
    }
    verdict = settled_verdict(settled.is_steady, record.is_complete)
    return [Section("", verdict, len(settled.rounds), values), _settling_section(record)]


def _settling(record: Record) -> Settled:
    return recorded(record, 1, _tracked_writes(), phase=_SETTLING)


def _settling_section(record: Record) -> Section:
    """Judge the writes before the rounds, which must be steady too."""
    settling = _settling(record)
    is_over = record.is_complete or bool(record.of_phase("rounds"))
    values = {"windows": windows_json(settling), "cells": []}
    verdict = settled_verdict(settling.is_steady, is_over)
    return Section("writes before the rounds", verdict, len(settling.rounds), values)


def pages(record: Record, name: str, title: str) -> list[Page]:
    """Show a record; names of exhibits begin with `name`, titles of pages with `title`."""
    settling = _settling(record)
    shown = []
    if settling.rounds:
        tracked = _tracked_writes()[0]
        figure = convergence_figure(
            f"{name}-preconditioning",
            "Preconditioning: the workload's writes",
            settling,
            [(tracked.name, tracked.of_round)],
            Axis("throughput (IOPS)"),
        )
        judged = window_exhibits(f"{name}-preconditioning", settling, record.adjective)
        shown.append(Page(f"{title} - preconditioning", (figure, *judged)))
    settled = recorded(record, _STEPS_A_ROUND, _tracked())
    if not settled.rounds:
        return shown
    points = _points(settled)
    tracked = _tracked()[0]
    convergence = convergence_figure(
        f"{name}-convergence",
        f"Steady-state convergence: {tracked.name}",
        settled,
        [(tracked.name, tracked.of_round)],
        Axis("throughput (IOPS)"),
    )
    shown += [
        Page(
            f"{title} - steady-state convergence and measurement window",
            (convergence, *window_exhibits(name, settled, record.adjective)),
        ),
        Page(
            f"{title} - demand variation and demand intensity",
            (_variation(name, points), _intensity(name, points)),
        ),
        Page(
            f"{title} - tables",
            (_rates(name, points, settled.window_words), _point_table(name, points)),
        ),
        *_histograms(record, name, title, points),
    ]
    return shown


def _of_threads(points: Sequence[CellResult]) -> dict[int, list[CellResult]]:
    """Group points by threads, with rising queue depths."""
    grouped: dict[int, list[CellResult]] = {}
    for point in reversed(points):
        grouped.setdefault(point.steps[0].stimulus.threads, []).append(point)
    return grouped


def _depth(point: CellResult) -> int:
    return point.steps[0].stimulus.queue_depth


def _threads_text(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def _variation(name: str, points: Sequence[CellResult]) -> LineFigure:
    return LineFigure(
        f"{name}-variation",
        "Demand variation",
        Axis("queue depth of each thread", "log2"),
        Axis("throughput (IOPS)"),
        tuple(
            Line(
                _threads_text(threads),
                tuple(float(_depth(point)) for point in each),
                tuple(point.iops for point in each),
            )
            for threads, each in _of_threads(points).items()
        ),
    )


def _intensity(name: str, points: Sequence[CellResult]) -> LineFigure:
    lines = []
    for threads, each in _of_threads(points).items():
        known = [(point.iops, point.latency_ms_mean) for point in each]
        pairs = [(rate, mean) for rate, mean in known if mean]
        if pairs:
            xs, ys = zip(*pairs, strict=True)
            lines.append(Line(_threads_text(threads), tuple(xs), tuple(ys)))
    return LineFigure(
        f"{name}-intensity",
        "Demand intensity",
        Axis("throughput (IOPS)"),
        Axis("mean response time (ms)", "log10"),
        tuple(lines),
        "The queue depth rises along a line.",
    )


def _rates(name: str, points: Sequence[CellResult], window_words: str) -> Table:
    grouped = _of_threads(points)
    depths = sorted(DEMANDS)
    return Table(
        f"{name}-table",
        ("threads", *(f"queue depth {depth}" for depth in depths)),
        tuple((str(threads), *(point.iops for point in each)) for threads, each in grouped.items()),
        title=f"IOPS: mean of {window_words}",
    )


def _point_table(name: str, points: Sequence[CellResult]) -> Table:
    return Table(
        f"{name}-points",
        ("point", "threads", "queue depth", "throughput (IOPS)", "mean response time (ms)"),
        tuple(
            (
                label,
                str(point.steps[0].stimulus.threads),
                str(_depth(point)),
                point.iops,
                point.latency_ms_mean,
            )
            for label, point in operating_points(points).items()
        ),
        title="Operating points",
        note=f"Chosen among points with a mean response time below {MOST_LATENCY_MS:g} ms; MIN is "
        f"one thread at queue depth 1.{_same_point(points)}",
    )


def _same_point(points: Sequence[CellResult]) -> str:
    """Return which operating points are the same stimulus; each is measured anyway."""
    labels: dict[tuple[int, int], list[str]] = {}
    for label, point in operating_points(points).items():
        key = point.steps[0].stimulus.threads, _depth(point)
        labels.setdefault(key, []).append(label)
    alike = [f"{', '.join(each[:-1])} and {each[-1]}" for each in labels.values() if len(each) > 1]
    return f" {'; '.join(alike)} are the same stimulus here." if alike else ""


def _histograms(record: Record, name: str, title: str, points: Sequence[CellResult]) -> list[Page]:
    """Show the response times of each operating point, and the confidence levels of all."""
    figures: list[Exhibit] = []
    rows: list[tuple[str, list[Step]]] = []
    for label, point in operating_points(points).items():
        steps: list[Step] = record.of_phase("point", label)
        if not steps:
            continue
        stimulus = point.steps[0].stimulus
        words = f"{label}, {_threads_text(stimulus.threads)} x {stimulus.queue_depth}"
        rows.append((words, steps))
        figure = response_time_figure(
            f"{name}-{label.lower()}-histogram",
            f"Response times of {span_words(steps)}: {words}",
            steps,
        )
        if figure is not None:
            figures.append(figure)
    if not figures:
        return []
    levels = levels_table(f"{name}-levels", "Confidence levels", rows)
    return [Page(f"{title} - response-time histograms", (*figures, levels))]
