"""Boosted linear trees compared with LightGBM and scikit-learn: error and time in the same run.

All learn the logarithm of the latency of a drive that is a formula, with 2 % of noise, on one
thread. Then they predict 2000 workloads that they have not seen, without noise. Each row is the
mean over five draws of the training workloads.

    .venv/bin/python benches/boosted_trees.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import lightgbm
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from drivelab.models.accuracy import measure_accuracy
from drivelab.models.estimators import BoostedLinearTrees
from drivelab.models.features import FEATURE_SETS, FloatArray, workload_table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from synthetic_drive import characteristics, grid_workloads, latency_ns, spread_workloads

DRAWS = 5
PREDICTED_ROWS = 200_000
Predict = Callable[[FloatArray], FloatArray]


def ours(features: FloatArray, targets: FloatArray) -> Predict:
    predict: Predict = BoostedLinearTrees().fit(features, targets).predict
    return predict


def lightgbm_with(**parameters: float) -> Callable[[FloatArray, FloatArray], Predict]:
    def fit(features: FloatArray, targets: FloatArray) -> Predict:
        model = lightgbm.LGBMRegressor(
            linear_tree=True, n_jobs=1, verbosity=-1, random_state=0, **parameters
        )
        booster = model.fit(features, targets).booster_
        return lambda rows: booster.predict(rows, num_threads=1)

    return fit


def scikit_learn(features: FloatArray, targets: FloatArray) -> Predict:
    model = HistGradientBoostingRegressor(max_iter=300, min_samples_leaf=5, random_state=0)
    predict: Predict = model.fit(features, targets).predict
    return predict


CANDIDATES = {
    "ours, defaults": ours,
    "LightGBM, defaults": lightgbm_with(),
    "LightGBM, our sizes": lightgbm_with(
        n_estimators=150, num_leaves=8, min_child_samples=5, linear_lambda=0.1
    ),
    "LightGBM, 300 trees": lightgbm_with(
        n_estimators=300, num_leaves=8, min_child_samples=5, linear_lambda=10
    ),
    "scikit-learn, 300": scikit_learn,
}
DATA = {
    "grid 300": (grid_workloads, 300),
    "spread 300": (spread_workloads, 300),
    "spread 2000": (spread_workloads, 2000),
    "grid 12000": (grid_workloads, 12000),
}


def features_of(workloads: FloatArray) -> FloatArray:
    table = workload_table([characteristics(row) for row in workloads])
    return np.ascontiguousarray(FEATURE_SETS["extended"].project(table))


def main() -> None:
    many = features_of(spread_workloads(2000, 7))
    many = np.tile(many, (PREDICTED_ROWS // len(many), 1))
    print(f"{'data':<12} {'model':<20} {'MRE':>7} {'fit':>9} {'million rows':>13}")
    for name, (draw, rows) in DATA.items():
        results: dict[str, list[tuple[float, float, float]]] = {key: [] for key in CANDIDATES}
        for seed in range(DRAWS if rows <= 2000 else 1):
            train, unseen = draw(rows, seed), draw(2000, 1000 + seed)
            targets = np.log(latency_ns(train, noise=0.02, seed=seed))
            features, probes = features_of(train), features_of(unseen)
            for key, fit in CANDIDATES.items():
                with threadpool_limits(1):
                    start = time.perf_counter()
                    predict = fit(features, targets)
                    fitted = time.perf_counter()
                    predict(many)
                    predicted = time.perf_counter()
                error = measure_accuracy(latency_ns(unseen), np.exp(predict(probes))).mre
                results[key].append((error, fitted - start, predicted - fitted))
        for key, rows_of_key in results.items():
            error, fit_s, predict_s = np.mean(rows_of_key, axis=0)
            million_s = predict_s * 1e6 / PREDICTED_ROWS
            print(f"{name:<12} {key:<20} {error:>6.1%} {fit_s * 1e3:>6.0f} ms {million_s:>11.1f} s")


if __name__ == "__main__":
    main()
