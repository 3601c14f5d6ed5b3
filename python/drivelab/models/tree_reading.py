"""A fitted tree as a reader meets it: conditions, leaves, equations.

An answer below 0 is impossible where every target was 0 or more (Huang et al. 2011, figure 8: "a
negative prediction at a leaf node shall be considered as invalid"). A leaf says how many of the
rows that it was fitted to get one. A logarithm below 0 is possible: it is of an answer below 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from drivelab.errors import ParameterError
from drivelab.models.linear_leaf_tree import LinearLeafTree

# A threshold beyond every number parts missing values from all others.
_BEYOND: Final = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Term:
    """A part of a leaf's equation: ``coefficient * name``.

    Attributes
    ----------
    name
        Of the feature.
    coefficient
        Change of the answer per unit of the feature.
    low, high
        Values beyond count as these.
    missing_as
        What a missing value counts as.
    """

    name: str
    coefficient: float
    low: float
    high: float
    missing_as: float


@dataclass(frozen=True)
class Leaf:
    """Where a tree ends.

    Attributes
    ----------
    number
        From 1, from left to right.
    weight, mean
        Weight of its training rows, and the mean of their targets.
    intercept, terms
        Its equation.
    lowest
        The least answer that one of its training rows gets.
    invalid
        Weight of those whose answer is below 0 although no target was.
    """

    number: int
    weight: float
    mean: float
    intercept: float
    terms: tuple[Term, ...]
    lowest: float
    invalid: float

    def equation(self, target: str) -> str:
        """Return the equation, six digits a number."""
        words = [f"{target} = {self.intercept:.6g}"]
        for term in self.terms:
            sign = "-" if term.coefficient < 0 else "+"
            words.append(f"{sign} {abs(term.coefficient):.6g} {term.name}")
        return " ".join(words)

    def invalid_words(self) -> str:
        """Say how many of its rows get an impossible answer; empty where none does."""
        if not self.invalid:
            return ""
        return (
            f"{self.invalid:.6g} of its {self.weight:.6g} rows get an invalid answer below 0, down "
            f"to {self.lowest:.6g}"
        )


@dataclass(frozen=True)
class Split:
    """Where a tree parts.

    Attributes
    ----------
    weight, mean
        Weight of its training rows, and the mean of their targets.
    left_words, right_words
        What is true of the rows that go left, and of those that go right.
    by_interaction
        Whether a pair of columns chose it.
    left, right
        Places of its children.
    """

    weight: float
    mean: float
    left_words: str
    right_words: str
    by_interaction: bool
    left: int
    right: int


def read_tree(
    tree: LinearLeafTree,
    feature_names: Sequence[str] | None = None,
    *,
    is_logarithm: bool = False,
) -> list[Split | Leaf]:
    """Return the nodes of a fitted tree: the root first, each before those below it.

    Parameters
    ----------
    tree
        A fitted tree.
    feature_names
        One a feature; those it was fitted with where left out, else x0, x1 and so on.
    is_logarithm
        Whether the target is a logarithm, of which none below 0 is impossible.

    Raises
    ------
    ParameterError
        When there are not as many names as features.
    """
    can_be_negative = is_logarithm or tree.target_range_[0] < 0
    arrays = tree.ensemble_.arrays()
    names = _names(tree, feature_names)
    nodes: list[Split | Leaf] = []
    leaves = term = category = 0
    for node, feature in enumerate(arrays["feature"]):
        weight, mean = tree.nodes_["weight"][node], tree.nodes_["mean"][node]
        if feature < 0:
            leaves += 1
            end = term + arrays["terms"][node]
            terms = [_term(arrays, place, names) for place in range(term, end)]
            term = end
            base = arrays["base"] + arrays["value"][node]
            nodes.append(
                Leaf(
                    number=leaves,
                    weight=weight,
                    mean=mean,
                    intercept=base - sum(one.coefficient * one.missing_as for one in terms),
                    terms=tuple(terms),
                    lowest=tree.nodes_["lowest"][node],
                    invalid=0.0 if can_be_negative else tree.nodes_["negative"][node],
                )
            )
            continue
        count = arrays.get("categories", [0] * (node + 1))[node]
        left, right = _conditions(
            names[feature],
            arrays["threshold"][node],
            arrays.get("category", [])[category : category + count],
        )
        category += count
        if tree.missing_seen_[feature]:
            missing_left = arrays["missing_left"][node]
            left, right = _with_missing(names[feature], left, right, missing_left)
        nodes.append(
            Split(
                weight=weight,
                mean=mean,
                left_words=left,
                right_words=right,
                by_interaction=tree.nodes_["by_interaction"][node],
                left=arrays["left"][node],
                right=arrays["right"][node],
            )
        )
    return nodes


def _names(tree: LinearLeafTree, feature_names: Sequence[str] | None) -> list[str]:
    width = tree.n_features_in_
    if feature_names is None:
        known = getattr(tree, "feature_names_in_", None)
        return [f"x{place}" for place in range(width)] if known is None else list(known)
    if len(feature_names) != width:
        raise ParameterError(f"feature_names has {len(feature_names)} names for {width} features")
    return list(feature_names)


def _term(arrays: dict[str, Any], place: int, names: list[str]) -> Term:
    return Term(
        name=names[arrays["term_feature"][place]],
        coefficient=arrays["term_coefficient"][place],
        low=arrays["term_low"][place],
        high=arrays["term_high"][place],
        missing_as=arrays["term_centre"][place],
    )


def _conditions(name: str, threshold: float, categories: list[float]) -> tuple[str, str]:
    """Say what is true left and right, of rows that have a value."""
    if categories:
        words = ", ".join(f"{category:.6g}" for category in categories)
        return f"{name} in {{{words}}}", f"{name} not in {{{words}}}"
    if abs(threshold) == _BEYOND:
        both = (f"{name} not missing", "")
        return both if threshold > 0 else both[::-1]
    return f"{name} <= {threshold:.6g}", f"{name} > {threshold:.6g}"


def _with_missing(name: str, left: str, right: str, missing_left: bool) -> tuple[str, str]:
    """Add where missing values go."""

    def added(words: str) -> str:
        return f"{words} or missing" if words else f"{name} missing"

    return (added(left), right) if missing_left else (left, added(right))
