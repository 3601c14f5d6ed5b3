"""The tree with linear leaves of a run's models, to be read: as a figure and as text."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.exhibits.quantities import mre_text
from drivelab.models.evaluate import ModelKey
from drivelab.models.exhibits.tree import condition_in_units, tree_figure
from drivelab.models.features import FEATURE_SETS, SECTOR_BYTES
from drivelab.models.measured import METRICS
from drivelab.models.tree_models import limits_of_answers
from drivelab.models.tree_text import export_text
from drivelab.units import format_size

if TYPE_CHECKING:
    from drivelab.exhibits import TreeFigure
    from drivelab.models.exhibits.run_data import RunData

#: Name of the text file next to the tables.
TEXT: Final = "tree"
#: Of the figure.
NAME: Final = "tree"
_TARGET: Final = "ln(t)"
_FEATURES: Final = FEATURE_SETS["extended"].features
_SIZE: Final = "_log2_bytes"
_STRIDE: Final = "_log2_sectors_times_in_order"


def readable_tree(run: RunData) -> list[TreeFigure]:
    """Show the tree, where the models have one."""
    tree = run.readable_tree
    if tree is None:
        return []
    figure = tree_figure(tree, feature_names=_FEATURES, target=_TARGET, is_logarithm=True)
    nodes = tuple(
        replace(node, words=_in_units(node.words), mean=math.exp(node.mean) / 1000)
        for node in figure.nodes
    )
    return [
        replace(
            figure,
            name=NAME,
            title="When requests take how long, by the tree with linear leaves (guide)",
            nodes=nodes,
            mean="time t between completions (us, geometric)",
            note=f"{_error_words(run)}t is the time from one completion to the next, the latency "
            "over the queue depth: a box has its geometric mean in us, a leaf the equation of its "
            "logarithm, t in ns. No answer is negative, because t is the exponential of what an "
            f"equation gives. data/{TEXT}.txt has the whole tree as text, with what each value in "
            "it is.",
        )
    ]


def _error_words(run: RunData) -> str:
    """Return how far off the tree is, next to the model that answers."""
    metric = METRICS[0]
    best = run.best(metric)
    mine = run.accuracy.get(ModelKey(metric, "extended", "guide"))
    if mine is None or best.estimator == "guide":
        return ""
    return (
        f"It is off by {mre_text(mine.mre)} of the latency of workloads that it had not seen; "
        f"the model that answers is off by {mre_text(run.accuracy[best].mre)}. "
    )


def tree_text(run: RunData) -> tuple[tuple[str, str], ...]:
    """Return the name and content of the tree's text file, where there is a tree."""
    tree = run.readable_tree
    if tree is None:
        return ()
    least, most = limits_of_answers(tree.target_range_)
    head = f"""\
{run.name}: the tree with linear leaves (guide), fitted to {len(run.fitted):,} workloads.

Go down from the top: of the lines with the same indent follow the one that is true. The leaf's
equation below gives {_TARGET}; t is the time in ns from one completion to the next. From it follow

    latency     queue depth x t        in ns
    IOPS        1e9 / t
    bandwidth   IOPS x mean size       in bytes/s, of all requests

Below each equation stand the ranges of its values: one beyond counts as the end of its range. No
answer is negative, because t is an exponential. {_TARGET} is kept from {least:.6g} to {most:.6g}.
Names that end in _log2 and a unit are base-2 logarithms of the value in that unit. Strides are
log2(1 + stride in sectors of {SECTOR_BYTES} bytes), times the share of requests of that direction
that follow in order. request_size is the mean size of all requests, request_pages how many pages of
4 KiB one touches on average.

"""
    text = export_text(tree, feature_names=_FEATURES, target=_TARGET, is_logarithm=True)
    return ((TEXT, head + text),)


def _in_units(words: str) -> str:
    """Word a split by sizes and depths, not by their logarithms."""

    def said(name: str, sign: str, number: float) -> str | None:
        if name.endswith(_SIZE):
            return f"{name.removesuffix(_SIZE)} {sign} {format_size(round(2**number))}"
        if name.endswith(_STRIDE):
            return f"{name.removesuffix(_STRIDE)} in order {sign} {number:.3g} (log2)"
        if name.endswith("_log2"):
            return f"{name.removesuffix('_log2')} {sign} {2**number:.3g}"
        return f"{name} {sign} {number:.3g}"

    return condition_in_units(words, said)
