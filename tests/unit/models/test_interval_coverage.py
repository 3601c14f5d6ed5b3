"""Intervals hold as often as they say, on average over many campaigns."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from synthetic_drive import latency_ns, measurements, spread_workloads

from drivelab.models.model import PerformanceModel
from drivelab.models.predictors import ESTIMATORS
from drivelab.workloads.parts import Parts

pytestmark = pytest.mark.usefixtures("models_in_brief")


@pytest.mark.long
def test_intervals_hold_on_average_over_campaigns(monkeypatch: pytest.MonkeyPatch) -> None:
    # Workloads, errors and models drawn anew each time. The mean of 40 campaigns of 30 reserved
    # and 100 asked scatters by about 0.01 (beta-binomial law: 0.06 for one campaign), so 0.035
    # is more than three times that. Coverage does not depend on the model: a quick one will do.
    for name in ("boosted", "kriging", "bottleneck", "bottleneck_kriging", "queueing_kriging"):
        quick = dataclasses.replace(ESTIMATORS["cart"], features=ESTIMATORS[name].features)
        monkeypatch.setitem(ESTIMATORS, name, quick)
    held = []
    for seed in range(40):
        rows = spread_workloads(160, 100 + seed)
        measured = measurements(rows, noise=0.1, seed=seed)
        model = PerformanceModel.fit(
            measured[:60], parts=Parts(30, 30), seed=seed, is_explained=False
        )
        asked = [one.characteristics for one in measured[60:]]
        ends = model.interval(asked, metric="latency_ns_mean", level=0.9)
        observed = latency_ns(rows, noise=0.1, seed=seed)[60:]
        inside = ~np.isnan(ends[:, 0])
        held.append(np.mean((ends[:, 0] <= observed)[inside] & (observed <= ends[:, 1])[inside]))
    assert np.mean(held) > 0.9 - 0.035
    assert np.mean(held) < 0.9 + 1 / 31 + 0.035
