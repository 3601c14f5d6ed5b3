"""Latency: one small random request at a time; then the response times of twenty minutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Axis, Page, Table
from drivelab.pts.bench import PRECONDITIONING_STEPS
from drivelab.pts.cell_exhibits import by_cell, cell_text, cells_columns, cells_table
from drivelab.pts.cells import CellResult, cell_results
from drivelab.pts.convergence import convergence_figure, window_exhibits
from drivelab.pts.histogram_run import MINUTES as HISTOGRAM_MINUTES
from drivelab.pts.histogram_run import histogram_minutes, histogram_page, histogram_values
from drivelab.pts.journal import Record, Step
from drivelab.pts.rounds import Cell, Settled, Tracked, recorded, run_rounds, step_of_cell
from drivelab.pts.sections import cells_section
from drivelab.pts.settings import MOST_ROUNDS
from drivelab.pts.test import PtsTest, Section

if TYPE_CHECKING:
    from drivelab.pts.applied_settings import AppliedSettings, Extent
    from drivelab.pts.bench import Bench
    from drivelab.pts.settings import Settings
    from drivelab.workloads.stimulus import Stimulus

#: Shares of reads in per cent, and block sizes in bytes, in their order.
MIXES: Final = (100, 65, 0)
SIZES: Final = (8192, 4096, 512)
TRACKED: Final[Cell] = (4096, 0)


def cells_of(block_bytes: int) -> list[Cell]:
    """Return the cells of a round in order; sizes below the drive's block are left out."""
    return [(size, mix) for mix in MIXES for size in SIZES if size % block_bytes == 0]


def _tracked() -> tuple[Tracked, ...]:
    return (Tracked(f"mean latency of {cell_text(TRACKED)}", "ms", _tracked_latency),)


def _tracked_latency(steps: Sequence[Step]) -> float:
    # If nothing completed, nothing is steady.
    return step_of_cell(steps, TRACKED).latency_ms_mean or 0.0


def _stimulus(applied: AppliedSettings, cell: Cell) -> Stimulus:
    return applied.stimulus(cell[0], cell[1] / 100, threads=1, queue_depth=1)


def _stimuli(applied: AppliedSettings) -> list[tuple[Stimulus, float]]:
    cells = cells_of(applied.extent.block_bytes)
    return [(_stimulus(applied, cell), applied.minutes(1)) for cell in cells]


def _check(applied: AppliedSettings) -> None:
    applied.preconditioning()
    _stimuli(applied)


def _carry_out(bench: Bench) -> None:
    bench.precondition()
    run_rounds(bench, _stimuli(bench.applied), _tracked())
    histogram_minutes(bench, _stimulus(bench.applied, TRACKED))


def _most_steps(_settings: Settings, extent: Extent) -> int:
    cells = cells_of(extent.block_bytes)
    return PRECONDITIONING_STEPS + MOST_ROUNDS * len(cells) + HISTOGRAM_MINUTES


def _settled(record: Record) -> Settled:
    return recorded(record, len(cells_of(record.extent.block_bytes)), _tracked())


def _sections(record: Record) -> list[Section]:
    return [cells_section(record, _settled(record), **histogram_values(record))]


def _pages(record: Record) -> list[Page]:
    settled = _settled(record)
    if not settled.rounds:
        return []
    cells = by_cell(cell_results(settled.window_rounds))
    figures = [
        convergence_figure(
            f"latency-{word}-convergence",
            f"Steady-state convergence: {word} latency",
            settled,
            [(cell_text(cell), _value_of(cell, value)) for cell in cells],
            Axis(f"{word} latency (ms)", "log10"),
        )
        for word, value in (("mean", _mean), ("maximum", _maximum))
    ]
    columns = [
        cells_columns(
            f"latency-{word}-3d",
            f"{word.capitalize()} latency by block size and mix",
            cells,
            value,
            Axis(f"{word} latency (ms)"),
        )
        for word, value in (
            ("mean", lambda cell: cell.latency_ms_mean),
            ("maximum", lambda cell: cell.latency_ms_max),
        )
    ]
    means = cells_table(
        "latency-mean-table", "Mean latency (ms)", cells, lambda cell: cell.latency_ms_mean
    )
    return [
        Page("Latency - steady-state convergence", tuple(figures)),
        Page(
            "Latency - measurement window",
            tuple(window_exhibits("latency", settled, record.adjective)),
        ),
        Page("Latency - tables", (means, _table(cells, settled))),
        Page("Latency - mean, 3-D", (columns[0],)),
        Page("Latency - maximum, 3-D", (columns[1],)),
        *histogram_page(record, "latency", "Latency"),
    ]


def _mean(step: Step) -> float | None:
    return step.latency_ms_mean


def _maximum(step: Step) -> float | None:
    return step.latency_ms_max


def _value_of(
    cell: Cell, value: Callable[[Step], float | None]
) -> Callable[[Sequence[Step]], float | None]:
    return lambda steps: value(step_of_cell(steps, cell))


def _table(cells: dict[Cell, CellResult], settled: Settled) -> Table:
    return Table(
        "latency-table",
        ("stimulus", "mean (ms)", "99.999 % (ms)", "maximum (ms)", "IOPS"),
        tuple(
            (
                cell_text(cell),
                result.latency_ms_mean,
                result.latency_ms(99.999),
                result.latency_ms_max,
                result.iops,
            )
            for cell, result in cells.items()
        ),
        title=f"Latency and IOPS: {settled.window_words}",
    )


TEST: Final = PtsTest(
    name="latency",
    title="Latency test",
    summary="response times of single small requests",
    known="specification",
    check=_check,
    carry_out=_carry_out,
    most_steps=_most_steps,
    sections=_sections,
    pages=_pages,
)
