"""What every fit does, however good its models are."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_drive import (
    characteristics,
    grid_workloads,
    measurements,
    spread_workloads,
)

from drivelab.drives.measurement import Measurement
from drivelab.models.model import PerformanceModel
from drivelab.workloads.characteristics import Characteristics

pytestmark = pytest.mark.usefixtures("models_in_outline")

PROBES = [characteristics(row) for row in spread_workloads(200, 99)]


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    return measurements(grid_workloads(300, 0), noise=0.02)


def test_cross_validation_keeps_workloads_together(measured: list[Measurement]) -> None:
    measured = measured[:60]
    again = [dataclasses.replace(one, index=one.index + 1000) for one in measured]
    evaluation = PerformanceModel.fit([*measured, *again], is_explained=False).evaluation
    fold_of: dict[Any, set[int]] = {}
    for one, fold in zip([*measured, *again], evaluation.folds, strict=True):
        fold_of.setdefault(one.characteristics.key(), set()).add(int(fold))
    assert all(len(folds) == 1 for folds in fold_of.values())
    sizes = np.bincount([folds.pop() for folds in fold_of.values()])
    assert sizes.max() - sizes.min() <= 1
    assert evaluation.indices.tolist() == [one.index for one in [*measured, *again]]


def test_effects_of_many_values_are_points_between_the_ends() -> None:
    model = PerformanceModel.fit(measurements(spread_workloads(100, 1)))
    for effect in model.evaluation.effects["iops"]:
        low, high = model.ranges[effect.characteristic] or (0, 0)
        assert len(effect.values) == 17
        assert list(effect.values) == sorted(effect.values)
        assert effect.values[0] == pytest.approx(low)
        assert effect.values[-1] == pytest.approx(high)


def test_what_never_varies_has_no_effect_and_no_harm() -> None:
    rows = grid_workloads(60, 1)
    rows[:, 0] = 0  # only reads
    model = PerformanceModel.fit(measurements(rows))
    names = {effect.characteristic for effect in model.evaluation.effects["iops"]}
    assert names == {"queue_depth", "read_size", "read_random", "read_stride"}
    assert model.ranges["write_size"] is None
    asked = Characteristics(write_ratio=0.5, read_size=1024)
    assert model.outside_training(asked) == [
        "write_ratio is 0.5; trained on 0 to 0",
        "write_size had no effect in any trained workload",
        "write_random had no effect in any trained workload",
    ]
    # The best it can say is what such reads did.
    observed = model.evaluation.observed["iops"]
    assert observed.min() < model.predict([asked], metric="iops")[0] < observed.max()


def test_the_same_seed_gives_the_same_file(measured: list[Measurement], tmp_path: Path) -> None:
    contents = []
    for number in range(2):
        path = tmp_path / f"{number}.json"
        PerformanceModel.fit(measured[:60], seed=5).save(path)
        contents.append(json.loads(path.read_text()))
    assert contents[0] == contents[1]
    other = PerformanceModel.fit(measured[:60], seed=6, is_explained=False)
    assert contents[0]["rows"]["fold"] != other.evaluation.folds.tolist()
