"""IOPS: random requests of eight sizes in seven mixes, fifty-six minutes per round.

The order (mixes outside, sizes inside, from the largest down) and what is tracked are the
specification's (version 2.0).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Axis, Page
from drivelab.pts.bench import PRECONDITIONING_STEPS
from drivelab.pts.cell_exhibits import block_text, by_cell, cell_text, iops_exhibits
from drivelab.pts.cells import cell_results
from drivelab.pts.convergence import convergence_figure, window_exhibits
from drivelab.pts.journal import Record, Step
from drivelab.pts.rounds import Cell, Settled, Tracked, recorded, run_rounds, step_of_cell
from drivelab.pts.sections import cells_section
from drivelab.pts.settings import MOST_ROUNDS
from drivelab.pts.test import PtsTest, Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.pts.applied_settings import AppliedSettings, Extent
    from drivelab.pts.bench import Bench
    from drivelab.pts.settings import Settings
    from drivelab.workloads.stimulus import Stimulus

#: Shares of reads in per cent, and block sizes in bytes, in their order.
MIXES: Final = (100, 95, 65, 50, 35, 5, 0)
SIZES: Final = tuple(sectors * 512 for sectors in (2048, 256, 128, 64, 32, 16, 8, 1))
TRACKED: Final[tuple[Cell, ...]] = ((4096, 0), (65536, 65), (1048576, 100))


def cells_of(block_bytes: int) -> list[Cell]:
    """Return the cells of a round in order; sizes below the drive's block are left out."""
    return [(size, mix) for mix in MIXES for size in SIZES if size % block_bytes == 0]


def _tracked() -> tuple[Tracked, ...]:
    return tuple(Tracked(cell_text(cell), "IOPS", _iops_of(cell)) for cell in TRACKED)


def _iops_of(cell: Cell) -> Callable[[Sequence[Step]], float]:
    return lambda steps: step_of_cell(steps, cell).iops


def _stimuli(applied: AppliedSettings) -> list[tuple[Stimulus, float]]:
    cells = cells_of(applied.extent.block_bytes)
    return [(applied.stimulus(size, mix / 100), applied.minutes(1)) for size, mix in cells]


def _check(applied: AppliedSettings) -> None:
    applied.preconditioning()
    _stimuli(applied)


def _carry_out(bench: Bench) -> None:
    bench.precondition()
    run_rounds(bench, _stimuli(bench.applied), _tracked())


def _most_steps(_settings: Settings, extent: Extent) -> int:
    return PRECONDITIONING_STEPS + MOST_ROUNDS * len(cells_of(extent.block_bytes))


def _settled(record: Record) -> Settled:
    return recorded(record, len(cells_of(record.extent.block_bytes)), _tracked())


def _sections(record: Record) -> list[Section]:
    return [cells_section(record, _settled(record))]


def _pages(record: Record) -> list[Page]:
    settled = _settled(record)
    if not settled.rounds:
        return []
    sizes = [size for size, mix in cells_of(record.extent.block_bytes) if mix == 0]
    convergence = convergence_figure(
        "iops-convergence",
        "Steady-state convergence: IOPS of 100 % writes",
        settled,
        [(block_text(size), _iops_of((size, 0))) for size in sizes],
        Axis("throughput (IOPS)", "log10"),
    )
    cells = by_cell(cell_results(settled.window_rounds))
    table, lines, columns = iops_exhibits("iops", cells, settled.window_words)
    return [
        Page("IOPS - steady-state convergence", (convergence,)),
        Page(
            "IOPS - measurement window", tuple(window_exhibits("iops", settled, record.adjective))
        ),
        Page("IOPS - table and 2-D plot", (table, lines)),
        Page("IOPS - 3-D columns", (columns,)),
    ]


TEST: Final = PtsTest(
    name="iops",
    title="IOPS test",
    summary="random IOPS of eight block sizes in seven mixes",
    known="specification",
    check=_check,
    carry_out=_carry_out,
    most_steps=_most_steps,
    sections=_sections,
    pages=_pages,
)
