"""A class of workloads: its stimuli together or in turn, until its figure is steady.

A round is a minute of all stimuli at the same time, with their shares of requests kept if they run
in proportion; in turn it is a minute of each.

The flow is the specification's: purge, preconditioning, and the test's own stimuli to settle the
drive. The class's figure is tracked (`drivelab.pts.workload_class`).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import UsageError
from drivelab.exhibits import Axis, Cell, Page, Table
from drivelab.pts.bench import PRECONDITIONING_STEPS
from drivelab.pts.cell_exhibits import block_text, mix_text
from drivelab.pts.cells import CellResult, cell_results
from drivelab.pts.class_file import class_names
from drivelab.pts.convergence import convergence_figure, window_exhibits, windows_json
from drivelab.pts.response_times import levels_table, response_time_figure
from drivelab.pts.rounds import Settled, Tracked, recorded, run_rounds
from drivelab.pts.settings import MOST_ROUNDS
from drivelab.pts.test import PtsTest, Section, settled_verdict
from drivelab.pts.workload_class import Part, WorkloadClass
from drivelab.workloads.stimuli import Stimuli

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.pts.applied_settings import AppliedSettings, Extent
    from drivelab.pts.bench import Bench
    from drivelab.pts.journal import Record, Step
    from drivelab.pts.settings import Settings
    from drivelab.workloads.stimulus import Stimulus

_ORDER_WORDS: Final = {
    "in proportion": "All of them run at the same time, and one that is ahead of its share of "
    "requests waits for the others.",
    "together": "All of them run at the same time, each as fast as it can.",
    "in turn": "They run one after another.",
}
_FIGURE_WORDS: Final = {
    "in proportion": "The figure is the rate of all requests, a mean of the rounds.",
    "together": "The figure is the rate of the class's requests at which every stimulus has its "
    "share: the smallest of IOPS over share, a mean of the rounds. Requests beyond these shares "
    "do not count.",
    "in turn": "The figure is the harmonic mean of the stimuli's IOPS, weighted by their shares: a "
    "mean of the rounds.",
}

_HELD_BY_FIO: Final = (
    " fio lets a stimulus that is ahead complete its outstanding requests, and then sleep for "
    "about 50 us. A fast drive could do more than the figure says."
)


def _class_of(settings: Settings) -> WorkloadClass:
    if settings.workload_class is None:
        raise UsageError(
            f"a class has to be named, with --class: {', '.join(class_names())}, or a FILE.toml of "
            "your own"
        )
    return WorkloadClass.from_json(settings.workload_class)


def _stimulus(applied: AppliedSettings, part: Part) -> Stimulus:
    values = part.stimulus_values()
    sizes, read_ratio = values.pop("sizes"), values.pop("read_ratio")
    try:
        return applied.stimulus(sizes, read_ratio, **values)
    except UsageError as error:
        raise UsageError(f"{part.name}: {error}") from error


def _stimuli(applied: AppliedSettings) -> list[tuple[Stimulus, float]]:
    of = _class_of(applied.settings)
    stimuli = [_stimulus(applied, part) for part in of.parts]
    if of.is_at_once:
        applied.accepts(Stimuli(tuple(stimuli), tuple(of.shares)))
    return [(stimulus, applied.minutes(1)) for stimulus in stimuli]


def _tracked(of: WorkloadClass) -> tuple[Tracked, ...]:
    return (Tracked(f"figure of {of.name}", "IOPS", lambda steps: _figure(of, steps)),)


def _figure(of: WorkloadClass, steps: Sequence[Step]) -> float:
    return of.figure([step.iops for step in _by_part(steps)])


def _figures(of: WorkloadClass, settled: Settled) -> list[float]:
    return [_figure(of, steps) for steps in settled.window_rounds]


def _by_part(steps: Sequence[Step]) -> list[Step]:
    """Return a step for each part of a round, whether they ran together or in turn."""
    return [stream for step in steps for stream in step.streams]


def _total_iops(steps: Sequence[Step]) -> float:
    return steps[0].iops


def _check(applied: AppliedSettings) -> None:
    applied.preconditioning()
    _stimuli(applied)


def _carry_out(bench: Bench) -> None:
    of = _class_of(bench.applied.settings)
    bench.precondition()
    stimuli = _stimuli(bench.applied)
    run_rounds(bench, stimuli, _tracked(of), together=of.is_at_once, shares=of.shares)


def _steps_a_round(of: WorkloadClass) -> int:
    return 1 if of.is_at_once else len(of.parts)


def _most_steps(settings: Settings, _extent: Extent) -> int:
    return PRECONDITIONING_STEPS + MOST_ROUNDS * _steps_a_round(_class_of(settings))


def _settled(record: Record) -> tuple[WorkloadClass, Settled]:
    of = _class_of(record.settings)
    return of, recorded(record, _steps_a_round(of), _tracked(of))


def _cells(settled: Settled) -> list[CellResult]:
    return cell_results([_by_part(steps) for steps in settled.window_rounds])


def _measured_shares(settled: Settled) -> list[float]:
    """Return the share of the window's requests that each stimulus had; empty without requests."""
    rounds = [_by_part(steps) for steps in settled.window_rounds]
    requests = [sum(step.result.requests for step in part) for part in zip(*rounds, strict=True)]
    total = sum(requests)
    return [each / total for each in requests] if total else []


def _total(settled: Settled) -> CellResult:
    """Return all streams of a class that runs together as one."""
    return cell_results(settled.window_rounds)[0]


def _sections(record: Record) -> list[Section]:
    of, settled = _settled(record)
    cells = _cells(settled)
    values: dict[str, Any] = {
        "windows": windows_json(settled),
        "cells": [
            {"part": part.name, "weight": part.weight, **cell.to_json()}
            for part, cell in zip(of.parts, cells, strict=False)
        ],
        "figure_iops_rounds": _figures(of, settled),
    }
    if of.is_at_once and cells:
        values["total"] = _total(settled).figures_json()
        for cell, share in zip(values["cells"], _measured_shares(settled), strict=False):
            cell["share_measured"] = share
    verdict = settled_verdict(settled.is_steady, record.is_complete)
    return [Section("", verdict, len(settled.rounds), values)]


def _pages(record: Record) -> list[Page]:
    of, settled = _settled(record)
    if not settled.rounds:
        return []
    parts = of.parts
    cells = _cells(settled)
    # If shares are kept, all streams together are the figure.
    total = [("all streams", _total_iops)] if of.is_at_once and not of.shares else []
    convergence = convergence_figure(
        "class-convergence",
        f"Steady-state convergence: {of.title}",
        settled,
        [
            ("figure of the class", lambda steps: _figure(of, steps)),
            *total,
            *((part.name, _iops_of(number)) for number, part in enumerate(parts)),
        ],
        Axis("throughput (IOPS)", "log10"),
    )
    named = [(part.name, cell.steps) for part, cell in zip(parts, cells, strict=True)]
    return [
        Page(f"{of.title} - what it is made of", (_made_of(of), _weights(of))),
        Page(f"{of.title} - steady-state convergence", (convergence,)),
        Page(
            f"{of.title} - measurement window",
            tuple(window_exhibits("class", settled, record.adjective)),
        ),
        Page(f"{of.title} - results", (_results(of, settled, record),)),
        *_response_pages(of, named),
    ]


def _response_pages(of: WorkloadClass, named: Sequence[tuple[str, Sequence[Step]]]) -> list[Page]:
    """Show the response times of two stimuli per page, and below the last the levels of all."""
    levels = levels_table("class-levels", "Confidence levels of response times", named)
    pages = []
    for first in range(0, len(named), 2):
        beside = named[first : first + 2]
        figures = [
            response_time_figure(f"class-response-times-{number}", name, steps)
            for number, (name, steps) in enumerate(beside, start=first + 1)
        ]
        is_last = first + 2 >= len(named)
        shown = tuple(figure for figure in figures if figure is not None)
        title = f"{of.title} - response times: {', '.join(name for name, _ in beside)}"
        pages.append(Page(title, (*shown, levels) if is_last else shown))
    return pages


def _iops_of(number: int) -> Callable[[Sequence[Step]], float]:
    return lambda steps: _by_part(steps)[number].iops


def _made_of(of: WorkloadClass) -> Table:
    rows = []
    for part in of.parts:
        stream = part.stream
        read = round(100 * stream.read_ratio)
        rows.append(
            (
                part.name,
                f"{100 * part.weight:g} %",
                ", ".join(f"{block_text(size)} {100 * share:g} %" for size, share in stream.sizes),
                mix_text(read),
                "random" if part.is_random else "in order",
                f"{part.threads} x {stream.queue_depth}",
                stream.source,
            )
        )
    return Table(
        "class-streams",
        (
            "stimulus",
            "share of requests",
            "sizes",
            "mix",
            "order",
            "threads x queue depth",
            "source of its numbers",
        ),
        tuple(rows),
        title=of.title,
        note=f"{of.summary}. Source: {of.source}. {_ORDER_WORDS[of.streams_run]}",
    )


def _weights(of: WorkloadClass) -> Table:
    return Table(
        "class-weights",
        ("block size", "mix", "weight"),
        tuple(
            (block_text(size), mix_text(round(100 * read_ratio)), weight)
            for size, read_ratio, weight in of.weights
        ),
        title="Weights of a figure of merit over the IOPS test's cells",
    )


def _held_words(of: WorkloadClass, shares: Sequence[float]) -> str:
    """Return how well the requested shares were kept."""
    off = max(abs(share - part.weight) for share, part in zip(shares, of.parts, strict=True))
    return f" Shares were kept within {100 * off:.2g} % of all requests."


def _results(of: WorkloadClass, settled: Settled, record: Record) -> Table:
    shares = _measured_shares(settled) if of.is_at_once else []
    measured = [f"{100 * share:.4g} %" for share in shares] or [""] * len(of.parts)
    named: list[tuple[str, str | None, str | None, CellResult]] = [
        (part.name, f"{100 * part.weight:g} %", share, cell)
        for part, share, cell in zip(of.parts, measured, _cells(settled), strict=True)
    ]
    if of.is_at_once:
        named.append(("all streams", None, None, _total(settled)))
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            share,
            *((had,) if shares else ()),
            cell.iops,
            cell.megabytes_per_second,
            cell.latency_ms_mean,
            cell.latency_ms(99.999),
            cell.latency_ms_max,
        )
        for name, share, had, cell in named
    ]
    figure = fmean(_figures(of, settled))
    none = (None,) if shares else ()
    rows.append((f"figure of {of.name}", "100 %", *none, figure, None, None, None, None))
    words = _FIGURE_WORDS[of.streams_run]
    if of.shares and shares:
        words += _held_words(of, shares)
        words += "" if record.is_simulated else _HELD_BY_FIO
    return Table(
        "class-results",
        (
            "stimulus",
            "share of requests",
            *((record.adjective,) if shares else ()),
            "IOPS",
            "MB/s",
            "mean (ms)",
            "99.999 % (ms)",
            "maximum (ms)",
        ),
        tuple(rows),
        title=f"Results: {settled.window_words}",
        note=words,
    )


TEST: Final = PtsTest(
    name="class",
    title="Workload class test",
    summary="a class of workloads, named with --class",
    known="own",
    check=_check,
    carry_out=_carry_out,
    most_steps=_most_steps,
    sections=_sections,
    pages=_pages,
)
