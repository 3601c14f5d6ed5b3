"""Every kind of formula that is fitted, by the name that files and commands know it by.

A new one is a file like `least_squares`, with its label, and a line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.models.bottleneck import BOTTLENECK
from drivelab.models.combination import COMBINED, Combination
from drivelab.models.features import FEATURE_SETS
from drivelab.models.kriging_surface import BOTTLENECK_KRIGING, KRIGING, QUEUEING_KRIGING
from drivelab.models.least_squares import OLS
from drivelab.models.tree_models import BOOSTED, CART, READABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.checked_json import Node
    from drivelab.models.features import FeatureSet
    from drivelab.models.predictor import Estimator, Predictor

ESTIMATORS: Final[dict[str, Estimator]] = {
    "ols": OLS,
    "cart": CART,
    "guide": READABLE,
    "boosted": BOOSTED,
    "bottleneck": BOTTLENECK,
    "kriging": KRIGING,
    "bottleneck_kriging": BOTTLENECK_KRIGING,
    "queueing_kriging": QUEUEING_KRIGING,
    "combined": COMBINED,
}


def surface_names() -> list[tuple[str, str]]:
    """Return features and estimator of every surface that is fitted, combinations last."""
    names = [
        (features, name)
        for features in FEATURE_SETS
        for name, estimator in ESTIMATORS.items()
        if features in estimator.features
    ]
    return sorted(names, key=lambda one: bool(ESTIMATORS[one[1]].members))


def read_predictor(
    node: Node, features: FeatureSet, members: Mapping[str, Predictor] | None = None
) -> Predictor:
    """Read a predictor of any kind.

    Parameters
    ----------
    node
        What its `to_json` gave.
    features
        What it sees.
    members
        By the name of their estimators, the predictors that a combination may weigh.

    Raises
    ------
    MismatchError
        For what is none.
    """
    kinds = {each.predictor.kind: each.predictor for each in ESTIMATORS.values()}
    predictor = kinds[node.of("kind").choice(tuple(kinds))].from_json(node, features)
    if not isinstance(predictor, Combination):
        return predictor
    known = members or {}
    lacking = [name for name in predictor.weights if name not in known]
    if lacking:
        node.refuse(f"of models with these features: {lacking[0]}")
    return predictor.of_members(known)
