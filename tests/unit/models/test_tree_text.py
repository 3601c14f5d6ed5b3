"""A tree's text: an answer worked out by hand equals the tree's answer."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from drivelab.errors import ParameterError
from drivelab.models.linear_leaf_tree import LinearLeafTree
from drivelab.models.tree_rows import leaf_of_rows
from drivelab.models.tree_text import export_text


def data(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "depth": random.integers(1, 65, rows).astype(float),
            "size": random.uniform(1, 256, rows).round(3),
            "kind": random.integers(0, 5, rows).astype(float),
        }
    )
    targets = np.where(
        frame["kind"].isin([1.0, 4.0]), 500 + 3 * frame["depth"], 90 + 0.5 * frame["size"]
    )
    targets = targets + 40 * np.maximum(0, frame["depth"] - 30) + random.normal(0, 5, rows)
    frame.loc[::7, "size"] = np.nan
    return frame, targets


def holds(condition: str, row: dict[str, float]) -> bool:
    words = condition.removesuffix(" or missing")
    name, test = words.split(" ", 1)
    value = row[name]
    if np.isnan(value):
        return condition.endswith("missing") and test != "not missing"
    if test in ("missing", "not missing"):
        return test == "not missing"
    if "in {" in test:
        inside = value in [float(one) for one in test[test.index("{") + 1 : -1].split(", ")]
        return inside != test.startswith("not")
    sign, threshold = test.split(" ")
    return value <= float(threshold) if sign == "<=" else value > float(threshold)


def by_hand(text: str, row: dict[str, float]) -> float:
    tree, *leaves = text.split("\n\n")
    depth, leaf = 0, ""
    for line in tree.splitlines():
        bare = line.replace("|  ", "")
        if line.count("|  ") != depth and not bare.startswith("leaf"):
            continue
        if bare.startswith("leaf"):
            if line.count("|  ") == depth:
                leaf = bare.split(":")[0]
                break
        elif holds(bare, row):
            depth += 1
    (found,) = (part for part in leaves if part.startswith(f"{leaf}:"))
    equation, *ranges = found.strip().splitlines()
    ends = {
        match[1]: tuple(float(match[number]) for number in (2, 3, 4))
        for line in ranges
        if (match := re.fullmatch(r" +(\S+) from (\S+) to (\S+), missing as (\S+)", line))
    }
    first, *terms = re.split(r" (?=[+-] )", equation.split(" = ")[1])
    answer = float(first)
    for term in terms:
        sign, coefficient, name = term.split(" ")
        low, high, missing = ends[name]
        value = missing if np.isnan(row[name]) else min(max(row[name], low), high)
        answer += float(sign + coefficient) * value
    return answer


def test_answers_by_hand() -> None:
    frame, targets = data(600)
    tree = LinearLeafTree(categorical_features=["kind"]).fit(frame, targets)
    text = export_text(tree, target="latency")
    assert tree.n_leaves_ >= 3
    assert " in {" in text
    assert "missing" in text
    # Also far outside what was trained, where ranges end.
    outside = frame.iloc[:40].assign(depth=[-5.0, 900.0] * 20)
    for rows in (frame.iloc[:200], outside):
        for answer, row in zip(tree.predict(rows), rows.to_dict("records"), strict=True):
            # Six digits a number, and numbers that cancel.
            assert by_hand(text, row) == pytest.approx(answer, abs=0.01)


def test_a_tree_of_one_leaf() -> None:
    x = np.arange(60.0)
    text = export_text(LinearLeafTree().fit(x[:, None], 3 + 2 * x))
    assert text == ("leaf 1: 60 rows, mean 62\n\nleaf 1: y = 3 + 2 x0\n    x0 from 0 to 59\n")


def test_answers_below_zero_are_flagged_by_the_rows_that_get_one() -> None:
    x = np.linspace(0, 1, 200)
    steep = np.maximum(0.0, 1 - 3 * x)
    tree = LinearLeafTree(max_depth=0).fit(x[:, None], steep)
    answers = tree.predict(x[:, None])
    count = int((answers < 0).sum())
    assert 0 < count < 200
    said = f"{count} of its 200 rows get an invalid answer below 0, down to {answers.min():.6g}"
    assert said in export_text(tree)
    # Of a logarithm, or where a target was below 0, none is impossible.
    assert "invalid" not in export_text(tree, is_logarithm=True)
    shifted = LinearLeafTree(max_depth=0).fit(x[:, None], steep - 0.5)
    assert "invalid" not in export_text(shifted)


def test_a_corner_without_rows_flags_nothing() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(0, 1, (400, 2))
    # Where the first is large the second is small, so that the plane is above 0 at every row.
    x[:, 1] *= 1 - x[:, 0]
    tree = LinearLeafTree(max_depth=0).fit(x, 1.05 - x[:, 0] - x[:, 1])
    assert float(tree.predict([[1.0, 1.0]])[0]) < 0
    assert "invalid" not in export_text(tree)


def test_rows_are_where_the_tree_answers_them() -> None:
    frame, targets = data(600)
    tree = LinearLeafTree(categorical_features=["kind"]).fit(frame, targets)
    features = frame.to_numpy()
    arrays = tree.ensemble_.arrays()
    places = leaf_of_rows(arrays, features)
    weights = np.bincount(places, minlength=len(arrays["feature"]))
    ends = [place for place, feature in enumerate(arrays["feature"]) if feature < 0]
    assert len(ends) >= 3
    assert weights[ends].tolist() == [tree.nodes_["weight"][place] for place in ends]
    answers = tree.predict(frame)
    for place in ends:
        assert tree.nodes_["lowest"][place] == answers[places == place].min()


def test_names() -> None:
    tree = LinearLeafTree().fit([[float(row), 1.0] for row in range(50)], range(50))
    assert "depth" in export_text(tree, feature_names=["depth", "size"])
    with pytest.raises(ParameterError, match="1 names for 2 features"):
        export_text(tree, feature_names=["depth"])
