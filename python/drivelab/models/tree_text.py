"""A tree with linear leaves as text: its conditions, then each leaf's equation."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.models.linear_leaf_tree import LinearLeafTree
from drivelab.models.tree_reading import Leaf, read_tree


def export_text(
    tree: LinearLeafTree,
    *,
    feature_names: Sequence[str] | None = None,
    target: str = "y",
    is_logarithm: bool = False,
) -> str:
    """Return a fitted tree as text that answers can be worked out from by hand.

    Parameters
    ----------
    tree
        A fitted tree.
    feature_names
        One a feature; those it was fitted with where left out, else x0, x1 and so on.
    target
        What the equations call their answer.
    is_logarithm
        Whether that is a logarithm, of which none below 0 is impossible.

    Returns
    -------
    str
        A line a condition or leaf, those below another indented. Then, of each leaf, its
        equation, the range of each feature in it (values beyond count as its end), what a
        missing value counts as, and how many of its rows get an answer below 0 where no target
        was.
    """
    nodes = read_tree(tree, feature_names, is_logarithm=is_logarithm)
    lines: list[str] = []
    # Of each node to come: its place, what is true of its rows, its depth.
    stack = [(0, "", 0)]
    while stack:
        place, words, depth = stack.pop()
        node = nodes[place]
        indent = "|  " * max(depth - 1, 0)
        if words:
            lines.append(indent + words)
        if isinstance(node, Leaf):
            flag = f", {node.invalid_words()}" if node.invalid else ""
            inner = "|  " * depth
            lines.append(
                f"{inner}leaf {node.number}: {node.weight:.6g} rows, mean {node.mean:.6g}{flag}"
            )
            continue
        stack.append((node.right, node.right_words, depth + 1))
        stack.append((node.left, node.left_words, depth + 1))
    for leaf in nodes:
        if isinstance(leaf, Leaf):
            lines += ["", f"leaf {leaf.number}: {leaf.equation(target)}"]
            lines += [f"    {words}" for words in _ranges(tree, leaf)]
    return "\n".join(lines) + "\n"


def _ranges(tree: LinearLeafTree, leaf: Leaf) -> list[str]:
    lines = [f"{term.name} from {term.low:.6g} to {term.high:.6g}" for term in leaf.terms]
    if tree.missing_seen_.any():
        lines = [
            f"{line}, missing as {term.missing_as:.6g}"
            for line, term in zip(lines, leaf.terms, strict=True)
        ]
    return lines
