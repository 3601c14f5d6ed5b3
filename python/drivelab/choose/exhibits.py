"""The report of a choice: ranking, certainty, differences between the drives, costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.choose import tables
from drivelab.choose.answer import answer_of
from drivelab.choose.candidate import QUALITIES, Quality
from drivelab.choose.words import (
    cheapest_text,
    filled_texts,
    headline,
    kind_text,
    lacking_texts,
    late_texts,
    ratio_text,
    sentence,
    where_text,
)
from drivelab.exhibits import (
    Axis,
    BarFigure,
    Card,
    Cards,
    Caution,
    Facts,
    First,
    Line,
    LineFigure,
    Page,
    Report,
    Table,
    Text,
    WhatIf,
    number,
)
from drivelab.exhibits.quantities import (
    NOTHING,
    PROVENANCE,
    latency_text,
    listed,
    share_text,
)
from drivelab.units import format_iops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.choose.candidate import Candidate
    from drivelab.choose.costs import Cost
    from drivelab.choose.ranking import Choice
    from drivelab.choose.settings import Asked
    from drivelab.exhibits import Cell, Exhibit

# Bars: the qualities that share one figure and one axis.
_FIGURES: Final = (
    ("latencies", ("latency", "p99"), Axis("latency", quantity="duration"), 1.0),
    ("bandwidth", ("bandwidth",), Axis("bandwidth (MB/s)"), 1e-6),
    ("throughput", ("throughput",), Axis("throughput (IOPS)"), 1.0),
)
_WHISKERS: Final = (
    "Whiskers are 95 % intervals of the mean over the repetitions (Student's t). Drives whose "
    "whiskers overlap may still differ: the pairs below compare them repetition by repetition."
)
_PAIRED: Final = (
    "How many times as good one drive is as the other. Drives are compared repetition by "
    "repetition, because each repetition has the same random numbers on every drive. A difference "
    "is certain if the 95 % interval of the ratio excludes 1. Each interval is for its own row: of "
    "twenty rows with equal drives, one looks certain by chance."
)
_SHARED: Final = (
    "Drives share a rank if no comparison below separates them. The value after "
    "\N{PLUS-MINUS SIGN} is the half-width (95 %) of the mean."
)
_MEASURED_ONCE: Final = "Measured once: every drive gives the same answer to this trace every time."
_COMPARED_ONCE: Final = (
    "How many times as good one drive is as the other under this trace. Both give the same answer "
    "every time, so even a small difference is certain. Whether it matters is for you to decide."
)
_COMPARED_APART: Final = (
    "How many times as good one drive is as the other{where}. Their means are compared, and each "
    "drive's own variation counts. A difference is certain if the 95 % interval of the ratio "
    "excludes 1. Each interval is for its own row: of twenty rows with equal drives, one looks "
    "certain by chance."
)
_VARYING_APART: Final = (
    "For two drives that both vary from run to run, the means are compared instead, and each "
    "drive's own variation counts."
)
_CURVES: Final = (
    "Where a line rises steeply to the right, a few requests are much slower than the mean. Lines "
    "are means over the repetitions. A line ends where fewer than "
    f"{tables.REQUESTS_BEYOND} requests of a repetition are slower. Drives that cannot keep up are "
    "not drawn."
)
_NO_SCATTER: Final = 1e-9
_MOST_CARDS: Final = 3
_DIVIDED: Final = (
    "The number of drives for the rate is a plain division. If the load is spread over several "
    "drives, each has a shorter queue, so they would answer faster than one."
)


def choice_report(choice: Choice, asked: Asked, costs: Sequence[Cost]) -> Report:
    """Return the report; the same measurements always give the same one."""
    kinds = {one.kind for one in choice.candidates}
    badge = ("", "")
    if len(kinds) == 1:
        (kind,) = kinds
        badge = (kind, PROVENANCE[kind].label)
    pages = [_ranking(choice, asked), _statements(choice, asked), _differences(choice)]
    if costs:
        pages.append(_costs(costs))
    pages.append(Page("What was measured", (Facts("", _facts(choice, asked)),), anchor="facts"))
    return Report(
        f"Which drive for {asked.name}",
        first=_first(choice, asked),
        pages=tuple(pages),
        result=answer_of(choice, asked, costs),
        tables=(tables.repetition_table(choice),),
        subject="choice",
        badge=badge,
        statement=_statement(choice.candidates),
        what_if=WhatIf.of_drives((one.drive, one.kind) for one in choice.candidates),
    )


def ranking_table(choice: Choice, asked: Asked) -> Table:
    """Return the drives, best first, as a table of texts for people."""
    columns = ("Drive", "Rank", *(each.metric.label for each in QUALITIES.values()))
    rows: list[tuple[Cell, ...]] = []
    for rank, one in zip(choice.ranks, choice.candidates, strict=True):
        cells = [quality_text(each, one) for each in QUALITIES.values()]
        rows.append((one.drive, NOTHING if one.shortfalls else rank, *cells))
    return Table(
        "ranking",
        columns,
        tuple(rows),
        note=_MEASURED_ONCE if asked.is_exact else _SHARED,
        right=True,
        saved=(tables.drive_table(choice),),
    )


def _first(choice: Choice, asked: Asked) -> First:
    """Return the best drives, their curves in one figure, and how sure the order is."""
    names = [one.drive for one in choice.lacking]
    behind = [f"{listed(names)} cannot keep up with what arrives."] if names else []
    is_able = len(choice.lacking) < len(choice.candidates)
    cautions = tuple(Caution("Cannot keep up", text) for text in lacking_texts(choice))
    cautions += tuple(Caution("A little late", text) for text in late_texts(choice))
    cautions += tuple(Caution("What is on the drives", text) for text in filled_texts(asked))
    if asked.scope is not None:
        cautions += (Caution("One trace", asked.scope),)
    mean, slow, rate = (QUALITIES[name] for name in ("latency", "p99", "throughput"))
    return First(
        " ".join((*behind, headline(choice))),
        (_curves(choice) if is_able else _bars(choice, asked, _FIGURES[-1]),),
        Cards(
            tuple(
                Card(
                    one.drive,
                    quality_text(mean, one),
                    said=f"mean latency; 99 % in {quality_text(slow, one)}; "
                    f"{quality_text(rate, one)}",
                )
                for one in choice.candidates[:_MOST_CARDS]
            )
        ),
        " ".join(sentence(one) for one in choice.steps()[:1]),
        cautions,
    )


def _ranking(choice: Choice, asked: Asked) -> Page:
    table = ranking_table(choice, asked)
    what = "" if asked.description == asked.name else f": {asked.description}"
    asked_for = Text((f"The workload is {asked.name}{what}.", *map(_as_sentence, asked.notes)))
    shown = _FIGURES if len(choice.lacking) < len(choice.candidates) else _FIGURES[:-1]
    bars = tuple(_bars(choice, asked, figure) for figure in shown)
    return Page("Which drive", (asked_for, table, *bars), anchor="ranking")


def _as_sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:].rstrip('.')}."


def _bars(
    choice: Choice, asked: Asked, figure: tuple[str, tuple[str, ...], Axis, float]
) -> BarFigure:
    name, names, axis, factor = figure
    qualities = [QUALITIES[each] for each in names]
    bars: list[tuple[str, tuple[float | None, ...], tuple[tuple[float, float] | None, ...]]] = []
    for one in choice.candidates:
        if one.shortfalls and qualities[0].is_less_better:
            # Drives that cannot keep up would dwarf the others, and their latencies mean nothing.
            bars.append((one.drive, (None,) * len(qualities), (None,) * len(qualities)))
            continue
        found = [one.interval(each) for each in qualities]
        values = tuple(factor * each.mean for each in found)
        ends = tuple(
            None
            if each.ends is None or one.is_exact
            else (factor * max(each.ends[0], 0.0), factor * each.ends[1])
            for each in found
        )
        bars.append((one.drive, values, ends))
    return BarFigure(
        name,
        "",
        axis,
        tuple(each.metric.label for each in qualities),
        tuple(bars),
        note=_WHISKERS if name == _FIGURES[-1][0] and not asked.is_exact else "",
    )


def _statements(choice: Choice, asked: Asked) -> Page:
    able = [one for one in choice.candidates if not one.shortfalls]
    exhibits: list[Exhibit] = []
    if len(able) > 1:
        exhibits.append(Text(tuple(map(sentence, choice.steps()))))
        rows = tuple(
            (
                one.better,
                one.worse,
                ratio_text(one.ratio),
                "yes" if one.is_carried else "no",
            )
            for one in choice.statements
        )
        groups = tuple(
            (each.metric.label, len(choice.of(each)))
            for each in QUALITIES.values()
            if choice.of(each)
        )
        exhibits.append(
            Table(
                "pairs",
                ("better", "worse", "by how much", "certain"),
                rows,
                lead=_compared(able, asked),
                groups=groups,
                saved=(tables.statement_table(choice),),
            )
        )
    else:
        exhibits.append(Text(("Fewer than two drives keep up, so no two are compared.",)))
    return Page("How sure that is", tuple(exhibits), anchor="statements")


def _compared(able: Sequence[Candidate], asked: Asked) -> str:
    if asked.is_exact:
        return _COMPARED_ONCE
    if asked.is_recorded:
        return _COMPARED_APART.format(where=" under this trace")
    varying = [one.varies for one in able]
    if all(varying):
        return _COMPARED_APART.format(where="")
    return f"{_PAIRED} {_VARYING_APART}" if varying.count(True) > 1 else _PAIRED


def _differences(choice: Choice) -> Page:
    said = where_text(choice)
    exhibits: list[Exhibit] = [Text((said,))] if said else []
    exhibits.append(_streams(choice))
    return Page("Where they differ", tuple(exhibits), anchor="differences")


def _curves(choice: Choice) -> LineFigure:
    table = tables.percentile_table(choice)
    lines = []
    for one in choice.candidates:
        if one.shortfalls:
            continue
        rows = table.records(drive=one.drive)
        lines.append(
            Line(
                one.drive,
                tuple(number(row["percentile"]) for row in rows),
                tuple(number(row["latency_ns"]) for row in rows),
                "trace",
                origin=one.kind,
            )
        )
    return LineFigure(
        "percentiles",
        "Latency of the slower requests",
        Axis("percentile: requests that take no longer", "nines"),
        Axis("latency", "log10", quantity="duration"),
        tuple(lines),
        note=_CURVES,
        saved=(table,),
    )


def _streams(choice: Choice) -> Table:
    table = tables.stream_table(choice)
    rows: list[tuple[Cell, ...]] = []
    groups: list[tuple[str, int]] = []
    for record in table.records():
        name = kind_text(record)
        if not groups or groups[-1][0] != name:
            groups.append((name, 0))
        groups[-1] = (name, groups[-1][1] + 1)
        latencies = (latency_text(number(record[f"latency_ns_{each}"])) for each in ("mean", "p99"))
        rows.append((record["drive"], *latencies, format_iops(number(record["iops"]))))
    return Table(
        "by-stream",
        ("drive", "mean latency", "99 % latency", "throughput"),
        tuple(rows),
        title="By stream and kind of request",
        groups=tuple(groups),
        right=True,
        saved=(table,),
    )


def _costs(costs: Sequence[Cost]) -> Page:
    has_rate = any(one.drives is not None for one in costs)
    columns: tuple[str, ...] = ("drive", "price", "watts", "IOPS per price", "IOPS per watt")
    columns += ("price per TB",)
    if has_rate:
        columns += (f"drives for {costs[0].rate_iops:,.0f} IOPS", "their price", "their watts")
    rows: list[tuple[Cell, ...]] = []
    for one in costs:
        values: list[float | None] = [one.price.price, one.price.watts, one.iops_per_price]
        values += [one.iops_per_watt, one.price_per_terabyte]
        if has_rate:
            values += [one.drives, one.rate_price, one.rate_watts]
        cells: list[Cell] = [amount_text(value) for value in values]
        rows.append((one.drive, *cells))
    table = Table(
        "what-they-cost",
        columns,
        tuple(rows),
        note=f"Prices are in the currency of the table. {_DIVIDED if has_rate else ''}".strip(),
        right=True,
        saved=(tables.cost_table(costs),),
    )
    said = cheapest_text(costs)
    return Page("What they cost", (*([Text((said,))] if said else []), table), anchor="costs")


def _facts(choice: Choice, asked: Asked) -> tuple[tuple[str, str], ...]:
    first = choice.candidates[0].measurements[0]
    each = f"{first.requests:,} requests in a repetition on {choice.candidates[0].drive}"
    return (
        ("Workload", asked.name),
        ("What it is", asked.description),
        *((("Writes", asked.writes),) if asked.writes else ()),
        *(("Not as recorded", note) for note in asked.notes),
        ("Repetitions", asked.repetitions_text),
        ("Counted", f"{each}; other drives may count others"),
        ("Seed", str(asked.seed)),
    )


def _statement(candidates: Sequence[Candidate]) -> str:
    """Return the sentence on where the numbers come from."""
    kinds = list(dict.fromkeys(one.kind for one in candidates))
    if len(kinds) == 1:
        return PROVENANCE[kinds[0]].statement
    parts = []
    for kind in kinds:
        names = listed([one.drive for one in candidates if one.kind == kind])
        parts.append(f"The numbers of {names} are {PROVENANCE[kind].adjective}.")
    return " ".join(parts)


def amount_text(value: float | None) -> str:
    """Write a price or a power: four significant digits, and all before the decimal point."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.4g}"


def quality_text(quality: Quality, one: Candidate) -> str:
    """Write a mean and its half-width in per cent; only the value if it never varies."""
    interval = one.interval(quality)
    text = quality.metric.text(interval.mean)
    if interval.high is None or one.is_exact:
        return text
    half = (interval.high - interval.mean) / interval.mean
    # If the means of repetitions round to the same value, only rounding errors are left.
    return f"{text} \N{PLUS-MINUS SIGN} {share_text(half) if half > _NO_SCATTER else '0 %'}"
