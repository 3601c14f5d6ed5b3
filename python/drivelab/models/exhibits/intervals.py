"""How sure predictions are: how wide their intervals are, and what share they contained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits import Table, Text
from drivelab.exhibits.quantities import METRICS, NOTHING, share_text
from drivelab.models.exhibits.interval_words import levels, promise_words
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
                    "Predictions of this run come without an interval. An interval needs at least "
                    "4 workloads that are drawn at random and kept from the models; this run has "
                    f"{run.intervals.workloads}.",
                )
            )
        ]
    population = str(run.header["design"].get("population", ""))
    drawn = f" The workloads were drawn from: {population}." if population else ""
    checked = 0 if run.check is None else len(run.check.measurements)
    note = (
        f"Inside: the share of the {checked:,} off-grid workloads that were inside the interval. "
        "They are not drawn like the workloads that set the factor, so nothing is promised for "
        "them; they show how far to trust intervals elsewhere."
    )
    shown = levels(run)
    return [
        Text(
            (
                "Every prediction comes with an interval: from the prediction divided by a factor "
                "to the prediction times that factor. With a factor of 1.5, a predicted 1.00 ms "
                "means 0.67 to 1.50 ms. The factor is larger near workloads that models got "
                "wrong, and where models disagree. The table shows the median factor and, in "
                "brackets, the range of the middle eight of ten workloads. "
                f"{promise_words(run)}{drawn}",
            )
        ),
        Table(
            "interval-table",
            (
                "Best model of",
                *(("factor", "inside") if checked else ("factor",)) * len(shown),
            ),
            tuple(rows),
            heads=tuple((f"{100 * level:g} % interval", 2 if checked else 1) for level in shown),
            right=True,
            note=note if checked else "",
            saved=(intervals(run),),
        ),
    ]


def interval_rows(run: RunData) -> list[tuple[Cell, ...]]:
    """Return, by metric, the factors of the interval at each level, and the share inside.

    The share is that of the check workloads, in per cent.
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
