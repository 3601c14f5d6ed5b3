"""Kriging compared with scikit-learn's process: time and error in the same run, on one thread.

Both learn the logarithm of latency over queue depth of a drive that is a formula
(tests/synthetic_drive.py), from the work of workloads with 2 % of noise. Then they predict 2,000
workloads that they have not seen, without noise. Both search once, from their default start, for
the most likely parameters of a Matern 5/2 covariance with a length for each feature and a nugget.
Time is processor time, so other programs have little effect.

    .venv/bin/python benches/kriging.py [ROWS...]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from threadpoolctl import threadpool_limits

from drivelab.models.features import workload_table
from drivelab.models.kriging import KrigingRegressor
from drivelab.models.work import work_inputs

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from synthetic_drive import characteristics, latency_ns, spread_workloads

ROWS = (300, 1200)
UNSEEN = 2_000
NOISE = 0.02


def scikit_learns(columns: int) -> GaussianProcessRegressor:
    kernel = ConstantKernel() * Matern(np.full(columns, 10.0), (0.05, 300.0), nu=2.5)
    return GaussianProcessRegressor(
        kernel + WhiteKernel(1e-3, (1e-7, 1.0)), normalize_y=True, random_state=0
    )


def main() -> None:
    """Time both, and print one line for each."""
    warnings.filterwarnings("ignore")
    sizes = [int(word) for word in sys.argv[1:]] or list(ROWS)
    made = spread_workloads(max(sizes) + UNSEEN, 0)
    table = workload_table([characteristics(row) for row in made])
    inputs = work_inputs(table)
    inputs = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    depths = table[:, 1]
    truth = np.log(latency_ns(made) / depths)
    noisy = np.log(latency_ns(made, noise=NOISE) / depths)
    asked = slice(max(sizes), None)
    regressors: list[tuple[str, Callable[[], Any]]] = [
        ("KrigingRegressor", KrigingRegressor),
        ("GaussianProcessRegressor", lambda: scikit_learns(inputs.shape[1])),
    ]
    for rows in sizes:
        for name, make in regressors:
            with threadpool_limits(1):
                begin = time.process_time()
                fitted = make().fit(inputs[:rows], noisy[:rows])
                seconds = time.process_time() - begin
                error = np.abs(np.expm1(fitted.predict(inputs[asked]) - truth[asked])).mean()
            print(f"{rows:6,} rows  {name:25} {seconds:8.2f} s  {100 * error:5.2f} %", flush=True)


if __name__ == "__main__":
    main()
