"""The picture of a tree: a document of its own that shows every leaf and equation."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from drivelab.models.linear_leaf_tree import LinearLeafTree
from drivelab.models.tree_reading import Leaf, read_tree
from drivelab.pages.tree_picture import tree_picture
from drivelab.report.drawing.svg import ORANGE


@pytest.fixture(scope="module")
def tree() -> LinearLeafTree:
    random = np.random.default_rng(0)
    x = random.uniform(0, 1, (800, 2))
    kinks = np.maximum(0, 1 - 4 * np.abs(x[:, 0] - 0.5)) + np.maximum(0, x[:, 1] - 0.6)
    return LinearLeafTree(prune_standard_errors=1.0).fit(x, kinks)


def test_every_leaf_is_there(tree: LinearLeafTree) -> None:
    names = ["queue_depth", "write <&> size"]
    picture = tree_picture(tree, feature_names=names, target="IOPS", most_levels=30)
    elements = ElementTree.fromstring(picture).iter()  # noqa: S314  # our own
    texts = [element.text for element in elements if element.text]
    shown = " ".join("".join(texts).split())
    leaves = [node for node in read_tree(tree, names) if isinstance(node, Leaf)]
    assert len(leaves) == tree.n_leaves_ > 3
    for leaf in leaves:
        assert f"leaf {leaf.number}: IOPS = {leaf.intercept:.6g}" in shown
        assert f"mean {leaf.mean:.4g}" in shown
    assert any(leaf.impossible for leaf in leaves)
    assert ORANGE.lower() in picture
    assert picture == tree_picture(tree, feature_names=names, target="IOPS", most_levels=30)


def test_deep_branches_say_how_many_leaves_they_have(tree: LinearLeafTree) -> None:
    picture = tree_picture(tree, most_levels=0)
    assert f"{tree.n_leaves_} leaves" in picture
    assert "leaf 1" not in picture


def test_a_tree_of_one_leaf() -> None:
    x = np.arange(60.0)
    assert "y = 3 + 2 x0" in tree_picture(LinearLeafTree().fit(x[:, None], 3 + 2 * x))
