"""Which of a run's models is meant, and how good they are in words, for several commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import argparse

    from drivelab.models.model import PerformanceModel

#: Percent of workloads that an interval holds, unless something else is asked for.
DEFAULT_LEVEL: Final = "90"
#: Of features and estimator: the one that cross-validation found best.
AUTO: Final = "auto"


def asked_features(args: argparse.Namespace) -> str | None:
    """Give the features that were asked for; None is the best."""
    return None if args.features == AUTO else str(args.features)


def asked_estimator(args: argparse.Namespace) -> str | None:
    """Give the estimator that was asked for; None is the best."""
    return None if args.estimator == AUTO else str(args.estimator)


def accuracy_text(model: PerformanceModel) -> str:
    """Write the mean relative errors as a table, the best of each metric starred."""
    from drivelab.report.quantities import ESTIMATOR_LABELS, METRICS, share_text

    evaluation = model.evaluation
    head = ["relative error", "", "in-sample", "unseen  "]
    rows = [head if evaluation.check is None else [*head, "off-grid"]]
    for metric, quantity in METRICS.items():
        of_metric = [key for key in evaluation.cross_validated if key.metric == metric]
        for key in of_metric:
            star = " *" if model.best[metric] == key else "  "
            cells = [
                share_text(evaluation.in_sample[key].mre),
                share_text(evaluation.cross_validated[key].mre) + star,
            ]
            if evaluation.check is not None:
                cells.append(share_text(evaluation.check[key].mre))
            label = quantity.label.lower() if key == of_metric[0] else ""
            rows.append([label, f"{key.features} {ESTIMATOR_LABELS[key.estimator]}", *cells])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            f"{cell:<{width}}" if place < 2 else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *_meaning(model)])


def _meaning(model: PerformanceModel) -> list[str]:
    evaluation = model.evaluation
    told = [
        "(means; unseen: cross-validated, * is the best;",
        " in-sample: on the workloads fitted to",
    ]
    if evaluation.check is None:
        return [told[0], f"{told[1]})"]
    rows = next(iter(evaluation.check.values())).rows
    outside = f", {evaluation.check_outside} others lie outside" if evaluation.check_outside else ""
    return [
        told[0],
        f"{told[1]};",
        f" off-grid: on {rows:,} workloads between the design's values{outside})",
    ]
