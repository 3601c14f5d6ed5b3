"""Throughput: large sequential reads and writes, with preconditioning before each size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Axis, Line, LineFigure, Page, Table
from drivelab.pts.bench import PRECONDITIONING_STEPS
from drivelab.pts.cell_exhibits import block_text, by_cell
from drivelab.pts.cells import CellResult, cell_results
from drivelab.pts.convergence import convergence_figure, window_exhibits
from drivelab.pts.journal import Record, Step
from drivelab.pts.rounds import Cell, Settled, Tracked, recorded, run_rounds, step_of_cell
from drivelab.pts.sections import cells_section
from drivelab.pts.settings import MOST_ROUNDS, Edition
from drivelab.pts.test import PtsTest, Section

if TYPE_CHECKING:
    from drivelab.pts.applied_settings import AppliedSettings, Extent
    from drivelab.pts.bench import Bench
    from drivelab.pts.settings import Settings
    from drivelab.workloads.stimulus import Stimulus

#: Block sizes in bytes of each edition, in order.
SIZES: Final[dict[Edition, tuple[int, ...]]] = {
    "enterprise": (128 * 1024, 1024 * 1024),
    "client": (1024 * 1024,),
}
#: Shares of reads in per cent, in their order.
MIXES: Final = (100, 0)
_AXIS: Final = Axis("throughput (MB/s)")


def _tracked(size: int) -> tuple[Tracked, ...]:
    cell = (size, 0)
    name = f"{block_text(size)} sequential write"
    return (Tracked(name, "MB/s", _rate_of(cell)),)


def _rate_of(cell: Cell) -> Callable[[Sequence[Step]], float]:
    return lambda steps: step_of_cell(steps, cell).megabytes_per_second


def _stimuli(applied: AppliedSettings, size: int) -> list[tuple[Stimulus, float]]:
    return [
        (applied.stimulus(size, mix / 100, is_random=False), applied.minutes(1)) for mix in MIXES
    ]


def _check(applied: AppliedSettings) -> None:
    for size in SIZES[applied.settings.edition]:
        applied.preconditioning(size)
        _stimuli(applied, size)


def _carry_out(bench: Bench) -> None:
    for size in SIZES[bench.applied.settings.edition]:
        section = block_text(size)
        bench.precondition(size, section)
        run_rounds(bench, _stimuli(bench.applied, size), _tracked(size), section=section)


def _most_steps(settings: Settings, _extent: Extent) -> int:
    of_one_size = PRECONDITIONING_STEPS + MOST_ROUNDS * len(MIXES)
    return len(SIZES[settings.edition]) * of_one_size


def _settled(record: Record, size: int) -> Settled:
    return recorded(record, len(MIXES), _tracked(size), section=block_text(size))


def _sections(record: Record) -> list[Section]:
    return [
        cells_section(record, _settled(record, size), block_text(size))
        for size in SIZES[record.settings.edition]
    ]


def _pages(record: Record) -> list[Page]:
    pages = []
    results: dict[Cell, CellResult] = {}
    words = []
    for size in SIZES[record.settings.edition]:
        settled = _settled(record, size)
        if not settled.rounds:
            continue
        name, block = f"throughput-{size // 1024}k", block_text(size)
        figures = [
            convergence_figure(
                f"{name}-{word}-convergence",
                f"Steady-state convergence: {block} sequential {word}",
                settled,
                [(f"{block} {word}", _rate_of((size, mix)))],
                _AXIS,
            )
            for word, mix in (("write", 0), ("read", 100))
        ]
        window = window_exhibits(name, settled, record.adjective)
        pages.append(Page(f"Throughput - {block}, convergence", tuple(figures)))
        pages.append(Page(f"Throughput - {block}, measurement window", tuple(window)))
        results |= by_cell(cell_results(settled.window_rounds))
        words.append(settled.window_words)
    if results:
        pages.append(Page("Throughput - table and 2-D plot", _overview(results, words)))
    return pages


def _overview(
    results: dict[Cell, CellResult], window_words: Sequence[str]
) -> tuple[Table, LineFigure]:
    """Show every block size; `window_words` say which rounds each uses."""
    sizes = list(dict.fromkeys(size for size, _ in results))
    rates = {cell: result.megabytes_per_second for cell, result in results.items()}
    table = Table(
        "throughput-table",
        ("block size", "read (MB/s)", "write (MB/s)"),
        tuple((block_text(size), rates[size, 100], rates[size, 0]) for size in sizes),
        title=f"Throughput: mean of {' and '.join(dict.fromkeys(window_words))}",
    )
    lines = tuple(
        Line(
            word,
            tuple(size / 1024 for size in sizes),
            tuple(rates[size, mix] for size in sizes),
        )
        for word, mix in (("read", 100), ("write", 0))
    )
    axis = Axis("block size (KiB)", "log2")
    return table, LineFigure("throughput-2d", "Throughput against block size", axis, _AXIS, lines)


TEST: Final = PtsTest(
    name="throughput",
    title="Throughput test",
    summary="sequential reads and writes of large blocks",
    known="specification",
    check=_check,
    carry_out=_carry_out,
    most_steps=_most_steps,
    sections=_sections,
    pages=_pages,
)
