"""Exhibits of block sizes and mixes: tables, 2-D plots and 3-D columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from drivelab.exhibits import Axis, ColumnFigure, Exhibit, Line, LineFigure, Table
from drivelab.pts.cells import CellResult
from drivelab.pts.rounds import Cell

Value = Callable[[CellResult], float | None]
ByCell = Mapping[Cell, CellResult]


def block_text(size_bytes: int) -> str:
    """Return a block size as the specification writes it, in KiB."""
    return f"{size_bytes / 1024:g} KiB"


def mix_text(read_percent: int) -> str:
    """Return a mix as the specification writes it: ``R/W 65/35``."""
    return f"R/W {read_percent}/{100 - read_percent}"


def cell_text(cell: Cell) -> str:
    """Return block size and mix: ``4 KiB R/W 0/100``."""
    return f"{block_text(cell[0])} {mix_text(cell[1])}"


def cells_table(name: str, title: str, cells: ByCell, value: Value, *, note: str = "") -> Table:
    """Return a table of a value by block size (rows) and mix (columns)."""
    sizes, mixes = axes_of(cells)
    rows = tuple(
        (
            block_text(size),
            *(value(cells[size, mix]) if (size, mix) in cells else None for mix in mixes),
        )
        for size in sizes
    )
    return Table(
        name,
        ("block size", *(mix_text(mix) for mix in mixes)),
        rows,
        title=title,
        note=note,
    )


def cells_lines(name: str, title: str, cells: ByCell, value: Value, y: Axis) -> LineFigure:
    """Draw a value against block size, one series per mix."""
    sizes, mixes = axes_of(cells)
    lines = []
    for mix in mixes:
        points = [
            (size / 1024, height)
            for size in sorted(sizes)
            if (size, mix) in cells and (height := value(cells[size, mix])) is not None
        ]
        if points:
            xs, ys = zip(*points, strict=True)
            lines.append(Line(mix_text(mix), tuple(xs), tuple(ys)))
    return LineFigure(name, title, Axis("block size (KiB)", "log2"), y, tuple(lines))


def cells_columns(name: str, title: str, cells: ByCell, value: Value, z: Axis) -> ColumnFigure:
    """Draw a column for every block size and mix."""
    sizes, mixes = axes_of(cells)
    return ColumnFigure(
        name,
        title,
        Axis("read/write mix", categories=tuple(mix_text(mix) for mix in mixes)),
        Axis("block size", categories=tuple(block_text(size) for size in sizes)),
        z,
        tuple(
            tuple(value(cells[size, mix]) if (size, mix) in cells else None for mix in mixes)
            for size in sizes
        ),
    )


def axes_of(cells: ByCell) -> tuple[list[int], list[int]]:
    """Return block sizes and shares of reads in the order in which they were measured."""
    sizes = list(dict.fromkeys(size for size, _ in cells))
    mixes = list(dict.fromkeys(mix for _, mix in cells))
    return sizes, mixes


def by_cell(results: Sequence[CellResult]) -> dict[Cell, CellResult]:
    """Return results by block size and share of reads in per cent."""
    named = {}
    for result in results:
        stimulus = result.steps[0].stimulus
        named[stimulus.sizes[0][0], round(100 * stimulus.read_ratio)] = result
    return named


def iops_exhibits(name: str, cells: ByCell, window_words: str) -> list[Exhibit]:
    """Show IOPS of every cell: the table, the 2-D plot and the 3-D columns.

    `window_words` say which rounds the means cover.
    """

    def iops(cell: CellResult) -> float:
        return cell.iops

    axis = Axis("throughput (IOPS)", "log10")
    return [
        cells_table(f"{name}-table", f"IOPS: mean of {window_words}", cells, iops),
        cells_lines(f"{name}-2d", "IOPS against block size", cells, iops, axis),
        cells_columns(f"{name}-3d", "IOPS by block size and mix", cells, iops, axis),
    ]
