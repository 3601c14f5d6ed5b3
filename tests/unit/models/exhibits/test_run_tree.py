"""The readable tree of a run: what its figure and its text say."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from made_run import made_run

from drivelab.models.accuracy import measure_accuracy
from drivelab.models.exhibits.run_data import RunData
from drivelab.models.exhibits.run_tree import _in_units, readable_tree, tree_text
from drivelab.models.features import FEATURE_SETS
from drivelab.models.measured import METRICS, Rows

WORSE = measure_accuracy(np.array([1.0, 2.0]), np.array([1.5, 3.0]))


@pytest.fixture(scope="module")
def run() -> RunData:
    made = made_run(200)
    key = made.best(METRICS[0])
    accuracy = {**made.accuracy, key._replace(features="extended", estimator="guide"): WORSE}
    return replace(made, evaluation=replace(made.evaluation, cross_validated=accuracy))


def test_splits_are_said_in_sizes_and_depths() -> None:
    assert _in_units("queue_depth_log2 <= 3") == "queue_depth <= 8"
    assert _in_units("write_size_log2_bytes > 14 or missing") == "write_size > 16 KiB or missing"
    assert _in_units("write_ratio <= 0.123456") == "write_ratio <= 0.123"
    assert _in_units("read_stride_log2_sectors_times_in_order <= 4.5") == (
        "read_stride in order <= 4.5 (log2)"
    )
    assert _in_units("read_size_log2_bytes missing") == "read_size_log2_bytes missing"


def test_boxes_have_times_in_microseconds_and_none_is_flagged(run: RunData) -> None:
    (figure,) = readable_tree(run)
    rows = Rows.of(run.fitted)
    times = [one.latency_ns_mean / one.characteristics.queue_depth / 1000 for one in run.fitted]
    mean = math.exp(sum(map(math.log, times)) / len(times))
    assert figure.nodes[0].mean == pytest.approx(mean)
    assert figure.nodes[0].rows == len(rows.table) == 200
    assert not any(node.caution for node in figure.nodes)
    assert "No answer is negative" in figure.note
    assert "It is off by 50 % of the latency of workloads that it had not seen" in figure.note


def test_an_answer_by_the_text_is_the_trees(run: RunData) -> None:
    ((name, text),) = tree_text(run)
    assert name == "tree"
    assert text.startswith("sim:made: the tree with linear leaves (guide), fitted to 200 workloads")
    tree = run.readable_tree
    assert tree is not None
    assert len(re.findall(r"^leaf [0-9]+: ln\(t\) = ", text, re.MULTILINE)) == tree.n_leaves_
    inputs = FEATURE_SETS["extended"].project(Rows.of(run.fitted).table)
    lowest = re.search(r"is kept from (\S+) to (\S+)\.$", text, re.MULTILINE)
    assert lowest is not None
    answers = tree.predict(inputs)
    assert float(lowest[1]) < answers.min()
    assert answers.max() < float(lowest[2])


def test_without_the_estimator_there_is_none(run: RunData) -> None:
    others = {key: one for key, one in run.accuracy.items() if key.estimator != "guide"}
    left = replace(run, evaluation=replace(run.evaluation, cross_validated=others))
    assert readable_tree(left) == []
    assert tree_text(left) == ()
