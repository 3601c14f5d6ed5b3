"""Every kind of formula that is fitted, by the name that files and commands know it by.

A new one is a file beside `least_squares`, with its label, and a line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.models.least_squares import OLS
from drivelab.models.tree_models import BOOSTED, CART

if TYPE_CHECKING:
    from drivelab.models.checked_json import Node
    from drivelab.models.features import FeatureSet
    from drivelab.models.predictor import Estimator, Predictor

ESTIMATORS: Final[dict[str, Estimator]] = {
    "ols": OLS,
    "cart": CART,
    "boosted": BOOSTED,
}


def read_predictor(node: Node, features: FeatureSet) -> Predictor:
    """Read a predictor of any kind; raises `MismatchError` for what is none."""
    kinds = {each.predictor.kind: each.predictor for each in ESTIMATORS.values()}
    return kinds[node.of("kind").choice(tuple(kinds))].from_json(node, features)
