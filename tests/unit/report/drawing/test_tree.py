"""The drawing of a tree: the text of each node, on a page and in a separate file."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from drivelab.exhibits import TreeFigure, TreeNode
from drivelab.report.drawing.drawn import drawn
from drivelab.report.drawing.svg import ORANGE
from drivelab.report.drawing.tree import _Layout, tree_document

TREE = TreeFigure(
    "tree",
    "throughput by a tree",
    (
        TreeNode("queue_depth <= 4", 120.5, 100, (1, 2)),
        TreeNode("leaf 1", 20.25, 40, said="y = 1 + 2 queue_depth", caution="invalid below 0"),
        TreeNode("write <&> size <= 4096", 250.0, 60, (3, 4)),
        TreeNode("leaf 2", 200.0, 30.5, said="y = 200"),
        TreeNode("leaf 3", 300.0, 29.5, said="y = 300"),
    ),
    "throughput (MB/s)",
)


def texts(svg: str) -> list[str]:
    return [each.text for each in ElementTree.fromstring(svg).iter() if each.text]  # noqa: S314


def test_every_node_and_equation_is_there() -> None:
    svg = tree_document(TREE)
    shown = texts(svg)
    for words in ("queue_depth <= 4", "write <&> size <= 4096", "leaf 1", "leaf 2", "leaf 3"):
        assert words in shown
    assert "mean 120.5, 100 rows" in shown
    assert "leaf 1: y = 1 + 2 queue_depth (invalid below 0)" in shown
    assert shown.count("yes") == shown.count("no") == 2
    assert ORANGE.lower() in svg
    assert svg == tree_document(TREE)


def test_deep_branches_name_the_leaves_behind_them() -> None:
    shown = texts(tree_document(replace(TREE, levels=1)))
    assert "leaf 2, leaf 3" in shown
    assert "leaf 1" in shown
    assert "leaf 2" not in shown
    # Their equations are there all the same.
    assert "leaf 3: y = 300" in shown
    assert "leaf 1 to leaf 3" in texts(tree_document(replace(TREE, levels=0)))
    assert "leaf 2, leaf 3" not in texts(tree_document(replace(TREE, levels=2)))


def test_a_branch_is_marked_where_a_leaf_behind_it_is() -> None:
    behind = replace(TREE.nodes[4], caution="invalid below 0")
    nodes = (TREE.nodes[0], replace(TREE.nodes[1], caution=""), *TREE.nodes[2:4], behind)
    layout = _Layout(replace(TREE, nodes=nodes, levels=1))
    assert layout.look(2) == (ORANGE, "--", 2.0)
    assert layout.look(1)[0] != ORANGE


def test_a_page_has_all_equations_as_a_table_and_all_nodes_as_csv() -> None:
    one = drawn(replace(TREE, levels=1))
    assert one.kind == "both"
    assert [[text for text, _ in row] for row in one.table.rows] == [
        ["leaf 1", "20.25", "40", "y = 1 + 2 queue_depth", "invalid below 0"],
        ["leaf 2", "200.0", "30.50", "y = 200", ""],
        ["leaf 3", "300.0", "29.50", "y = 300", ""],
    ]
    (saved,) = one.saved
    assert saved.column("node") == [0, 1, 2, 3, 4]
    assert saved.column("parent") == [None, 0, 0, 2, 2]
    assert saved.column("answer") == [None, "yes", "no", "yes", "no"]
    assert saved.column("mean throughput (MB/s)") == [120.5, 20.25, 250.0, 200.0, 300.0]


def test_long_words_go_on_in_a_further_line() -> None:
    long = TreeNode("a_feature_with_a_name_longer_than_a_box <= 12.5", 1.0, 9, (1, 2))
    shown = texts(tree_document(replace(TREE, nodes=(long, TREE.nodes[3], TREE.nodes[4]))))
    assert "a_feature_with_a_name_longer_t" in shown
    assert "han_a_box <= 12.5" in shown
