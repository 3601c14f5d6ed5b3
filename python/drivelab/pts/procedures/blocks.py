"""Block-size sensitivity: eight block sizes in one mix (Coughlin et al. 2010, figure 2).

The specification's IOPS test shows seven mixes. If you know your mix, this test measures it alone,
in a seventh of the time. The sizes and their order are those of the IOPS test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Axis, Page
from drivelab.pts.bench import PRECONDITIONING_STEPS
from drivelab.pts.cell_exhibits import block_text, by_cell, cell_text, iops_exhibits
from drivelab.pts.cells import cell_results
from drivelab.pts.convergence import convergence_figure, window_exhibits
from drivelab.pts.procedures.iops import SIZES
from drivelab.pts.rounds import Settled, Tracked, recorded, run_rounds, step_of_cell
from drivelab.pts.sections import cells_section
from drivelab.pts.settings import MOST_ROUNDS
from drivelab.pts.test import PtsTest, Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.pts.applied_settings import AppliedSettings, Extent
    from drivelab.pts.bench import Bench
    from drivelab.pts.journal import Record, Step
    from drivelab.pts.settings import Settings
    from drivelab.workloads.stimulus import Stimulus

_TRACKED_BYTES: Final = 4096


def _sizes(block_bytes: int) -> list[int]:
    return [size for size in SIZES if size % block_bytes == 0]


def _read_percent(settings: Settings) -> int:
    return round(100 * (1 - settings.write_ratio))


def _iops_of(size: int, settings: Settings) -> Callable[[Sequence[Step]], float]:
    cell = size, _read_percent(settings)
    return lambda steps: step_of_cell(steps, cell).iops


def _tracked(settings: Settings) -> tuple[Tracked, ...]:
    name = cell_text((_TRACKED_BYTES, _read_percent(settings)))
    return (Tracked(name, "IOPS", _iops_of(_TRACKED_BYTES, settings)),)


def _stimuli(applied: AppliedSettings) -> list[tuple[Stimulus, float]]:
    ratio = 1 - applied.settings.write_ratio
    sizes = _sizes(applied.extent.block_bytes)
    return [(applied.stimulus(size, ratio), applied.minutes(1)) for size in sizes]


def _check(applied: AppliedSettings) -> None:
    applied.preconditioning()
    _stimuli(applied)


def _carry_out(bench: Bench) -> None:
    bench.precondition()
    run_rounds(bench, _stimuli(bench.applied), _tracked(bench.applied.settings))


def _most_steps(_settings: Settings, extent: Extent) -> int:
    return PRECONDITIONING_STEPS + MOST_ROUNDS * len(_sizes(extent.block_bytes))


def _settled(record: Record) -> Settled:
    return recorded(record, len(_sizes(record.extent.block_bytes)), _tracked(record.settings))


def _sections(record: Record) -> list[Section]:
    return [cells_section(record, _settled(record))]


def _pages(record: Record) -> list[Page]:
    settled = _settled(record)
    if not settled.rounds:
        return []
    sizes = _sizes(record.extent.block_bytes)
    convergence = convergence_figure(
        "blocks-convergence",
        "Steady-state convergence: IOPS of every block size",
        settled,
        [(block_text(size), _iops_of(size, record.settings)) for size in sizes],
        Axis("throughput (IOPS)", "log10"),
    )
    cells = by_cell(cell_results(settled.window_rounds))
    table, lines, _ = iops_exhibits("blocks", cells, settled.window_words)
    return [
        Page("Block sizes - steady-state convergence", (convergence,)),
        Page(
            "Block sizes - measurement window",
            tuple(window_exhibits("blocks", settled, record.adjective)),
        ),
        Page("Block sizes - table and 2-D plot", (table, lines)),
    ]


TEST: Final = PtsTest(
    name="blocks",
    title="Block-size sensitivity",
    summary="random IOPS of eight block sizes in one mix",
    known="own",
    check=_check,
    carry_out=_carry_out,
    most_steps=_most_steps,
    sections=_sections,
    pages=_pages,
)
