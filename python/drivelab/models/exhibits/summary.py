"""What a run says first: which drive it is, its first numbers, how sure they are; and terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.drives.write_pattern import BURST
from drivelab.exhibits import Card, Cards, number
from drivelab.exhibits.quantities import (
    CHARACTERISTICS,
    METRICS,
    PROVENANCE,
    listed,
    share_text,
)
from drivelab.models.exhibits.cautions import fixed_characteristics
from drivelab.models.predictors import ESTIMATORS
from drivelab.models.probed import probes_of
from drivelab.units import format_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.exhibits import Cell, Table
    from drivelab.models.exhibits.run_data import RunData


def what_was_tried(run: RunData) -> str:
    """Say which drive it is, and under how many workloads it was tried."""
    adjective = PROVENANCE[run.kind].adjective
    count = len(run.fitted)
    keys = {one.characteristics.key() for one in run.fitted}
    distinct = "" if len(keys) == count else f", {len(keys):,} of them distinct"
    drive = f"drive {run.name}{_capacity(run)}"
    writes = _writes(run)
    begin = "The" if writes is None else f"{writes.capitalize()} writes: the"
    return f"{begin} {drive} was {adjective} under {count:,} workloads{distinct}{_differing(run)}."


def how_built(run: RunData) -> list[str]:
    """Say what probes found of how the drive is built; nothing where there are none."""
    found = probes_of(run.measurements, run.parts)
    return [] if found is None else [f"As far as short probes tell: {found.describe()}."]


def how_long_it_lasts(run: RunData) -> list[str]:
    """Say what the writes found, so whether their speeds last; nothing where there are none."""
    writes = _writes(run)
    if writes is None:
        return []
    if writes == BURST:
        return ["Workloads that write found the drive as it is, with its room for first writes."]
    return [
        "Each workload that writes began after so much writing of its own kind that more would "
        "have changed nothing."
    ]


def _writes(run: RunData) -> str | None:
    """Return what writes found; `None` of a formula, and where nothing writes."""
    if run.kind == "closed_form" or all(one.write is None for one in run.measurements):
        return None
    return str(run.header["plan"].get("writes", BURST))


def how_sure(run: RunData, importance: Table) -> list[str]:
    """Say in sentences how far the first numbers reach, and what they hang on."""
    sentences = [_between(run), _basic_against_extended(run), _what_matters(run, importance)]
    return [sentence for sentence in sentences if sentence]


def _capacity(run: RunData) -> str:
    capacity = run.header["drive"].get("capacity_bytes")
    return f" ({format_size(capacity)})" if capacity else ""


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


def _between(run: RunData) -> str:
    if run.evaluation.check is None or run.check is None:
        return ""
    parts = [
        f"{share_text(run.evaluation.check[run.best(metric)].mre)} for "
        f"{METRICS[metric].label.lower()}"
        for metric in run.metrics()
    ]
    return (
        f"On {len(run.check.measurements):,} more workloads, spread over the whole ranges, "
        f"predictions are off by {listed(parts)}."
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


def first_numbers(run: RunData) -> Cards:
    """Give, of each metric, from where to where it went and how far off predictions are."""
    cards = []
    for metric in run.metrics():
        item, key = METRICS[metric], run.best(metric)
        values = [float(getattr(measurement, metric)) for measurement in run.drawn]
        said = (
            f"Predictions for workloads that the model has not seen are off by "
            f"{share_text(run.accuracy[key].mre)} on average ({ESTIMATORS[key.estimator].label})"
        )
        cards.append(Card(item.label, item.text(min(values)), item.text(max(values)), said))
    return Cards(tuple(cards))
