"""A fitted tree as an exhibit: every split and leaf, and what limits a leaf."""

from __future__ import annotations

import numpy as np
import pytest

from drivelab.models.exhibits.tree import tree_figure
from drivelab.models.linear_leaf_tree import LinearLeafTree
from drivelab.models.tree_reading import Leaf, read_tree


@pytest.fixture(scope="module")
def tree() -> LinearLeafTree:
    random = np.random.default_rng(0)
    x = random.uniform(0, 1, (800, 2))
    kinks = np.maximum(0, 1 - 4 * np.abs(x[:, 0] - 0.5)) + np.maximum(0, x[:, 1] - 0.6)
    return LinearLeafTree(prune_standard_errors=1.0).fit(x, kinks)


def test_every_node_is_there(tree: LinearLeafTree) -> None:
    names = ["queue_depth", "write_size"]
    figure = tree_figure(tree, feature_names=names, target="IOPS")
    read = read_tree(tree, names)
    assert len(figure.nodes) == len(read)
    for shown, node in zip(figure.nodes, read, strict=True):
        assert (shown.mean, shown.rows) == (node.mean, node.weight)
        if isinstance(node, Leaf):
            assert shown.children == ()
            assert shown.words == f"leaf {node.number}"
            assert shown.said == node.equation("IOPS")
            assert bool(shown.caution) == (node.invalid > 0)
        else:
            assert shown.children == (node.left, node.right)
            assert shown.words == node.left_words
    assert any(node.caution for node in figure.nodes)


def test_a_tree_of_one_leaf() -> None:
    x = np.arange(60.0)
    (leaf,) = tree_figure(LinearLeafTree().fit(x[:, None], 3 + 2 * x)).nodes
    assert leaf.said == "y = 3 + 2 x0"
