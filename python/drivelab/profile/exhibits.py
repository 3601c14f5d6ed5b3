"""What a sequentiality profile shows: access times, and how much faster sequential access is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

from drivelab.exhibits import (
    Axis,
    Card,
    Cards,
    Caution,
    Cell,
    First,
    Line,
    LineFigure,
    Multiples,
    Page,
    Report,
    Table,
    Text,
    WhatIf,
    number,
)
from drivelab.exhibits.quantities import PROVENANCE, TIMES, listed, within_text
from drivelab.profile.decision import Answer
from drivelab.profile.sizes import size_text
from drivelab.profile.tables import (
    ORDERS,
    access_time_table,
    decision_table,
    interval_table,
    pass_table,
    ratio_table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.profile.decision import Decision
    from drivelab.profile.profile import Profile

    Row = dict[str, Cell]

_SIZES: Final = Axis("request size (bytes)", "log2")
_ANSWERS: Final[tuple[Cell, ...]] = get_args(Answer)
# Ratios beyond this are read on a logarithmic axis.
_LARGE_RATIO: Final = 10.0


def profile_report(
    found: Profile,
    answers: Sequence[Decision],
    *,
    drive: str,
    kind: str,
    note: str,
    cautions: Sequence[str] = (),
) -> Report:
    """Make the report of a profile.

    Parameters
    ----------
    found
        The profile.
    answers
        Whether optimisations pay, where their cost was asked about.
    drive, kind
        The drive's name and what it is.
    note
        What was measured, in a sentence.
    cautions
        What limits the ratios, a line each.
    """
    provenance = PROVENANCE[kind]
    times, worth = profile_figures(found, kind)
    warned = tuple(Caution(seen=f"{line[0].upper()}{line[1:]}.") for line in cautions)
    return Report(
        drive,
        first=First(
            "How much faster sequential requests are than the same requests at random places, "
            f"{provenance.adjective}.",
            (_first_figure(worth),),
            _first_numbers(found),
            _how_sure(found),
            warned,
        ),
        pages=(
            Page("Reads and writes separately", (worth, times), anchor="figures"),
            *(
                [Page("Whether an optimisation pays", (_answers(answers),), anchor="pays")]
                if answers
                else []
            ),
            Page("All sizes", (_sizes(found),), anchor="sizes"),
            Page(f"How it was {provenance.adjective}", (Text((note,)),), anchor="identity"),
        ),
        tables=(ratio_table(found), pass_table(found)),
        subject="profile",
        badge=(kind, provenance.label),
        statement=provenance.statement,
        folder="",
        what_if=WhatIf.of_drives([(drive, kind)]),
    )


def profile_figures(found: Profile, kind: str) -> tuple[Multiples, Multiples]:
    """Show the access times of each direction, and its ratios; `kind` is the drive's."""
    times, ratios = access_time_table(found), interval_table(found)
    directions = list(dict.fromkeys(str(cell) for cell in ratios.column("direction")))
    return (
        Multiples(
            "times",
            "Access times",
            tuple(_times(times, direction, PROVENANCE[kind].adjective) for direction in directions),
            columns=2,
            saved=(times,),
        ),
        Multiples(
            "worth",
            "Sequential throughput over random throughput",
            tuple(_ratios(ratios, direction) for direction in directions),
            columns=2,
            saved=(ratios,),
        ),
    )


def _first_figure(worth: Multiples) -> LineFigure:
    """Put the ratios of both directions on one pair of axes; the next figure has the intervals."""
    figures = [figure for figure in worth.figures if isinstance(figure, LineFigure)]
    also = tuple(value for figure in figures for value in figure.y.also)
    highest = max(y for figure in figures for line in figure.lines for y in line.y)
    lines = tuple(
        replace(line, label=figure.title)
        for figure in figures
        for line in figure.lines
        if line.role == "trace"
    )
    return LineFigure(
        "ratios",
        worth.title,
        _SIZES,
        Axis(
            "sequential / random throughput",
            "log10" if highest > _LARGE_RATIO else "linear",
            also=also,
        ),
        # In ink: a fit has the colour of the second series.
        (*lines, *(replace(line, role="guide") for line in figures[0].lines if line.role == "fit")),
        saved=worth.saved,
    )


def _first_numbers(found: Profile) -> Cards:
    """Return the range of the ratios of reads and of writes."""
    return Cards(
        tuple(
            Card(
                f"Sequential over random {direction}s",
                f"{ratios.least:.2f}{TIMES}",
                f"{ratios.most:.2f}{TIMES}",
                f"{ratios.mean:.2f}{TIMES} on average over the sizes",
            )
            for direction, ratios in found.ratios.items()
        )
    )


def _how_sure(found: Profile) -> str:
    known = [
        f"{direction}s {within_text(ratios.half_width_ratio)}"
        for direction, ratios in found.ratios.items()
        if ratios.half_width_ratio is not None
    ]
    if not known:
        return "How sure: unknown, because nothing was repeated (--repetitions)."
    return f"How sure: ratios of {listed(known)} (95 % interval, median over the sizes)."


def _times(times: Table, direction: str, adjective: str) -> LineFigure:
    """Show sequential and random access times, and the measured ones if not all were measured.

    `adjective` says what the latter are, measured or simulated.
    """
    lines, measured = [], []
    for order in ORDERS.values():
        rows = times.records(direction=direction, order=order)
        lines.append(_line(order, rows, "access_time_ns"))
        measured += [row for row in rows if row["measured_ns"] is not None]
    ends = [number(cell) for cell in times.column("access_time_ns")]
    y = Axis("access time", "log10", quantity="duration", also=(min(ends), max(ends)))
    if len(measured) < sum(len(line.x) for line in lines):
        x = tuple(number(row["request_bytes"]) for row in measured)
        lines.append(
            Line(adjective, x, tuple(number(row["measured_ns"]) for row in measured), "mean")
        )
    return LineFigure(f"times-{direction}", f"{direction.title()}s", _SIZES, y, tuple(lines))


def _ratios(ratios: Table, direction: str) -> LineFigure:
    rows = ratios.records(direction=direction)
    line = _line("ratio", rows, "ratio")
    lines = [line]
    highest = max(line.y)
    if rows[0]["low_ratio"] is not None:
        low, high = (
            tuple(number(row[name]) for row in rows) for name in ("low_ratio", "high_ratio")
        )
        highest = max(high)
        lines.insert(0, Line("95 % interval", line.x, low, "band", low=low, high=high))
    lines.append(Line("equal", (min(line.x), max(line.x)), (1.0, 1.0), "fit"))
    y = Axis(
        "sequential / random throughput",
        "log10" if highest > _LARGE_RATIO else "linear",
        also=(0.8,) if highest > _LARGE_RATIO else (0.0, 1.5),
    )
    return LineFigure(f"ratios-{direction}", f"{direction.title()}s", _SIZES, y, tuple(lines))


def _sizes(found: Profile) -> Table:
    """Show the ratio of every size with its interval."""
    saved = interval_table(found)
    return Table(
        "sizes",
        ("direction", "request size (KiB)", "sequential / random throughput", "95 % from", "to"),
        tuple(
            # In MiB neighbours would look alike.
            (direction, f"{number(size) / 1024:,g}", *ratios)
            for direction, size, *ratios in saved.rows
        ),
        keys=tuple(
            (float(place), *map(_key, cells)) for place, (_, *cells) in enumerate(saved.rows)
        ),
        saved=(saved,),
    )


def _answers(answers: Sequence[Decision]) -> Table:
    """Show what each optimisation gains and whether it pays."""
    saved = decision_table(answers)
    columns = ("direction", "optimisation", "request size", "becomes")
    gains = ("gain (times)", "95 % from", "to", "needed (times)", "pays")
    return Table(
        "answers",
        (*columns, *gains),
        tuple(
            (
                direction,
                optimisation,
                size_text(round(number(size))),
                None if becomes is None else size_text(round(number(becomes))),
                *others,
            )
            for direction, optimisation, size, becomes, *others in saved.rows
        ),
        keys=tuple(
            (float(place), float(place), *map(_key, others), float(_ANSWERS.index(answer)))
            for place, (_, _, *others, answer) in enumerate(saved.rows)
        ),
        saved=(saved,),
    )


def _line(label: str, rows: Sequence[Row], column: str) -> Line:
    x = tuple(number(row["request_bytes"]) for row in rows)
    return Line(label, x, tuple(number(row[column]) for row in rows), "trace")


def _key(cell: Cell) -> float | None:
    """Return what a cell is sorted by; None if it is empty."""
    return float(cell) if isinstance(cell, int | float) else None
