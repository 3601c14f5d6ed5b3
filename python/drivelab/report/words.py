"""What the report says in words: the summary, the warnings and how to read each figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.report.quantities import (
    CHARACTERISTICS,
    ESTIMATOR_LABELS,
    METRICS,
    PROVENANCE,
    TIMES,
    share_text,
)
from drivelab.report.table import number
from drivelab.report.tables import repeatability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.report.inputs import RunData
    from drivelab.report.table import Cell, Table

#: Below so many distinct workloads the error figures themselves are rough.
FEW_WORKLOADS: Final = 100
#: A mean relative error above this is not worth planning with.
LARGE_ERROR: Final = 0.3
#: Fewer requests make a mean latency, and more so its percentiles, a rough guess.
FEW_REQUESTS: Final = 1000
#: Equal workloads that differ by more than this say that the drive or machine is noisy.
NOISY: Final = 0.1


def drive_kind(run: RunData) -> str:
    """Return ``simulated``, ``closed_form`` or ``real``."""
    return str(run.header["drive"]["kind"])


def summary(run: RunData, importance: Table) -> list[str]:
    """Return the paragraph's sentences for a person who has not read any paper."""
    adjective = PROVENANCE[drive_kind(run)].adjective
    name = run.header["drive"]["name"]
    count = len(run.measurements)
    distinct = "" if run.groups == count else f", {run.groups} of them distinct"
    sentences = [
        f"The drive {name} was {adjective} under {count} workloads{distinct}{_differing(run)}."
    ]
    sentences.append(_ranges(run))
    sentences.append(_accuracy(run))
    sentences.append(_basic_against_extended(run))
    sentences.append(_what_matters(run, importance))
    return [sentence for sentence in sentences if sentence]


def _differing(run: RunData) -> str:
    fixed = set(_fixed(run))
    kinds = {
        "in how much they write": {"write_ratio"},
        "in how many requests are in flight": {"queue_depth"},
        "in request size": {"read_size", "write_size"},
        "in how random the accesses are": {"read_random", "write_random"},
        "in the gaps between accesses": {"read_stride", "write_stride"},
    }
    parts = [text for text, names in kinds.items() if not names <= fixed]
    return f", which differ {_listed(parts)}" if parts else ""


def _ranges(run: RunData) -> str:
    parts = []
    for metric in run.metrics():
        item = METRICS[metric]
        values = [float(getattr(measurement, metric)) for measurement in run.measurements]
        label = item.label.lower()
        parts.append(f"{label} from {item.text(min(values))} to {item.text(max(values))}")
    return f"Over these the drive gave a {_listed(parts)}."


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
        f"by {_listed(parts)}."
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


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def warnings(run: RunData) -> list[str]:
    """Return what a reader should know before trusting a number, one sentence or two each."""
    found = _incomplete(run)
    if run.groups < FEW_WORKLOADS:
        found.append(
            f"Only {run.groups} distinct workloads: the error figures are themselves rough. "
            "300 make them steadier."
        )
    found += _noisy(run)
    found += _short(run)
    found += _inaccurate(run)
    found += _far_off(run)
    found += _not_varied(run)
    return found


def _incomplete(run: RunData) -> list[str]:
    planned = run.header.get("design", {}).get("workloads")
    done = len(run.measurements)
    if not isinstance(planned, int) or done >= planned:
        return []
    return [
        f"The campaign is not finished: {done} of {planned} workloads. Start the same command "
        "again and it goes on where it stopped."
    ]


def _noisy(run: RunData) -> list[str]:
    for metric in run.metrics():
        repeated = repeatability(run.measurements, metric)
        if repeated and repeated.mean_relative_difference > NOISY:
            difference = share_text(repeated.mean_relative_difference)
            return [
                f"Noisy: equal workloads differ from their own mean by {difference} on average "
                f"in {METRICS[metric].label.lower()} ({repeated.measurements} runs of "
                f"{repeated.groups} workloads). Expect no model to be much more accurate than that."
            ]
    return []


def _short(run: RunData) -> list[str]:
    few = [m.index for m in run.measurements if m.requests < FEW_REQUESTS]
    if not few:
        return []
    which = f"Workload {few[0]}" if len(few) == 1 else f"{len(few)} workloads"
    first = "" if len(few) == 1 else f" (the first is number {few[0]})"
    return [
        f"{which} completed fewer than {FEW_REQUESTS:,} requests{first}: take the mean and the "
        "percentiles as rough."
    ]


def _inaccurate(run: RunData) -> list[str]:
    parts = []
    for metric in run.metrics():
        mre = run.accuracy[run.best(metric)].mre
        if mre > LARGE_ERROR:
            parts.append(f"by {share_text(mre)} for {METRICS[metric].label.lower()}")
    if not parts:
        return []
    return [
        f"Even the best model is off {_listed(parts)} on average: look at the measurements "
        "rather than at predictions."
    ]


def _far_off(run: RunData) -> list[str]:
    parts = []
    for metric in run.metrics():
        predicted = run.evaluation.out_of_fold[run.best(metric)]
        off = []
        for measurement, value in zip(run.measurements, predicted, strict=True):
            ratio = float(value) / float(getattr(measurement, metric))
            factor = max(ratio, 1 / ratio)
            if factor > 2:
                off.append((factor, -measurement.index))
        if off:
            worst, index = max(off)
            parts.append(
                f"{len(off)} in {METRICS[metric].label.lower()} (the worst, {worst:.1f}{TIMES}, "
                f"is number {-index})"
            )
    if not parts:
        return []
    return [
        f"Of {len(run.measurements)} workloads, predicted wrong by more than a factor of two: "
        f"{_listed(parts)}."
    ]


def _fixed(run: RunData) -> dict[str, str]:
    """Return the characteristics that do not vary, by name, with what they are instead."""
    found = {}
    for name, item in CHARACTERISTICS.items():
        values = {m.characteristics.canonical()[name] for m in run.measurements} - {None}
        only = next(iter(values), None)
        if only is None:
            found[name] = "never in effect"
        elif len(values) == 1:
            found[name] = item.text(only)
    return found


def _not_varied(run: RunData) -> list[str]:
    fixed = [
        f"{CHARACTERISTICS[name].label.lower()} ({text})" for name, text in _fixed(run).items()
    ]
    if not fixed:
        return []
    return [f"Not varied, so this report says nothing about its effect: {', '.join(fixed)}."]


#: How to read each figure, one sentence. ``{adjective}`` is what the numbers are.
HOW_TO_READ: Final = {
    "accuracy": (
        "R² is how much of the variation a model explains (1 is all), MAE the mean absolute "
        "error beside the mean value in brackets, MRE the mean relative error; bold is the "
        "smallest MRE of a metric."
    ),
    "accuracy_bars": "The shorter the bar, the closer the predictions.",
    "predictions": (
        "Each dot is one workload, predicted by a model that was fitted without it: on the solid "
        "line the prediction is exact, between the dashed ones it is within a factor of two."
    ),
    "percentiles": (
        "At 99 % one request in a hundred takes longer than the line; a line that rises steeply "
        "to the right has slow stragglers behind a good mean."
    ),
    "effects": (
        "Grey dots are the workloads, diamonds their geometric mean at each value, and the blue "
        "line what the best extended model predicts, on average, when only this characteristic "
        "changes. Where line and diamonds part, the workloads at that value differ in something "
        "else too, or the model is wrong there."
    ),
    "importance": (
        "How large the mean relative error gets when the best extended model is told a wrong "
        "value of one characteristic (shuffled among the workloads); the dashed line is its error "
        "with everything right, so a bar that barely reaches past it does not matter."
    ),
    "workloads": (
        "Every workload with what was {adjective}; a dash stands where a characteristic has no "
        "effect, or too few requests were slower to give a percentile."
    ),
}
