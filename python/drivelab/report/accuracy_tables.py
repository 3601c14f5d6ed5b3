"""Tables II and III of Huang et al. 2011: how good the basic and the extended models are.

Each model is judged three times, from the kindest to the hardest: on the workloads that it was
fitted to, on workloads of the design that it had not seen, and on workloads between those of
the design. And the intervals: how wide they are and how many of ten answers they held.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.report.quantities import (
    ESTIMATOR_LABELS,
    METRICS,
    NOTHING,
    TIMES,
    share_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.models.accuracy import Accuracy
    from drivelab.models.evaluate import ModelKey
    from drivelab.report.inputs import RunData

#: What a model was judged on, in the order of the columns.
JUDGED: Final = ("in_sample", "cross_validated", "off_grid")
_TITLES: Final = {
    "basic": "Basic models, four characteristics",
    "extended": "Extended models, all eight characteristics",
}
_NUMERALS: Final = {"basic": "II", "extended": "III"}


@dataclass(frozen=True)
class Cells:
    """R2, MAE with the mean, and MRE of one model on one set of workloads, as texts."""

    r2: str
    mae: str
    mre: str
    best: bool = False


@dataclass(frozen=True)
class AccuracyTable:
    """One of the two tables.

    Attributes
    ----------
    numeral, title
        The paper's number and what the table holds.
    judged
        Names among `JUDGED` that there are numbers for.
    groups
        A metric's name and rows: a model's name, and its cells for each of `judged`.
    """

    numeral: str
    title: str
    judged: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[str, tuple[Cells, ...]], ...]], ...]


def scores(run: RunData) -> dict[str, Mapping[ModelKey, Accuracy]]:
    """Return the accuracies that a run has, by what the models were judged on."""
    found: dict[str, Mapping[ModelKey, Accuracy]] = {
        "in_sample": run.evaluation.in_sample,
        "cross_validated": run.evaluation.cross_validated,
    }
    if run.evaluation.check is not None:
        found["off_grid"] = run.evaluation.check
    return found


def accuracy_tables(run: RunData) -> list[AccuracyTable]:
    """Return table II and table III, each if there are such models."""
    judged = scores(run)
    tables = []
    for features, title in _TITLES.items():
        groups = []
        for metric in run.metrics():
            rows = tuple(
                (
                    ESTIMATOR_LABELS[key.estimator],
                    tuple(
                        cells(
                            metric,
                            accuracy[key],
                            best=name == JUDGED[1] and key == run.best(metric),
                        )
                        for name, accuracy in judged.items()
                    ),
                )
                for key in run.accuracy
                if (key.metric, key.features) == (metric, features)
            )
            if rows:
                item = METRICS[metric]
                groups.append((f"{item.label} ({item.unit})", rows))
        if groups:
            tables.append(AccuracyTable(_NUMERALS[features], title, tuple(judged), tuple(groups)))
    return tables


def cells(metric: str, score: Accuracy, *, best: bool = False) -> Cells:
    """Write one accuracy as the paper does."""
    factor = METRICS[metric].factor
    return Cells(
        # It does not exist where all observations are equal.
        r2=NOTHING if math.isnan(score.r2) else f"{score.r2:.3f}".replace("-", "\N{MINUS SIGN}"),
        mae=f"{_plain(score.mae * factor)} ({_plain(score.mean * factor)})",
        mre=share_text(score.mre),
        best=best,
    )


def _plain(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    if 0 < value < 0.0005:
        return "<0.001"
    return f"{value:#.3g}" if value >= 0.01 else f"{value:.3f}"


def interval_rows(run: RunData) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return, by metric, the width of the interval and the share held, at each level.

    The width is written as the factor on either side of the prediction, the share as a
    percentage of the check workloads, or empty where there are none.
    """
    rows = []
    for metric, factors in run.intervals.factors.items():
        held = (run.evaluation.check_coverage or {}).get(metric, {})
        cells = [
            (
                f"\N{DIVISION SIGN}{factor:.2f} to {TIMES}{factor:.2f}",
                share_text(held[level]) if level in held else NOTHING,
            )
            for level, factor in factors.items()
        ]
        rows.append((METRICS[metric].label, cells))
    return rows
