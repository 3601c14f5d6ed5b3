"""What the report says in words: the summary and how to read each figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.report.model_cautions import fixed_characteristics
from drivelab.report.quantities import (
    CHARACTERISTICS,
    ESTIMATOR_LABELS,
    METRICS,
    PROVENANCE,
    listed,
    share_text,
)
from drivelab.report.table import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.report.inputs import RunData
    from drivelab.report.table import Cell, Table


def summary(run: RunData, importance: Table) -> list[str]:
    """Return the paragraph's sentences for a person who has not read any paper."""
    adjective = PROVENANCE[run.kind].adjective
    count = len(run.designed)
    keys = {one.characteristics.key() for one in run.designed}
    distinct = "" if len(keys) == count else f", {len(keys):,} of them distinct"
    sentences = [
        f"The drive {run.name} was {adjective} under {count:,} workloads{distinct}"
        f"{_differing(run)}."
    ]
    sentences.append(_ranges(run))
    sentences.append(_accuracy(run))
    sentences.append(_between(run))
    sentences.append(_basic_against_extended(run))
    sentences.append(_what_matters(run, importance))
    return [sentence for sentence in sentences if sentence]


def _differing(run: RunData) -> str:
    fixed = set(fixed_characteristics(run))
    kinds = {
        "in how much they write": {"write_ratio"},
        "in how many requests are in flight": {"queue_depth"},
        "in request size": {"read_size", "write_size"},
        "in how random the accesses are": {"read_random", "write_random"},
        "in the gaps between accesses": {"read_stride", "write_stride"},
    }
    parts = [text for text, names in kinds.items() if not names <= fixed]
    return f", which differ {listed(parts)}" if parts else ""


def _ranges(run: RunData) -> str:
    parts = []
    for metric in run.metrics():
        item = METRICS[metric]
        values = [float(getattr(measurement, metric)) for measurement in run.designed]
        label = item.label.lower()
        parts.append(f"{label} from {item.text(min(values))} to {item.text(max(values))}")
    return f"Over these the drive gave a {listed(parts)}."


def _accuracy(run: RunData) -> str:
    best = [run.best(metric) for metric in run.metrics()]
    one = len({key.estimator for key in best}) == 1
    parts = []
    for key in best:
        model = "" if one else f" ({ESTIMATOR_LABELS[key.estimator]})"
        label = METRICS[key.metric].label.lower()
        parts.append(f"{share_text(run.accuracy[key].mre)} for {label}{model}")
    model = f" ({ESTIMATOR_LABELS[best[0].estimator]})" if one else ""
    return (
        f"Asked about a workload that it has not seen, the best model{model} is off, on average, "
        f"by {listed(parts)}."
    )


def _between(run: RunData) -> str:
    if run.evaluation.check is None or run.check is None:
        return ""
    parts = [
        f"{share_text(run.evaluation.check[run.best(metric)].mre)} for "
        f"{METRICS[metric].label.lower()}"
        for metric in run.metrics()
    ]
    return (
        f"On {len(run.check.measurements):,} more workloads, spread over the whole ranges, it is "
        f"off by {listed(parts)}."
    )


def _basic_against_extended(run: RunData) -> str:
    metric = run.metrics()[0]
    features = {key.features for key in run.accuracy}
    if features != {"basic", "extended"}:
        return ""
    basic = run.accuracy[run.best(metric, "basic")].mre
    extended = run.accuracy[run.best(metric, "extended")].mre
    if extended < basic / 1.1:
        verdict = "knowing more helps here"
    elif extended < basic:
        verdict = "knowing more helps little here"
    else:
        verdict = "knowing more does not help here"
    return (
        "A model that knows only four characteristics (share of writes, queue depth, request "
        f"size, randomness) is off by {share_text(basic)} for {METRICS[metric].label.lower()}, "
        f"one that knows all eight (reads and writes apart, strides) by {share_text(extended)}: "
        f"{verdict}."
    )


def _what_matters(run: RunData, importance: Table) -> str:
    parts = []
    for metric in run.metrics():
        names = [
            CHARACTERISTICS[str(row["characteristic"])].label.lower()
            for row in importance.records(metric=metric)
            if _stands_out(row)
        ]
        if names:
            parts.append(f"for {METRICS[metric].label.lower()}, {' and '.join(names[:2])}")
    return f"What matters most to the models: {'; '.join(parts)}." if parts else ""


def _stands_out(row: Mapping[str, Cell]) -> bool:
    """Tell whether shuffling costs more accuracy than one shuffle differs from the next."""
    increase = number(row["mre_shuffled"]) - number(row["mre_intact"])
    return increase > number(row["mre_shuffled_deviation"])


#: How to read each figure, one sentence or two. ``{adjective}`` is what the numbers are.
HOW_TO_READ: Final = {
    "accuracy": (
        "R² is how much of the variation a model explains (1 is all of it, below 0 is worse than "
        "always answering the mean). MAE is the mean absolute error, beside the mean value in "
        "brackets. MRE is the mean relative error: how far off an answer is, on average, as a "
        "share of the true value. Blue is the smallest MRE of a metric on unseen workloads, the "
        "model that is asked unless another is named."
    ),
    "accuracy_bars": (
        "Mean relative error of each model on workloads that it had not seen. The shorter the "
        "bar, the closer the predictions."
    ),
    "intervals": (
        "Every prediction comes with an interval, from the prediction divided by a factor to the "
        "prediction times it: with a factor of 1.5, a predicted 1.00 ms stands for 0.67 to 1.50 ms."
    ),
    "predictions": (
        "Each dot is one workload: across is what was {adjective}, up is what the model said "
        "without having seen it. On the solid line the prediction is exact, between the dashed "
        "ones it is within a factor of two."
    ),
    "check": (
        "The last row is of workloads spread over the whole ranges, off the grid of the design."
    ),
    "percentiles": (
        "At 99 % one request in a hundred takes longer than the line; a line that rises steeply "
        "to the right has slow stragglers behind a good mean."
    ),
    "effects": (
        "Grey dots are workloads, diamonds the geometric mean of those at or around a value, the "
        "blue line what the best extended model predicts, on average, when only this "
        "characteristic changes. Where line and diamonds part, the workloads at that value differ "
        "in something else too, or the model is wrong there."
    ),
    "importance": (
        "How large the mean relative error gets when the best extended model is told a wrong "
        "value of one characteristic (shuffled among the workloads); the dashed line is its error "
        "with everything right, so a bar that barely reaches past it does not matter."
    ),
    "workloads": (
        "Every workload with what was {adjective}; a dash stands where a characteristic has no "
        "effect, or too few requests were slower to give a percentile. Known within: the mean "
        "latency lies that close to the true one, 95 times of 100; a star marks those that did "
        "not become as sure as asked. For: the model, the width of its intervals, its check, or "
        "the curves above."
    ),
}

#: What each model was judged on.
JUDGED: Final = {
    "in_sample": (
        "Seen",
        "on the workloads that it was fitted to, as Huang et al. 2011 seem to report: too kind",
    ),
    "cross_validated": (
        "Unseen",
        "on workloads of the design that it had not seen (cross-validated: they are split into "
        "{folds} parts, equal workloads together, and each part is predicted from the others)",
    ),
    "off_grid": (
        "Off-grid",
        "on {checked} further workloads, the same for every drive, spread evenly over the whole "
        "ranges, between the values of the design too",
    ),
}

#: The terms of the trade that the page cannot do without.
GLOSSARY: Final = (
    ("Latency", "how long a request takes, from handing it over to its answer"),
    ("Bandwidth", "bytes moved a second, in millions (MB/s)"),
    ("Throughput", "requests completed a second (IOPS)"),
    ("Queue depth", "how many requests the drive has in hand at any time"),
    ("Sequential", "each request starts where the one before it ended"),
    ("Stride", "the gap between the end of a request and the start of the next"),
    ("Random", "each request goes anywhere"),
    ("Percentile", "at 99 %, of a hundred requests one takes longer"),
    ("Workload", "a stream of requests with given shares, sizes, places and queue depth"),
    ("Model", "a formula fitted to some workloads that answers for others"),
)
