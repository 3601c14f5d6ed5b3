"""Fitting the models of a run and saying how good they are, for several commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import UsageError
from drivelab.report.build import MODEL

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from drivelab.drives.measurement import Measurement
    from drivelab.models.model import PerformanceModel
    from drivelab.outputs import OutputFolder
    from drivelab.store import RunStore

#: Percent of workloads that an interval holds, unless something else is asked for.
DEFAULT_LEVEL: Final = "90"
#: Of features and estimator: the one that cross-validation found best.
AUTO: Final = "auto"


@dataclass(frozen=True)
class Fitted:
    """What `fit_and_report` made.

    Attributes
    ----------
    half_width_ratio
        What was asked for, over the mean latency; None if nothing was.
    half_width_reached
        How many measurements reached it.
    """

    model: PerformanceModel
    model_path: Path
    report_path: Path
    measurements_path: Path
    drive_name: str
    drive_kind: str
    half_width_ratio: float | None
    half_width_reached: int | None


def fit(store: RunStore) -> tuple[PerformanceModel, list[Measurement]]:
    """Fit every model to what a run holds; give the measurements too, which may grow.

    Raises
    ------
    UsageError
        When the run holds too few workloads.
    RunError
        When the run is damaged.
    """
    from drivelab.measure.header import stored_header
    from drivelab.measure.stored import stored_measurements
    from drivelab.models.model import PerformanceModel
    from drivelab.workloads.parts import Parts

    header = stored_header(store)
    measurements = stored_measurements(store)
    model = PerformanceModel.fit(
        measurements,
        parts=Parts.from_json(header["design"]["parts"]),
        seed=header["plan"]["seed"],
        provenance=header,
    )
    return model, measurements


def check_run_files(run: Path, header: Mapping[str, Any], *, force: bool = False) -> None:
    """Refuse a run whose tables, model or report somebody changed, before the work begins.

    Raises
    ------
    UsageError
        With the first file that may not be written again.
    """
    from drivelab.measure.export import EXPORT, KIND
    from drivelab.measure.header import run_of
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder

    folder = OutputFolder.of_run(run, run_of(header), force=force)
    refuse_folder(folder)
    folder.check({EXPORT: KIND, MODEL: "model"})


def fit_and_report(store: RunStore, out: OutputFolder | None = None) -> Fitted:
    """Fit every model to what a run holds, and write model, table and report into it.

    Parameters
    ----------
    store
        The run.
    out
        Another folder for the report.

    Raises
    ------
    UsageError
        When the run holds too few workloads.
    RunError
        When the disk is full or the folder cannot be written.
    """
    from drivelab.measure.export import write_measurements
    from drivelab.report.build import build_report

    force = out is not None and out.force
    check_run_files(store.path, store.header, force=force)
    model, measurements = fit(store)
    drive = store.header["drive"]
    asked = store.header["plan"].get("half_width_ratio")
    reached = sum(one.stopped_by == "half_width" for one in measurements)
    model_path = store.path / MODEL
    model.save(model_path)
    return Fitted(
        model=model,
        model_path=model_path,
        report_path=build_report(store.path, measurements, model=model, out=out),
        measurements_path=write_measurements(measurements, store.path, store.header, force=force),
        drive_name=drive["name"],
        drive_kind=drive["kind"],
        half_width_ratio=asked,
        half_width_reached=None if asked is None else reached,
    )


def asked_features(args: argparse.Namespace) -> str | None:
    """Give the features that were asked for; None is the best."""
    return None if args.features == AUTO else str(args.features)


def asked_estimator(args: argparse.Namespace) -> str | None:
    """Give the estimator that was asked for; None is the best."""
    return None if args.estimator == AUTO else str(args.estimator)


def load_model(path: Path) -> PerformanceModel:
    """Load a model from its file or its run folder.

    Raises
    ------
    UsageError
        When there is none, or the file is no model.
    """
    from drivelab.models.model import PerformanceModel

    if path.is_dir():
        if not (path / MODEL).is_file():
            raise UsageError(
                f"{path} has no {MODEL}; `drivelab model` makes a run, `drivelab report` writes "
                "its model again"
            )
        path = path / MODEL
    return PerformanceModel.load(path)


def accuracy_rows(model: PerformanceModel) -> list[dict[str, Any]]:
    """Give the accuracy of every model: cross-validated, in-sample, off-grid (docs/json.md)."""
    evaluation = model.evaluation
    return [
        {
            "metric": key.metric,
            "features": key.features,
            "estimator": key.estimator,
            "best": model.best[key.metric] == key,
            **accuracy.to_json(),
            "in_sample": evaluation.in_sample[key].to_json(),
            "off_grid": None if evaluation.check is None else evaluation.check[key].to_json(),
        }
        for key, accuracy in evaluation.cross_validated.items()
    ]


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
