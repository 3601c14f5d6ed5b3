"""How sure predictions are: how wide their intervals are, and what share they contained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits import Table, Text
from drivelab.exhibits.quantities import METRICS, NOTHING, share_text
from drivelab.models.exhibits.interval_words import held_words, levels, promise_words
from drivelab.models.exhibits.tables import intervals

if TYPE_CHECKING:
    from drivelab.exhibits import Cell
    from drivelab.models.exhibits.run_data import RunData


def interval_exhibits(run: RunData) -> list[Table | Text]:
    """Show the intervals of the best models, or say why there are none."""
    rows = interval_rows(run)
    if not rows:
        return [
            Text(
                (
                    "Predictions come without an interval here: that takes at least 4 workloads "
                    "that are drawn at random and kept from the models, and this run has "
                    f"{run.intervals.workloads}.",
                )
            )
        ]
    population = str(run.header["design"].get("population", ""))
    drawn = f" Drawn like them means: from {population}." if population else ""
    checked = 0 if run.check is None else len(run.check.measurements)
    note = (
        f"Inside: the share of the {checked:,} off-grid workloads that are inside. "
        f"{held_words(run)} They are not drawn like those that set the factor, so the promise is "
        "not made for them; they show what it is worth elsewhere."
    )
    shown = levels(run)
    return [
        Text(
            (
                "Every prediction comes with an interval, from the prediction divided by a factor "
                "to the prediction times it: with a factor of 1.5, a predicted 1.00 ms means "
                "0.67 to 1.50 ms. The factor is larger where models were off nearby and where "
                "they disagree. The table shows the median, and between which factors eight of "
                f"ten workloads lie. {promise_words(run)}{drawn}",
            )
        ),
        Table(
            "interval-table",
            (
                "Best model of",
                *(("factor", "held") if checked else ("factor",)) * len(shown),
            ),
            tuple(rows),
            heads=tuple((f"{100 * level:g} % interval", 2 if checked else 1) for level in shown),
            right=True,
            note=note if checked else "",
            saved=(intervals(run),),
        ),
    ]


def interval_rows(run: RunData) -> list[tuple[Cell, ...]]:
    """Return, by metric, the factors of the interval at each level, and the share held if checked.

    The share is a percentage of the check workloads.
    """
    rows = []
    for metric, factors in run.intervals.factors.items():
        held = (run.evaluation.check_coverage or {}).get(metric, {})
        cells: list[Cell] = [METRICS[metric].label]
        for level, factor in factors.items():
            between = f"{factor.narrow:.2f} to {factor.wide:.2f}"
            cells.append(f"{factor.usual:.2f} ({between})")
            if run.check is not None:
                cells.append(share_text(held[level]) if level in held else NOTHING)
        rows.append(tuple(cells))
    return rows
