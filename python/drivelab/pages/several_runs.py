"""The page that compares several runs, and its folder."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.campaign.exhibits.courses import SAME, times_text
from drivelab.campaign.exhibits.first_figures import faster_where, latency_throughput_of
from drivelab.campaign.exhibits.sweep_figures import several_drives
from drivelab.exhibits import Cautions, Document, First, Page, Report, Table, Text, WhatIf, number
from drivelab.exhibits.quantities import METRICS, PROVENANCE, listed
from drivelab.models.exhibits.accuracy import JUDGED, READ_SO, TITLES, accuracy_table, cells
from drivelab.models.predictors import ESTIMATORS
from drivelab.pages.campaign import SOURCES
from drivelab.pages.digest import common_workloads, differences, distinctly_labelled, joined
from drivelab.report.saved import refuse_folder
from drivelab.report.written import write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits import Cell, Exhibit
    from drivelab.outputs import OutputFolder
    from drivelab.pages.digest import Digest

_LONGEST_NAME: Final = 100
#: Longest default name of a folder, in characters.
_LONGEST_TITLE: Final = 150
#: With more drives, the sentence names only the fastest two and the slowest.
_MOST_NAMED: Final = 3


def default_folder(paths: Sequence[Path]) -> Path:
    """Return the default folder of a comparison: the same for the same runs in the same order."""
    names = (re.sub(r"[^A-Za-z0-9]+", "-", path.resolve().name).strip("-") for path in paths)
    return Path("runs") / f"compare-{'-'.join(name or 'run' for name in names)}"[:_LONGEST_NAME]


def build_comparison(
    digests: Sequence[Digest], out: OutputFolder, *, chromium: str | None = None
) -> Path:
    """Write the page that compares runs, and its tables; return the path of ``report.html``.

    Parameters
    ----------
    digests
        Two runs or more.
    out
        Folder of the comparison; created if it does not exist.
    chromium
        Program that also prints the page as PDF; None for no PDF.

    Raises
    ------
    UsageError
        When the folder holds something else.
    RunError
        When it cannot be written.
    """
    refuse_folder(out)
    return write_report(comparison_report(digests), out, chromium=chromium)["report"]


def comparison_report(digests: Sequence[Digest]) -> Report:
    """Return the report that compares runs; the same runs always give the same one.

    Parameters
    ----------
    digests
        Two runs or more, in the order of the page.
    """
    digests = distinctly_labelled(digests)
    common = common_workloads(digests)
    accuracy = joined("accuracy", digests, [one.accuracy for one in digests])
    sweeps = joined("sweeps", digests, [one.sweeps.table for one in digests])
    drives = [one.sweeps for one in digests]
    pictures = (latency_throughput_of(drives, sweeps), faster_where(drives, sweeps))
    means = _means(common)
    return Report(
        _title([one.label for one in digests]),
        subject="comparison",
        statement=_statement(digests),
        ending=f"Each run's own report says more about its drive. {SOURCES}",
        first=First(
            figures=tuple(one for one in pictures if one is not None),
            sure=common_words(common),
            cautions=tuple(differences(digests)),
        ),
        pages=(
            *([Page("On average", tuple(means), anchor="average")] if means else []),
            Page(
                "What the drives do when one thing changes",
                (Text((_LINES,)), *several_drives(drives, sweeps)),
                anchor="sweeps",
            ),
            Page(
                "How good the models are",
                (Text((_ROWS,)), *_accuracy(digests, accuracy)),
                anchor="accuracy",
            ),
            Page(
                "Cautions of each drive",
                tuple(Cautions(one.label, one.cautions) for one in digests),
                anchor="warnings",
            ),
            Page("What was compared", _identities(digests), anchor="identity"),
        ),
        what_if=WhatIf.of_drives((one.header["drive"]["name"], one.kind) for one in digests),
    )


_LINES: Final = (
    "Everything else stays the same while one characteristic of the workload is varied, as in "
    "figures 3 to 7 of Huang et al. 2011. Lines drawn through are of real drives, dashed ones of "
    "simulated drives and dotted ones of formulas; only the former have filled markers."
)
_ROWS: Final = (
    "A model answers for workloads that were never tried. Each row is the best model of a drive: "
    "the one with the smallest error (MRE) on workloads of its run that it had not seen. Seen: on "
    "the workloads that it was fitted to, as Huang et al. 2011 seem to report, too kind. Unseen: "
    "cross-validated. Off-grid: on further workloads, the same for every drive, spread evenly over "
    "the whole ranges."
)


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


def _title(labels: Sequence[str]) -> str:
    """Return the drives' names, or their number if the names would fill the page."""
    names = listed(labels)
    return names if len(names) <= _LONGEST_TITLE else f"{len(labels)} drives"


def common_words(common: Table) -> str:
    """Describe how the drives compare over the workloads that all of them have run."""
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
    if len(ranked) > _MOST_NAMED:
        behind = [f"next {behind[0]}", f"last {behind[-1]}"]
    return (
        f"Under the {count:,} workloads that every drive has run, {best['drive']} answers "
        f"fastest: {METRICS[metric].text(number(best[metric]))} in the geometric mean of the mean "
        f"latencies, {listed(behind)}. One drive may be better at some of them and worse at "
        "others."
    )


def _means(common: Table) -> list[Table]:
    """Return the means over the workloads that every drive has run; empty without any."""
    rows = tuple(
        (
            f"{row['drive']} ({PROVENANCE[str(row['drive_kind'])].adjective})",
            *(item.text(number(row[metric])) for metric, item in METRICS.items()),
        )
        for row in common.records()
    )
    if not rows:
        return []
    return [
        Table(
            "common",
            ("Drive", *(item.label for item in METRICS.values())),
            rows,
            right=True,
            note="Geometric means over the workloads that every drive has run, so that each counts "
            "alike whether it takes microseconds or seconds.",
            saved=(common,),
        )
    ]


def _identities(digests: Sequence[Digest]) -> tuple[Exhibit, ...]:
    """Return facts with one column per drive, then the long texts; empty for missing ones."""
    facts = [
        {
            (place, name): text
            for place, group in enumerate(one.identity.groups)
            for name, text in group.facts
        }
        for one in digests
    ]
    rows: list[tuple[Cell, ...]] = [("Run", *(one.run for one in digests))]
    groups: list[tuple[str, int]] = []
    for place, title in enumerate(
        ("The drive", "The workloads", "How each was tried", "Where and when")
    ):
        before = len(rows) if groups else 0
        names = dict.fromkeys(name for of in facts for at, name in of if at == place)
        rows += [(name, *(of.get((place, name)) for of in facts)) for name in names]
        groups.append((title, len(rows) - before))
    labels = (f"{one.label} ({PROVENANCE[one.kind].label.lower()})" for one in digests)
    table = Table(
        "identities", ("", *labels), tuple(rows), groups=tuple(groups), joins=True, saved=()
    )
    documents = (
        Document(f"{one.label}: {document.title}", document.text)
        for one in digests
        for document in one.identity.documents
    )
    return (table, *documents)


def _accuracy(digests: Sequence[Digest], saved: Table) -> list[Table]:
    """Return tables II and III with one row per drive and metric."""
    judged = [key for key in JUDGED if any(key in one.judged for one in digests)]
    tables = []
    for features in TITLES:
        rows: list[tuple[Cell, ...]] = []
        groups = []
        for metric, item in METRICS.items():
            before = len(rows)
            for one in digests:
                key = one.best.get((metric, features))
                if key is None:
                    continue
                found = [
                    cells(metric, one.judged[name][key]) if name in one.judged else (None,) * 3
                    for name in judged
                ]
                model = ESTIMATORS[key.estimator].label
                rows.append((one.label, model, *(cell for of in found for cell in of)))
            groups.append((f"{item.label} ({item.unit})", len(rows) - before))
        names = [JUDGED[name].name for name in judged]
        tables.append(
            accuracy_table(features, ("Drive", "Model"), names, rows, groups=groups, saved=saved)
        )
    *others, last = tables
    note = f"{READ_SO} Means differ between drives, so compare MRE."
    return [*others, replace(last, note=note)]
