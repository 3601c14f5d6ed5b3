"""Which rows end in which leaf of a tree, and what they are answered there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from drivelab.models.features import FloatArray
    from drivelab.models.predictor import IntArray


def leaf_of_rows(arrays: dict[str, Any], features: FloatArray) -> IntArray:
    """Return the place of the leaf that each row ends in, shape (n,).

    Parameters
    ----------
    arrays
        Of an ensemble of one tree, as `drivelab._core.TreeEnsemble.arrays` gives them.
    features
        Shape (n, columns); NaN where missing.
    """
    ends = np.cumsum(arrays.get("categories", [0] * len(arrays["feature"])))
    found = np.zeros(len(features), dtype=np.int64)
    below = [(0, np.arange(len(features)))]
    while below:
        node, rows = below.pop()
        feature = arrays["feature"][node]
        if feature < 0:
            found[rows] = node
            continue
        values = features[rows, feature]
        end = int(ends[node])
        begin = int(ends[node - 1]) if node else 0
        if end > begin:
            goes_left = np.isin(values, arrays["category"][begin:end])
        else:
            goes_left = values <= arrays["threshold"][node]
        goes_left = np.where(np.isnan(values), arrays["missing_left"][node], goes_left)
        below.append((arrays["left"][node], rows[goes_left]))
        below.append((arrays["right"][node], rows[~goes_left]))
    return found


def answers_by_leaf(
    arrays: dict[str, Any], features: FloatArray, answers: FloatArray, weights: FloatArray
) -> dict[str, list[float]]:
    """Return of each node the least answer of the rows that end there, and how many are below 0.

    Parameters
    ----------
    arrays, features
        As `leaf_of_rows` takes them.
    answers, weights
        Of each row; rows of the weight 0 do not count.

    Returns
    -------
    dict
        ``lowest`` and ``negative`` (weight of the rows whose answer is below 0), 0 of a split.
    """
    count = len(arrays["feature"])
    known = weights > 0
    places = leaf_of_rows(arrays, features[known])
    lowest = np.full(count, np.inf)
    np.minimum.at(lowest, places, answers[known])
    lowest[~np.isfinite(lowest)] = 0.0
    below = np.where(answers < 0, weights, 0.0)[known]
    negative = np.bincount(places, weights=below, minlength=count)
    return {"lowest": lowest.tolist(), "negative": negative.tolist()}
