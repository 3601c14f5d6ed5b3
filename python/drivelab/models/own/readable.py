"""The tree with linear leaves of each target of somebody's own measurements, to be read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from drivelab.models.exhibits.tree import condition_in_units, tree_figure
from drivelab.models.tree_text import export_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.exhibits import TreeFigure
    from drivelab.models.own.model import FittedTable


@dataclass(frozen=True)
class ReadableTree:
    """A target's tree.

    Attributes
    ----------
    figure
        As an exhibit.
    text
        Its conditions and equations.
    """

    figure: TreeFigure
    text: str


def readable_trees(found: FittedTable) -> list[ReadableTree]:
    """Return for each target with models of its own the tree that can be read, if there is one."""
    from drivelab.models.linear_leaf_tree import LinearLeafTree

    features = found.model.features
    wide = {f"{one.name}_log2": one.name for one in found.model.columns if one.scale == "log2"}
    trees = []
    for number, fitted in enumerate(found.fitted.values(), 1):
        target = fitted.model
        if "guide" not in target.predictors or target.law is not None:
            continue
        values = np.log(fitted.observed) if target.logarithm else fitted.observed
        tree = LinearLeafTree().fit(features.project(found.table[fitted.kept]), values)
        name = f"ln({target.name})" if target.logarithm else target.name
        figure = tree_figure(
            tree, feature_names=features.features, target=name, is_logarithm=target.logarithm
        )
        nodes = tuple(replace(node, words=_readable(node.words, wide)) for node in figure.nodes)
        text = export_text(
            tree, feature_names=features.features, target=name, is_logarithm=target.logarithm
        )
        note = f"{figure.note} data/tree-{number}.txt has it as text, with every equation.".strip()
        figure = replace(figure, name=f"tree-{number}", nodes=nodes, note=note)
        trees.append(ReadableTree(figure, f"{name}, {len(fitted.kept):,} rows\n\n{text}"))
    return trees


def _readable(words: str, wide: Mapping[str, str]) -> str:
    """Word a split by a column's own values: a category's as what it is, a logarithm's as a number.

    Parameters
    ----------
    words
        Of a condition.
    wide
        By the name of a feature that is a logarithm, its column.
    """

    def said(name: str, sign: str, number: float) -> str | None:
        if name in wide:
            return f"{wide[name]} {sign} {2**number:.6g}"
        column, is_word, word = name.partition("=")
        if is_word and number == 0.5:
            return f"{column} is {'not ' if sign == '<=' else ''}{word}"
        return None

    return condition_in_units(words, said)
