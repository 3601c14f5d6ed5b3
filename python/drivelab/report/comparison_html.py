"""The page that lays several runs beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.report import words
from drivelab.report.accuracy_tables import JUDGED, Cells, cells
from drivelab.report.comparison import common_workloads, differences, joined, told_apart
from drivelab.report.courses import SAME, times_text
from drivelab.report.page import Report, render_page
from drivelab.report.quantities import (
    ESTIMATOR_LABELS,
    METRICS,
    PROVENANCE,
    listed,
)
from drivelab.report.sweep_section import several_drives
from drivelab.report.table import Table, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.report.comparison import Digest

_TABLES: Final = {
    "basic": ("II", "Basic models, four characteristics"),
    "extended": ("III", "Extended models, all eight characteristics"),
}


@dataclass(frozen=True)
class DriveAccuracy:
    """A row of table II or III: a drive, its best model, and how good it is where judged."""

    label: str
    kind: str
    estimator: str
    cells: tuple[Cells | None, ...]


@dataclass(frozen=True)
class ComparedTable:
    """Table II or III with one row a drive and metric."""

    numeral: str
    title: str
    groups: tuple[tuple[str, tuple[DriveAccuracy, ...]], ...]


def render_comparison(digests: Sequence[Digest]) -> Report:
    """Compute every table, draw every figure and write the page.

    Parameters
    ----------
    digests
        Of two runs or more, in the order in which drives are listed.

    Returns
    -------
    Report
        The same runs always give the same bytes.
    """
    digests = told_apart(digests)
    section = several_drives([one.sweeps for one in digests])
    common = common_workloads(digests)
    saved = [
        common,
        joined("sweeps", digests, [one.sweeps.table for one in digests]),
        joined("accuracy", digests, [one.accuracy for one in digests]),
    ]
    tables = tuple(table for table in saved if table.rows)
    judged = [key for key in JUDGED if any(key in one.judged for one in digests)]
    html = render_page(
        "comparison.html.j2",
        title=listed([one.label for one in digests]),
        drives=[(one.label, PROVENANCE[one.kind], one.kind, one.run) for one in digests],
        statement=_statement(digests),
        summary=common_words(common),
        common_rows=_common_rows(common),
        common_columns=[f"{item.label}" for item in METRICS.values()],
        differences=differences(digests),
        cautions=[(one.label, one.cautions) for one in digests],
        identities=_side_by_side(digests),
        documents=[
            (f"{one.label}: {name}", text)
            for one in digests
            for name, text in one.identity.documents
        ],
        sweeps=section.figures,
        accuracy=[_table(features, digests, judged) for features in _TABLES],
        judged=[words.JUDGED[key][0] for key in judged],
        how=words.HOW_TO_READ,
        glossary=words.GLOSSARY,
        data={"csv": {table.name: table.csv() for table in tables}, "tips": section.tips},
    )
    return Report(html, tables)


def _statement(digests: Sequence[Digest]) -> str:
    by_kind: dict[str, list[str]] = {}
    for one in digests:
        by_kind.setdefault(one.kind, []).append(one.label)
    verbs = {
        "real": "were measured on a machine, with everything that lies between a program and "
        "the drive",
        "simulated": "were computed by a simulator",
        "closed_form": "were calculated from closed-form equations",
    }
    parts = [f"The numbers of {listed(names)} {verbs[kind]}" for kind, names in by_kind.items()]
    return f"{'. '.join(parts)}."


def common_words(common: Table) -> str:
    """Say how the drives compare over the workloads that all of them have run."""
    rows = common.records()
    if not rows:
        return (
            "The drives have no workload in common, so nothing here compares them under the same "
            "load."
        )
    count = int(number(rows[0]["workloads"]))
    metric = "latency_ns_mean"
    ranked = sorted(rows, key=lambda row: number(row[metric]))
    best = ranked[0]
    behind = []
    for row in ranked[1:]:
        ratio = number(row[metric]) / number(best[metric])
        same = "about as fast" if ratio < SAME else f"{times_text(ratio)} longer"
        behind.append(f"{row['drive']} {same}")
    return (
        f"Under the {count:,} workloads that every drive has run, {best['drive']} answers "
        f"fastest: {METRICS[metric].text(number(best[metric]))} in the geometric mean of the mean "
        f"latencies, {listed(behind)}. One drive may be better at some of them and worse at "
        "others: the figures below say where."
    )


def _common_rows(common: Table) -> list[tuple[str, list[str]]]:
    return [
        (
            f"{row['drive']} ({PROVENANCE[str(row['drive_kind'])].adjective})",
            [item.text(number(row[metric])) for metric, item in METRICS.items()],
        )
        for row in common.records()
    ]


def _side_by_side(
    digests: Sequence[Digest],
) -> list[tuple[str, list[tuple[str, list[str | None]]]]]:
    """Return groups of facts, each with one text a drive; None where a drive has no such fact."""
    facts = [
        {
            (place, name): text
            for place, group in enumerate(one.identity.groups)
            for name, text in group.facts
        }
        for one in digests
    ]
    titles = ("The drive", "The workloads", "How each was tried", "Where and when")
    groups: list[tuple[str, list[tuple[str, list[str | None]]]]] = []
    for place, title in enumerate(titles):
        names = dict.fromkeys(name for of in facts for at, name in of if at == place)
        rows = [(name, [of.get((place, name)) for of in facts]) for name in names]
        groups.append((title, rows))
    return groups


def _table(features: str, digests: Sequence[Digest], judged: Sequence[str]) -> ComparedTable:
    numeral, title = _TABLES[features]
    groups = []
    for metric, item in METRICS.items():
        rows = []
        for one in digests:
            key = one.best.get((metric, features))
            if key is None:
                continue
            found = tuple(
                cells(metric, one.judged[name][key]) if name in one.judged else None
                for name in judged
            )
            rows.append(DriveAccuracy(one.label, one.kind, ESTIMATOR_LABELS[key.estimator], found))
        groups.append((f"{item.label} ({item.unit})", tuple(rows)))
    return ComparedTable(numeral, title, tuple(groups))
