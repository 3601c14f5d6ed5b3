"""Fitting the models of a run and saying how good they are, for several commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.errors import UsageError
from drivelab.report.build import MODEL

if TYPE_CHECKING:
    from drivelab.blackbox.model import PerformanceModel
    from drivelab.store import RunStore


@dataclass(frozen=True)
class Fitted:
    """What `fit_and_report` made."""

    model: PerformanceModel
    model_path: Path
    report_path: Path
    measurements_path: Path
    drive_name: str
    drive_kind: str


def fit_and_report(store: RunStore) -> Fitted:
    """Fit every model to what a run holds, and write model, table and report into it.

    Raises
    ------
    UsageError
        When the run holds too few workloads.
    RunError
        When the disk is full or the folder cannot be written.
    """
    from drivelab.blackbox.model import PerformanceModel
    from drivelab.measure.export import write_measurements
    from drivelab.measure.header import stored_header
    from drivelab.measure.stored import stored_measurements
    from drivelab.report.build import build_report
    from drivelab.workloads.parts import Parts

    header = stored_header(store)
    measurements = stored_measurements(store)
    model = PerformanceModel.fit(
        measurements,
        parts=Parts.from_json(header["design"]["parts"]),
        seed=header["plan"]["seed"],
        provenance=header,
    )
    model_path = store.path / MODEL
    model.save(model_path)
    return Fitted(
        model=model,
        model_path=model_path,
        report_path=build_report(store.path, measurements, model=model),
        measurements_path=write_measurements(measurements, store.path, header),
        drive_name=header["drive"]["name"],
        drive_kind=header["drive"]["kind"],
    )


def load_model(path: Path) -> PerformanceModel:
    """Load a model from its file or its run folder.

    Raises
    ------
    UsageError
        When there is none, or the file is no model.
    """
    from drivelab.blackbox.model import PerformanceModel

    if path.is_dir():
        if not (path / MODEL).is_file():
            raise UsageError(
                f"{path} has no {MODEL}; `drivelab model` makes a run, `drivelab report` writes "
                "its model again"
            )
        path = path / MODEL
    return PerformanceModel.load(path)


def accuracy_rows(model: PerformanceModel) -> list[dict[str, Any]]:
    """Give the cross-validated accuracy of every model (docs/json.md)."""
    return [
        {
            "metric": key.metric,
            "features": key.features,
            "estimator": key.estimator,
            "best": model.best[key.metric] == key,
            **accuracy.to_json(),
        }
        for key, accuracy in model.evaluation.cross_validated.items()
    ]


def accuracy_text(model: PerformanceModel) -> str:
    """Write the mean relative errors as a table, the best of each metric starred."""
    from drivelab.report.quantities import ESTIMATOR_LABELS, METRICS, share_text

    scores = model.evaluation.cross_validated
    estimators = list(dict.fromkeys(key.estimator for key in scores))
    head = ["mean relative error", "characteristics"]
    rows = [head + [ESTIMATOR_LABELS[name] for name in estimators]]
    for metric in METRICS:
        for features, count in (("basic", 4), ("extended", 8)):
            cells = []
            for estimator in estimators:
                (key,) = (key for key in scores if key == (metric, features, estimator))
                star = " *" if model.best[metric] == key else "  "
                cells.append(share_text(scores[key].mre) + star)
            label = METRICS[metric].label.lower() if features == "basic" else ""
            rows.append([label, f"{count} ({features})", *cells])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            f"{cell:<{width}}" if place < 2 else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "(on workloads that the model has not seen; * is the best)"])
