"""A tree with linear leaves as an exhibit, like figure 8 of Huang et al. 2011."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from drivelab.exhibits import TreeFigure, TreeNode
from drivelab.exhibits.quantities import share_text
from drivelab.models.tree_reading import Leaf, Split, read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from drivelab.models.linear_leaf_tree import LinearLeafTree

# A split, as a tree of numbers words it.
_CONDITION: Final = re.compile(r"(.+) (<=|>) (-?[0-9.]+(?:e[+-]?[0-9]{1,2})?)( or missing)?")


def tree_figure(
    tree: LinearLeafTree,
    *,
    feature_names: Sequence[str] | None = None,
    target: str = "y",
    levels: int = 4,
    is_logarithm: bool = False,
) -> TreeFigure:
    """Return a fitted tree as a figure: questions, and the equation of each leaf.

    Parameters
    ----------
    tree
        A fitted tree.
    feature_names
        One a feature; those it was fitted with where left out, else x0, x1 and so on.
    target
        What the equations call their answer.
    levels
        Levels of splits that are drawn; a branch below says how many leaves it has.
    is_logarithm
        Whether the target is a logarithm, of which none below 0 is impossible.

    Raises
    ------
    ParameterError
        When there are not as many names as features.
    """
    nodes = read_tree(tree, feature_names, is_logarithm=is_logarithm)
    return TreeFigure(
        name="tree",
        title=f"{target} by a tree with linear leaves",
        nodes=tuple(_node(node, target) for node in nodes),
        mean=target,
        levels=levels,
        note=_invalid_note(nodes),
    )


def _node(node: Split | Leaf, target: str) -> TreeNode:
    if isinstance(node, Split):
        condition = node.left_words or f"not: {node.right_words}"
        return TreeNode(condition, node.mean, node.weight, (node.left, node.right))
    return TreeNode(
        f"leaf {node.number}",
        node.mean,
        node.weight,
        said=node.equation(target),
        caution=node.invalid_words(),
    )


def _invalid_note(nodes: Sequence[Split | Leaf]) -> str:
    invalid = sum(node.invalid for node in nodes if isinstance(node, Leaf))
    if not invalid:
        return ""
    return (
        f"{invalid:,.6g} of {nodes[0].weight:,.6g} rows ({share_text(invalid / nodes[0].weight)}) "
        "get an answer below 0, which no measurement was: it is invalid."
    )


def condition_in_units(words: str, said: Callable[[str, str, float], str | None]) -> str:
    """Word a split by a column's own values instead of a feature's.

    Parameters
    ----------
    words
        Of a condition.
    said
        Gives from a feature's name, ``<=`` or ``>`` and a number what to say instead; None where
        the feature says it well.
    """
    found = _CONDITION.fullmatch(words)
    if found is None:
        return words
    better = said(found[1], found[2], float(found[3]))
    return words if better is None else f"{better}{found[4] or ''}"
