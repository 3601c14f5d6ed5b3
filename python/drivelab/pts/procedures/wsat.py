"""Write saturation: from fresh out of the box, minute after minute, until writes have settled.

It ends at the first of: steady state, four times the user capacity written, 24 hours. By the
specification's rule every 31st minute is a round. By the rule of Coughlin et al. 2010, who showed
what share of its first throughput a drive keeps, every minute is a round, and no capacity ends it.

::

        IOPS  ─────────╮                fresh: as even as a steady state, but not one
                   ╰──╮
                      ╰──────────── settled
          0        1        2 drive fills: judged from here on, or at the end of 24 hours
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import UsageError
from drivelab.exhibits import Axis, LineFigure, Page, Table
from drivelab.pts.cells import CellResult
from drivelab.pts.composite import composite
from drivelab.pts.convergence import window_exhibits, windows_json
from drivelab.pts.courses import course, ends_minutes, values_of, written_bytes
from drivelab.pts.histogram_run import MINUTES as HISTOGRAM_MINUTES
from drivelab.pts.histogram_run import histogram_minutes, histogram_page, histogram_values
from drivelab.pts.journal import Action, Record, Step
from drivelab.pts.rounds import Settled, Tracked, settle
from drivelab.pts.saturation import LAST_MINUTES, end_iops, lost_ratio
from drivelab.pts.steady_state import PTS, SteadyStateRule, judge_window
from drivelab.pts.test import PtsTest, Section, Verdict
from drivelab.pts.words import minute_words, stimulus_words

if TYPE_CHECKING:
    from drivelab.pts.applied_settings import AppliedSettings, Extent
    from drivelab.pts.bench import Bench
    from drivelab.pts.settings import Settings
    from drivelab.workloads.stimulus import Stimulus

MOST_FILLS: Final = 4
MOST_MINUTES: Final = 24 * 60
#: A fresh drive is as even as a settled one. It has used all its blocks when twice its capacity was
#: written, which preconditioning writes too.
_LEAST_FILLS: Final = 2
#: By the specification's rule a round has this many minutes, of which the last is judged.
_ROUND_MINUTES: Final = 31
_PHASE: Final = "minutes"


@dataclass(frozen=True)
class _Workload:
    """A stimulus; without a size it is the composite workload."""

    size_bytes: int | None
    read_ratio: float
    is_random: bool


#: By the name that a user gives; the first is version 1.1's.
WORKLOADS: Final = {
    "4k-random": _Workload(4096, 0.0, True),
    "8k-random-mixed": _Workload(8192, 0.65, True),
    "128k-sequential-mixed": _Workload(128 * 1024, 0.90, False),
    "512b-sequential-mixed": _Workload(512, 0.50, False),
    "composite": _Workload(None, 0.40, True),
}


def _stimulus(applied: AppliedSettings) -> Stimulus:
    name = applied.settings.workload
    if name not in WORKLOADS:
        raise UsageError(f"workload is {name!r}; allowed: {', '.join(WORKLOADS)}")
    workload = WORKLOADS[name]
    if workload.size_bytes is None:
        return composite(applied, workload.read_ratio)
    return applied.stimulus(workload.size_bytes, workload.read_ratio, is_random=workload.is_random)


def _check(applied: AppliedSettings) -> None:
    _stimulus(applied)


def _judged(
    steps: Sequence[Step], written: Sequence[int], rule: SteadyStateRule, capacity_bytes: int
) -> list[list[Step]]:
    """Return the minutes to judge, each as its own round; `written` is the total up to each."""
    every = _ROUND_MINUTES if rule is PTS else 1
    rounds = [(place, [steps[place]]) for place in range(every - 1, len(steps), every)]
    filled = [step for place, step in rounds if written[place] >= _LEAST_FILLS * capacity_bytes]
    if len(steps) < MOST_MINUTES or len(filled) >= rule.window_rounds:
        return filled
    # Too slow to be filled twice in a day: its last minutes are its result.
    return [step for _, step in rounds[-rule.window_rounds :]]


def _most_bytes(rule: SteadyStateRule, capacity_bytes: int) -> float:
    """Return the most bytes to write; Coughlin et al. 2010 continued until throughput settled."""
    return MOST_FILLS * capacity_bytes if rule is PTS else math.inf


def _iops(steps: Sequence[Step]) -> float:
    return steps[-1].iops


def _most_minutes_steps(settings: Settings) -> int:
    return MOST_MINUTES * (2 if settings.idle_seconds else 1)


def _most_steps(settings: Settings, _extent: Extent) -> int:
    # The first is the purge.
    return 1 + _most_minutes_steps(settings) + HISTOGRAM_MINUTES


def _carry_out(bench: Bench) -> None:
    applied, rule = bench.applied, bench.applied.settings.steady_rule
    bench.purge()
    stimulus = _stimulus(applied)
    bench.expect(_most_minutes_steps(applied.settings))
    steps: list[Step] = []
    written: list[int] = []
    is_steady = False
    while (
        len(steps) < MOST_MINUTES
        and (written[-1] if written else 0) < _most_bytes(rule, applied.extent.capacity_bytes)
        and not is_steady
    ):
        number = len(steps) + 1
        step = bench.run(Action("run", _PHASE, "", number, stimulus, applied.minutes(1)))
        if applied.settings.idle_seconds:
            rest = applied.seconds(applied.settings.idle_seconds)
            bench.idle(Action("idle", _PHASE, "", number, seconds=rest))
        steps.append(step)
        written.append((written[-1] if written else 0) + written_bytes([step])[0])
        last = _judged(steps, written, rule, applied.extent.capacity_bytes)[-rule.window_rounds :]
        is_steady = (
            len(last) == rule.window_rounds
            and last[-1][0] is step
            and judge_window([_iops(each) for each in last], rule).is_steady
        )
        bench.save_if_due()
    histogram_minutes(bench, stimulus)


def _settled(record: Record) -> Settled:
    rule = record.settings.steady_rule
    tracked = Tracked("throughput", "IOPS", _iops)
    steps = record.of_phase(_PHASE)
    rounds = _judged(steps, written_bytes(steps), rule, record.extent.capacity_bytes)
    return settle(rounds, (tracked,), rule)


def _verdict(record: Record, settled: Settled) -> Verdict:
    if settled.is_steady:
        return "steady"
    # The histogram follows, whatever ended the minutes.
    is_over = record.is_complete or bool(record.of_phase("histogram"))
    return "bounded" if is_over else "incomplete"


def _stopped_by(record: Record, settled: Settled, verdict: Verdict) -> str | None:
    """Return what ended the minutes."""
    if verdict == "incomplete":
        return None
    steps = record.of_phase(_PHASE)
    # A day may end after the last round that could be judged.
    if verdict == "steady" and settled.window_rounds[-1][-1] is steps[-1]:
        return "steady"
    most = _most_bytes(record.settings.steady_rule, record.extent.capacity_bytes)
    return "capacity" if written_bytes(steps)[-1] >= most else "time"


def _sections(record: Record) -> list[Section]:
    steps, settled = record.of_phase(_PHASE), _settled(record)
    verdict = _verdict(record, settled)
    if not steps:
        return [Section("", verdict, 0, {"windows": [], "cells": []})]
    window = [step for each in settled.window_rounds for step in each]
    values: dict[str, Any] = {
        "windows": windows_json(settled),
        "cells": [CellResult(tuple(window)).to_json()] if window else [],
        "stopped_by": _stopped_by(record, settled, verdict),
        **_saturation(record, steps, settled),
        "minutes": {
            "end_minutes": ends_minutes(steps, _rest_seconds(record)),
            "written_bytes": written_bytes(steps),
            "iops": [step.iops for step in steps],
            "latency_ns_mean": [
                None if step.latency_ms_mean is None else step.latency_ms_mean * 1e6
                for step in steps
            ],
            "latency_ns_max": [
                None if step.latency_ms_max is None else step.latency_ms_max * 1e6 for step in steps
            ],
        },
        **histogram_values(record),
    }
    return [Section("", verdict, len(settled.rounds), values)]


def _rest_seconds(record: Record) -> float:
    return record.settings.idle_seconds * record.settings.scale


def _saturation(record: Record, steps: Sequence[Step], settled: Settled) -> dict[str, Any]:
    """Return what is left of the first minute's throughput, and after what time."""
    window = [step for each in settled.window_rounds for step in each]
    mean = CellResult(tuple(window)).iops if settled.windows else None
    last = window[-1].action.round if settled.is_steady else None
    return {
        "fresh_iops": steps[0].iops,
        "settled_iops": mean,
        "lost_ratio": lost_ratio(steps[0].iops, mean, [step.iops for step in steps]),
        "steady_after_minutes": last,
        "run_minutes": len(steps),
        "written_bytes": written_bytes(steps)[-1],
        "drive_fills": written_bytes(steps)[-1] / record.extent.capacity_bytes,
    }


def _pages(record: Record) -> list[Page]:
    steps, settled = record.of_phase(_PHASE), _settled(record)
    if not steps:
        return []
    minutes = ends_minutes(steps, _rest_seconds(record))
    gigabytes = [each / 1e9 for each in written_bytes(steps)]
    fills = [each / record.extent.capacity_bytes for each in written_bytes(steps)]
    words = stimulus_words(steps[0].stimulus)
    iops = values_of(steps, lambda step: step.iops)
    fresh = iops[0] or 1.0

    def against(name: str, x: Axis, xs: Sequence[float], y: Axis) -> LineFigure:
        # The legend names the writes.
        title = f"Write saturation against {x.label.partition(' (')[0]}"
        return course(f"wsat-{name}", title, x, y, [(words, xs, iops)])

    linear, log = Axis("throughput (IOPS)"), Axis("throughput (IOPS)", "log10")
    time, bytes_written = Axis("time (min)"), Axis("data written (GB)")
    return [
        Page(
            "WSAT - against time, linear and log",
            (against("time", time, minutes, linear), against("time-log", time, minutes, log)),
        ),
        Page(
            "WSAT - against bytes written, linear and log",
            (
                against("bytes", bytes_written, gigabytes, linear),
                against("bytes-log", bytes_written, gigabytes, log),
            ),
        ),
        Page(
            "WSAT - against drive fills, and response times",
            (
                against("fills", Axis("drive fills (times the capacity)"), fills, linear),
                _latencies(steps, minutes),
            ),
        ),
        Page(
            "WSAT - normalised to fresh out of the box",
            (
                course(
                    "wsat-normalised",
                    "Throughput over that of the first minute",
                    time,
                    Axis("throughput over the first minute's (ratio)"),
                    [(words, minutes, [each / fresh for each in iops])],
                ),
                _table(record, steps, settled),
            ),
        ),
        Page(
            "WSAT - steady state",
            tuple(window_exhibits("wsat", settled, record.adjective, _window_note(settled))),
        ),
        *histogram_page(record, "wsat", "WSAT"),
    ]


def _window_note(settled: Settled) -> str:
    """Return which minutes the rounds of the window are."""
    minutes = [steps[-1].action.round for steps in settled.window_rounds]
    return (
        "Rounds are counted from the first minute that is judged, and each is one minute: these "
        f"are minutes {', '.join(map(str, minutes))} of writes."
    )


def _latencies(steps: Sequence[Step], minutes: Sequence[float]) -> LineFigure:
    return course(
        "wsat-latency",
        "Response times of each minute",
        Axis("time (min)"),
        Axis("response time (ms)", "log10"),
        [
            ("mean", minutes, values_of(steps, lambda step: step.latency_ms_mean)),
            ("maximum", minutes, values_of(steps, lambda step: step.latency_ms_max)),
        ],
    )


def _table(record: Record, steps: Sequence[Step], settled: Settled) -> Table:
    values = _saturation(record, steps, settled)
    lost, settled_iops = values["lost_ratio"], values["settled_iops"]
    left = ("mean of the window (IOPS)", settled_iops)
    if settled_iops is None:
        last = end_iops([step.iops for step in steps])
        left = (f"mean of the last {LAST_MINUTES} minutes (IOPS)", last)
    after, minutes = values["steady_after_minutes"], minute_words(record.settings.to_json())
    if after is None and _verdict(record, settled) != "incomplete":
        after = "never"
    return Table(
        "wsat-table",
        ("what", "value"),
        (
            ("first minute, fresh out of the box (IOPS)", values["fresh_iops"]),
            left,
            ("lost (%)", None if lost is None else 100 * lost),
            (f"steady after ({minutes})", after),
            (f"run ({minutes})", values["run_minutes"]),
            ("written (GB)", values["written_bytes"] / 1e9),
            ("drive fills", values["drive_fills"]),
        ),
        title="Write saturation",
    )


TEST: Final = PtsTest(
    name="wsat",
    title="Write saturation test",
    summary="writes from fresh out of the box until they have settled",
    known="implementations",
    check=_check,
    carry_out=_carry_out,
    most_steps=_most_steps,
    sections=_sections,
    pages=_pages,
)
