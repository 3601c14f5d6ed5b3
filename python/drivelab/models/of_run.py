"""The models of a run: fitted to what it holds, found in its folder, and how good they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from drivelab.campaign.header import stored_header
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.measurement import Measurement
from drivelab.errors import UsageError
from drivelab.models.combination import Combination
from drivelab.models.lone_writes import KEY, lone_writes
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.models.probed import BUFFER_BYTES, probes_of
from drivelab.models.rewrites import REWRITES, rewrites_ns
from drivelab.store import RunStore, is_run
from drivelab.workloads.parts import Parts

#: Where a run's folder keeps its models.
MODEL: Final = "model.json"


def fit(store: RunStore) -> tuple[PerformanceModel, list[Measurement]]:
    """Fit every model to what a run holds; give the measurements too, which may grow.

    Raises
    ------
    UsageError
        When the run holds too few workloads.
    RunError
        When the run is damaged.
    """
    header = stored_header(store)
    measurements = stored_measurements(store)
    parts = Parts.from_json(header["design"]["parts"])
    probed = probes_of(measurements, parts, header["drive"].get("capacity_bytes"))
    model = PerformanceModel.fit(
        measurements,
        parts=parts,
        seed=header["plan"]["seed"],
        provenance={
            **header,
            KEY: lone_writes(measurements),
            BUFFER_BYTES: None if probed is None else probed.buffer_bytes,
            REWRITES: rewrites_ns(measurements),
        },
    )
    return model, measurements


def load_model(path: Path) -> PerformanceModel:
    """Load a model from its file or its run folder.

    Raises
    ------
    UsageError
        When there is none, or the file is not a model.
    """
    if path.is_dir():
        if not (path / MODEL).is_file():
            if is_run(path):
                # Of another command there is none to make.
                with RunStore.open(path) as store:
                    stored_header(store)
            raise UsageError(
                f"{path} has no {MODEL}; `drivelab model` makes a run, `drivelab report` writes "
                "its model again"
            )
        path = path / MODEL
    return PerformanceModel.load(path)


def accuracy_rows(model: PerformanceModel) -> list[dict[str, Any]]:
    """Return the accuracy of every model: of folds, in sample, off grid (docs/json-model.md)."""
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


def weights_of(model: PerformanceModel) -> dict[str, float] | None:
    """Return by estimator the weights of the best model where it is a combination, else None."""
    surface = model.predictors[model.best[METRICS[0]]].surface
    return dict(surface.weights) if isinstance(surface, Combination) else None
