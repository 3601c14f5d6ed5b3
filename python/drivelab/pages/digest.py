"""Several runs side by side: what a comparison needs of each, and what they have in common.

A run's measurements take much memory, and a comparison needs only a small part of them. `digest`
keeps that part, so that runs can be read one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from drivelab.campaign.exhibits.cautions import figure_cautions, measurement_cautions
from drivelab.campaign.exhibits.identity import Identity, identity
from drivelab.campaign.exhibits.plan_words import plan_words
from drivelab.campaign.exhibits.sweep_figures import DriveSweeps, missing_reason
from drivelab.campaign.exhibits.sweeps import sweep_table
from drivelab.drives.write_pattern import BURST
from drivelab.errors import UsageError
from drivelab.exhibits import Caution, Cell, Table
from drivelab.exhibits.metric_axes import geometric_mean
from drivelab.exhibits.quantities import METRICS, listed
from drivelab.models.exhibits.accuracy import accuracy, scores
from drivelab.models.exhibits.cautions import model_cautions, model_figure_cautions
from drivelab.report.drawing.line_styles import MOST_LINES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from drivelab.models.accuracy import Accuracy
    from drivelab.models.evaluate import ModelKey
    from drivelab.models.exhibits.run_data import RunData

#: Keys that must be equal for runs to be comparable, by part of the header, with words for people.
_DESIGN: Final = {"name": "design", "seed": "seed of the workloads", "parts": "workloads"}
#: Ways in which machines can differ: words for people, and the place in a header.
_MACHINES: Final = {
    "host": ("origin", "host"),
    "system": ("origin", "system"),
    "processor": ("origin", "processor"),
    "processors": ("origin", "processors"),
    "fio": ("drive", "identity", "fio_version"),
    "I/O engine": ("drive", "identity", "io_engine"),
    "I/O scheduler": ("drive", "identity", "device", "scheduler"),
    "file system": ("drive", "identity", "file_system"),
    "Drivelab": ("origin", "drivelab_version"),
}


@dataclass(frozen=True)
class Digest:
    """The part of a run that a comparison needs.

    Attributes
    ----------
    label
        Name of the drive on the page; unique there.
    run
        Folder of the run, as the user named it.
    kind
        ``real``, ``simulated`` or ``closed_form``.
    header, identity
        Everything that identifies the run.
    workloads
        Number of measured workloads.
    sweeps
        Rows of figures 3 to 7, and reasons for missing points.
    cautions
        Its warnings, the most serious first.
    accuracy
        The table behind tables II and III.
    judged
        Accuracies, by the set of workloads that they were computed on.
    best
        The model with the smallest error on unseen workloads, by metric and features.
    performance
        The metrics of each workload, in the order of `METRICS`.
    """

    label: str
    run: str
    kind: str
    header: Mapping[str, Any]
    identity: Identity
    workloads: int
    sweeps: DriveSweeps
    cautions: tuple[Caution, ...]
    accuracy: Table
    judged: Mapping[str, Mapping[ModelKey, Accuracy]]
    best: Mapping[tuple[str, str], ModelKey]
    performance: Mapping[tuple[float | int | None, ...], tuple[float, ...]]


def digest(run: RunData, path: Path) -> Digest:
    """Extract from a run what a comparison needs."""
    table = sweep_table(run.measurements)
    features = dict.fromkeys(key.features for key in run.accuracy)
    return Digest(
        label=run.name,
        run=str(path),
        kind=run.kind,
        header=run.header,
        identity=identity(run.header, run.starts),
        workloads=len(run.measurements),
        sweeps=DriveSweeps(run.name, run.kind, table, missing_reason(run)),
        cautions=(
            *measurement_cautions(run),
            *chain.from_iterable(figure_cautions(run, table).values()),
            *model_cautions(run),
            *chain.from_iterable(model_figure_cautions(run).values()),
        ),
        accuracy=accuracy(run),
        judged=scores(run),
        best={
            (metric, name): run.best(metric, name) for metric in run.metrics() for name in features
        },
        performance={
            one.characteristics.key(): tuple(float(getattr(one, metric)) for metric in METRICS)
            for one in run.measurements
        },
    )


def refuse_uncomparable(paths: Sequence[Path]) -> None:
    """Raise `UsageError` if a run is named twice, or if there are too many for one plot."""
    seen: dict[Path, Path] = {}
    for path in paths:
        if path.resolve() in seen:
            raise UsageError(f"{path} and {seen[path.resolve()]} are the same run; name each once")
        seen[path.resolve()] = path
    if len(paths) > MOST_LINES:
        raise UsageError(
            f"{len(paths)} runs; more than {MOST_LINES} lines cannot be told apart on one plot"
        )


def distinctly_labelled(digests: Sequence[Digest]) -> list[Digest]:
    """Return the digests with a different label for each.

    If a drive occurs twice, what its writes found is added; if that is not enough, the run.
    """
    labels = [one.label for one in digests]
    with_writes = [f"{one.label}, {_writes(one)} writes" for one in digests]
    found = []
    for one, longer in zip(digests, with_writes, strict=True):
        label = one.label
        if labels.count(label) > 1:
            label = longer if with_writes.count(longer) == 1 else f"{label}, {one.run}"
        found.append(replace(one, label=label, sweeps=replace(one.sweeps, label=label)))
    return found


def _unlike_writes(digests: Sequence[Digest]) -> list[Caution]:
    """Return a warning if writes were sustained in some runs and bursts in others.

    Labels that already say so need no warning.
    """
    by_writes: dict[str, list[str]] = {}
    for one in digests:
        if one.kind != "closed_form" and not one.label.endswith(f"{_writes(one)} writes"):
            by_writes.setdefault(_writes(one), []).append(one.label)
    if len(by_writes) < 2:
        return []
    texts = "; ".join(f"{writes} on {listed(labels)}" for writes, labels in by_writes.items())
    return [
        Caution(
            "Not the same writes",
            f"Writes were {texts}.",
            "A burst flatters a drive: what lasts may be ten times slower.",
        )
    ]


def _unlike_machines(digests: Sequence[Digest]) -> list[Caution]:
    """Return a warning about differences between the machines of real drives."""
    real = [one for one in digests if one.kind == "real"]
    if len({_of_header(one, ("origin", "host")) for one in real}) < 2:
        return []
    unlike = []
    for words, keys in _MACHINES.items():
        labels: dict[str, list[str]] = {}
        for one in real:
            value = _of_header(one, keys)
            labels.setdefault("not known" if value is None else str(value), []).append(one.label)
        if len(labels) > 1:
            texts = (f"{value} ({listed(names)})" for value, names in labels.items())
            unlike.append(f"{words}: {', '.join(texts)}")
    return [
        Caution(
            "Not the same machine",
            f"The drives were measured on machines that differ. {'; '.join(unlike)}.",
            "Latency of a real drive includes its machine: processor, kernel and fio take part.",
        )
    ]


def _of_header(one: Digest, keys: Sequence[str]) -> Any:
    value: Any = one.header
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _writes(one: Digest) -> str:
    return str(one.header["plan"].get("writes", BURST))


def differences(digests: Sequence[Digest]) -> list[Caution]:
    """Return warnings about differences between the runs other than the drive."""
    found = []
    plans = {
        one.label: plan_words({**one.header["plan"], "writes": BURST}, one.kind)
        for one in digests
        # Formulas have no plan.
        if one.kind != "closed_form"
    }
    if len(set(plans.values())) > 1:
        alike: dict[str, list[str]] = {}
        for label, text in plans.items():
            alike.setdefault(f"{text[0].lower()}{text[1:]}", []).append(label)
        texts = "; ".join(f"{text} ({listed(labels)})" for text, labels in alike.items())
        found.append(
            Caution(
                "Not as long",
                f"Each workload ran {texts}.",
                "A short look flatters drives that slow down later.",
            )
        )
    found += _unlike_writes(digests)
    found += _unlike_machines(digests)
    others = [
        f"{word} ({_values(digests, key)})"
        for key, word in _DESIGN.items()
        if len({str(one.header["design"].get(key)) for one in digests}) > 1
    ]
    if others:
        found.append(
            Caution(
                "Not the same workloads",
                f"The runs differ in {', '.join(others)}.",
                "Errors of models on different workloads do not compare; figures 3 to 7 and the "
                "off-grid workloads do, which are the same in every run that has them.",
            )
        )
    return found


def _values(digests: Sequence[Digest], key: str) -> str:
    parts = []
    for one in digests:
        value = one.header["design"].get(key)
        if isinstance(value, dict):
            value = f"{sum(value.values()):,}"
        parts.append(f"{one.label}: {value}")
    return ", ".join(parts)


def common_workloads(digests: Sequence[Digest]) -> Table:
    """Return one row per drive: geometric means over the workloads that every drive has run."""
    common = set.intersection(*(set(one.performance) for one in digests))
    rows: list[tuple[Cell, ...]] = []
    for one in digests:
        # In the order of the run, so that sums give the same bytes each time.
        values = [metrics for key, metrics in one.performance.items() if key in common]
        if values:
            means = (geometric_mean(column) for column in zip(*values, strict=True))
            rows.append((one.label, one.kind, one.run, len(values), *means))
    return Table("common_workloads", (*_LEADING, "workloads", *METRICS), tuple(rows))


_LEADING: Final = ("drive", "drive_kind", "run")


def joined(name: str, digests: Sequence[Digest], tables: Sequence[Table]) -> Table:
    """Join the tables of all drives; each row begins with its drive and run."""
    rows = [
        (one.label, one.kind, one.run, *row)
        for one, table in zip(digests, tables, strict=True)
        for row in table.rows
    ]
    return Table(name, (*_LEADING, *tables[0].columns), tuple(rows))
