"""Trees as formulas of models: what they answer far from what they were fitted to."""

from __future__ import annotations

import numpy as np

from drivelab.models import tree_models
from drivelab.models.features import FEATURE_SETS, workload_table
from drivelab.workloads.ranges import workload_at
from drivelab.workloads.sobol_points import sobol_points

EXTENDED = FEATURE_SETS["extended"]


def test_a_readable_tree_stays_near_the_range_that_was_trained() -> None:
    points = sobol_points("trees")
    table = workload_table([workload_at(next(points), 512) for _ in range(900)])
    targets = np.log(np.nansum(table[:100, [2, 3]], axis=1)) * table[:100, 0] ** 2
    tree = tree_models.fit_readable(EXTENDED, table[:100], targets, np.zeros(100), 0)
    assert isinstance(tree, tree_models.Trees)
    low, high = targets.min(), targets.max()
    assert tree.limits == (low - 0.1 * (high - low), high + 0.1 * (high - low))
    answers = tree.predict(table)
    narrow = tree_models.Trees(EXTENDED, tree.ensemble, single_precision=False, limits=(2.0, 5.0))
    assert narrow.predict(table).tolist() == np.clip(answers, 2.0, 5.0).tolist()
    assert answers.min() < 2
    assert answers.max() > 5
