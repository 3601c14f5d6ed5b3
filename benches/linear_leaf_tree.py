"""The tree with linear leaves compared with similar ones: error and time, on one thread.

All learn the logarithm of the latency of a drive that is a formula (tests/synthetic_drive.py) from
12,000 workloads in eight characteristics, with 3 % of noise. Then they predict 4,000 workloads that
they have not seen, without noise. Strides are first whole pages, so that only these 3 % cannot be
learned. Then they have any value: alignment decides about up to 30 % of the latency, and it is not
a characteristic. Rows are means of three draws (one for the slowest). Time is processor time, so
other programs have little effect. The output names rivals that are not installed and are left out.
To get them, run `pip install cubist linear-tree` in an environment with Drivelab.

    .venv/bin/python benches/linear_leaf_tree.py
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from drivelab.models.accuracy import measure_accuracy
from drivelab.models.features import FloatArray
from drivelab.models.linear_leaf_tree import LinearLeafTree

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from synthetic_drive import extended, latency_ns, spread_workloads

SEEDS = 3
PAGE_BYTES = 4096
ROWS = 12_000
UNSEEN = 4_000
NOISE = 0.03

Make = Callable[[], Any]


def boosted(**parameters: object) -> Make:
    return lambda: lightgbm.LGBMRegressor(n_jobs=1, verbosity=-1, random_state=0, **parameters)


def linear_tree(**parameters: object) -> Make:
    def make() -> Any:
        from lineartree import LinearTreeRegressor

        class Adapted(LinearTreeRegressor):  # type: ignore[misc]
            # linear-tree 0.3.5 calls a method that scikit-learn 1.7 removed.
            def _validate_data(self, X: Any, y: Any = "no_validation", **checks: Any) -> Any:  # noqa: N803
                checks["ensure_all_finite"] = checks.pop("force_all_finite", True)
                return validate_data(self, X, y, **checks)

        return Adapted(LinearRegression(), n_jobs=1, **parameters)

    return make


def cubist() -> Any:
    from cubist import Cubist

    return Cubist()


CANDIDATES: dict[str, Make] = {
    "ours, defaults": LinearLeafTree,
    "ours, shorter (0.5 s.e.)": lambda: LinearLeafTree(prune_standard_errors=0.5),
    "ours, median": lambda: LinearLeafTree(loss="quantile"),
    "LightGBM": boosted(),
    "LightGBM, linear trees": boosted(linear_tree=True),
    "Cubist": cubist,
    "linear-tree, defaults": linear_tree(),
    "linear-tree, as deep": linear_tree(max_depth=10, min_samples_leaf=20),
}


#: Fitted to one draw only.
SLOW = {"linear-tree, as deep"}


def workloads_of(rows: int, seed: int, whole_pages: bool) -> FloatArray:
    workloads = spread_workloads(rows, seed)
    if whole_pages:
        workloads[:, 6:] -= workloads[:, 6:] % PAGE_BYTES
    return workloads


def leaves(model: Any) -> str:
    count = getattr(model, "n_leaves_", None)
    return "" if count is None else str(count)


def tried(name: str, make: Make, whole_pages: bool) -> str:
    """Fit a model and predict with it; return its line."""
    errors, times, shown = [], [], ""
    for seed in range(1 if name in SLOW else SEEDS):
        workloads = workloads_of(ROWS, seed, whole_pages)
        unseen = workloads_of(UNSEEN, 1000 + seed, whole_pages)
        targets = np.log(latency_ns(workloads, noise=NOISE, seed=seed))
        try:
            model = make()
        except ImportError as error:
            return f"{name:<26} left out: {error.name} is not installed"
        with threadpool_limits(1):
            start = time.process_time()
            model.fit(extended(workloads), targets)
            times.append(time.process_time() - start)
            answers = np.exp(model.predict(extended(unseen)))
        errors.append(measure_accuracy(latency_ns(unseen), answers).mre)
        shown = leaves(model)
    return (
        f"{name:<26} {np.mean(errors):>7.2%} {max(errors):>11.2%} "
        f"{np.mean(times):>7.2f} s {shown:>7}"
    )


def main() -> None:
    warnings.simplefilter("ignore")
    for whole_pages in (True, False):
        strides = "whole pages" if whole_pages else "any"
        print(f"{ROWS} rows of 8, {NOISE:.0%} noise, strides {strides}")
        print(f"{'model':<26} {'MRE':>7} {'worst draw':>11} {'fit':>9} {'leaves':>7}")
        for name, make in CANDIDATES.items():
            print(tried(name, make, whole_pages), flush=True)
        print()


if __name__ == "__main__":
    main()
