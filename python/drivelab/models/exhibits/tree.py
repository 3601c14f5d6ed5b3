"""A tree with linear leaves as an exhibit, like figure 8 of Huang et al. 2011."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits import TreeFigure, TreeNode
from drivelab.models.tree_reading import Leaf, Split, read_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.models.linear_leaf_tree import LinearLeafTree


def tree_figure(
    tree: LinearLeafTree,
    *,
    feature_names: Sequence[str] | None = None,
    target: str = "y",
    levels: int = 4,
) -> TreeFigure:
    """Give a fitted tree as a figure: questions, and the equation of each leaf.

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

    Raises
    ------
    ParameterError
        When there are not as many names as features.
    """
    return TreeFigure(
        name="tree",
        title=f"{target} by a tree with linear leaves",
        nodes=tuple(_node(node, target) for node in read_tree(tree, feature_names)),
        mean=target,
        levels=levels,
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
        caution=f"invalid below 0, down to {node.lowest:.4g}" if node.impossible else "",
    )
