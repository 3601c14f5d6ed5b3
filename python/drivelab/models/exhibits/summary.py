"""What a run says first: which drive it is, its first numbers, how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.drives.write_pattern import BURST
from drivelab.exhibits import Card, Cards
from drivelab.exhibits.quantities import METRICS, PROVENANCE, listed, mre_text
from drivelab.models.exhibits.cautions import fixed_characteristics
from drivelab.models.predictors import ESTIMATORS
from drivelab.models.probed import probes_of
from drivelab.units import format_size

if TYPE_CHECKING:
    from drivelab.models.exhibits.run_data import RunData


def what_it_is(run: RunData) -> str:
    """Say how large the drive is, how many workloads it was tried under, and what writes found."""
    adjective = PROVENANCE[run.kind].adjective
    count = len(run.fitted)
    keys = {one.characteristics.key() for one in run.fitted}
    distinct = "" if len(keys) == count else f" ({len(keys):,} distinct)"
    capacity = run.header["drive"].get("capacity_bytes")
    size = f"{format_size(capacity)}, " if capacity else ""
    writes = _writes(run)
    of = "" if writes is None else f"{writes} writes, "
    text = f"{size}{of}{adjective} under {count:,} workloads{distinct}."
    return f"{text[0].upper()}{text[1:]}"


def how_long_it_lasts(run: RunData) -> list[str]:
    """Say what the writes found, so whether their speeds last; nothing where there are none."""
    writes = _writes(run)
    if writes is None:
        return []
    if writes == BURST:
        return [
            "Burst writes: each workload found the drive with space for a first burst of writes."
        ]
    return [
        "Sustained writes: before each workload that writes, the drive was written in the same way "
        "until its speed no longer changed."
    ]


def how_built(run: RunData) -> list[str]:
    """Say what probes found of how the drive is built; nothing where there are none."""
    found = probes_of(run.measurements, run.parts, run.header["drive"].get("capacity_bytes"))
    return [] if found is None else [f"As far as short probes show: {found.describe()}."]


def _writes(run: RunData) -> str | None:
    """Return what writes found; `None` of a formula, and where nothing writes."""
    if run.kind == "closed_form" or all(one.write is None for one in run.measurements):
        return None
    return str(run.header["plan"].get("writes", BURST))


def how_sure(run: RunData) -> str:
    """Say how far off predictions are, of workloads that no model was fitted to."""
    if run.evaluation.check is not None and run.check is not None:
        parts = [
            f"{mre_text(run.evaluation.check[run.best(metric)].mre)} for "
            f"{METRICS[metric].label.lower()}"
            for metric in run.metrics()
        ]
        return (
            f"How sure: on {len(run.check.measurements):,} more workloads, spread over the whole "
            f"ranges, predictions are off by {listed(parts)} on average."
        )
    return (
        f"How sure: each of the {len(run.fitted):,} workloads was predicted by models that were "
        "fitted without it. No other workloads were used to check them."
    )


def what_differs(run: RunData) -> str:
    """Say what the workloads differ in; empty where in nothing."""
    fixed = set(fixed_characteristics(run))
    kinds = {
        "in how much they write": {"write_ratio"},
        "in how many requests are in flight": {"queue_depth"},
        "in request size": {"read_size", "write_size"},
        "in how random the accesses are": {"read_random", "write_random"},
        "in the gaps between accesses": {"read_stride", "write_stride"},
    }
    parts = [text for text, names in kinds.items() if not names <= fixed]
    return f"The workloads differ {listed(parts)}." if parts else ""


def basic_against_extended(run: RunData) -> str:
    """Say what models gain from knowing all characteristics; empty with only one kind of model."""
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
        f"size, randomness) is off by {mre_text(basic)} for {METRICS[metric].label.lower()}, "
        "one that knows all eight (reads and writes separately, strides) by "
        f"{mre_text(extended)}: {verdict}."
    )


def first_numbers(run: RunData) -> Cards:
    """Return the range of each metric, and how far off its predictions are."""
    cards = []
    for metric in run.metrics():
        item, key = METRICS[metric], run.best(metric)
        values = [float(getattr(measurement, metric)) for measurement in run.drawn]
        said = (
            f"predicted for unseen workloads by {ESTIMATORS[key.estimator].label}: off by "
            f"{mre_text(run.accuracy[key].mre)} on average"
        )
        cards.append(Card(item.label, item.text(min(values)), item.text(max(values)), said))
    return Cards(tuple(cards))
