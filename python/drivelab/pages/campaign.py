"""The page of one run: a campaign and the models fitted to it.

It begins with what a reader looks for: the drive, a picture or two, three numbers, and how sure
they are. `PAGES` lists the rest: details first, then how and where the run was done. Each function
in it turns a run's data into one or more exhibits. To add an exhibit, write a function and list it
there.

A run without curves begins with a dot for every workload. A warning about one exhibit stands with
it; warnings about every number come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar, cast

from drivelab.campaign.exhibits.cautions import figure_cautions, measurement_cautions
from drivelab.campaign.exhibits.first_figures import (
    every_workload,
    latency_throughput,
    sizes_by_pattern,
)
from drivelab.campaign.exhibits.identity import identity
from drivelab.campaign.exhibits.latency import tails
from drivelab.campaign.exhibits.sweep_figures import missing_reason, one_drive
from drivelab.campaign.exhibits.sweeps import sweep_table
from drivelab.campaign.exhibits.workloads import all_workloads
from drivelab.exhibits import CellFigure, First, LineFigure, Page, Report, Text, WhatIf
from drivelab.exhibits.quantities import PROVENANCE, listed
from drivelab.exhibits.table import Around
from drivelab.models.exhibits.accuracy import (
    BEST_SO,
    READ_SO,
    accuracy_bars,
    accuracy_intro,
    accuracy_tables,
    left_out,
)
from drivelab.models.exhibits.cautions import model_cautions, model_figure_cautions
from drivelab.models.exhibits.effects import effect_figures, importance_bars
from drivelab.models.exhibits.intervals import interval_exhibits
from drivelab.models.exhibits.limits import what_limits
from drivelab.models.exhibits.predictions import predicted_observed
from drivelab.models.exhibits.run_data import RunData
from drivelab.models.exhibits.run_tree import readable_tree, tree_text
from drivelab.models.exhibits.summary import (
    basic_against_extended,
    first_numbers,
    how_built,
    how_long_it_lasts,
    how_sure,
    what_differs,
    what_it_is,
)

if TYPE_CHECKING:
    from drivelab.exhibits import Caution, Exhibit

_Shown = TypeVar("_Shown", bound="Exhibit")
Shown = Callable[[RunData], "Exhibit | Sequence[Exhibit]"]


@dataclass(frozen=True)
class Part:
    """A heading of the page and what stands below it.

    Attributes
    ----------
    anchor
        Name of the heading in links.
    title
        ``{adjective}`` is what the numbers are: measured, simulated or calculated.
    shows
        Functions that return the exhibits below it, in order.
    tabs
        Whether to show one exhibit at a time.
    """

    anchor: str
    title: str
    shows: tuple[Shown, ...]
    tabs: bool = False


def who(run: RunData) -> list[Exhibit]:
    """Return everything that identifies the run."""
    found = identity(run.header, run.starts)
    words = Text((*filter(None, [what_differs(run)]), *how_long_it_lasts(run)))
    return [*([words] if words.paragraphs else []), *found.groups, *found.documents]


def bottlenecks(run: RunData) -> list[Exhibit]:
    """Return what limits the drive, and what probes found about its structure."""
    built = how_built(run)
    return [*what_limits(run), *([Text(tuple(built))] if built else [])]


def curves(run: RunData) -> list[Exhibit]:
    """Return curves of the drive's performance as one characteristic changes."""
    intro = Text(
        (
            "Everything else stays the same while one characteristic of the workload is varied, as "
            "in figures 3 to 7 of Huang et al. 2011. `drivelab report RUN RUN2` compares drives.",
        )
    )
    adjective = PROVENANCE[run.kind].adjective
    reason = missing_reason(run)
    found = one_drive(sweep_table(run.measurements), adjective, reason)
    # A run without sweeps may have a few of their points by chance, which are not a curve.
    drawn = [one for one in found if one.figures and (run.parts.sweeps or not one.cautions)]
    others = [f"{one.title} ({one.source})" for one in found if one not in drawn]
    if not others:
        return [intro, *drawn]
    left_out = Text((f"Not drawn, because {reason}: {listed(others)}.",))
    return [intro, *drawn, left_out] if drawn else [left_out]


def how_good(run: RunData) -> list[Exhibit]:
    """Return how good the models are; the last table explains its columns."""
    *others, last = accuracy_tables(run)
    last = replace(last, note=f"{READ_SO} {BEST_SO}")
    gain = basic_against_extended(run)
    verdict = [Text((gain,))] if gain else []
    return [accuracy_intro(run), accuracy_bars(run), *verdict, *others, last, *left_out(run)]


PAGES: Final = (
    Part("sweeps", "What the drive does when one thing changes", (curves,)),
    Part("limits", "What limits the drive", (bottlenecks,)),
    Part("accuracy", "How good the models are", (how_good,)),
    Part("intervals", "How sure a prediction is", (interval_exhibits,)),
    Part("predictions", "Predicted against {adjective}", (predicted_observed,)),
    Part("percentiles", "Latency of the slowest requests", (tails,)),
    Part("effects", "What each characteristic does", (effect_figures,), tabs=True),
    Part("importance", "What matters most", (importance_bars,)),
    Part("tree", "A model that can be read", (readable_tree,)),
    Part("workloads", "All workloads", (all_workloads,)),
    Part("identity", "What was {adjective}, and how", (who,)),
)


def campaign_report(run: RunData) -> Report:
    """Return the report of a run; the same run always gives the same one."""
    provenance = PROVENANCE[run.kind]
    sweeps = sweep_table(run.measurements)
    limits = {**figure_cautions(run, sweeps), **model_figure_cautions(run)}
    shown = [_shown(part, run) for part in PAGES]
    pictures: list[LineFigure | CellFigure] = [
        picture
        for picture in (
            latency_throughput(sweeps, provenance.adjective),
            sizes_by_pattern(sweeps, provenance.adjective, missing_reason(run)),
        )
        if picture is not None
    ]
    if not pictures:
        dots = every_workload(run.measurements, provenance.adjective)
        pictures = [] if dots is None else [dots]
    pictures = [_limited(picture, limits) for picture in pictures]
    shown = [[_limited(one, limits) for one in exhibits] for exhibits in shown]
    # Warnings about exhibits that this run does not have.
    general = [caution for cautions in limits.values() for caution in cautions]
    pages = tuple(
        Page(
            part.title.format(adjective=provenance.adjective),
            tuple(exhibits),
            anchor=part.anchor,
            tabs=part.tabs,
        )
        for part, exhibits in zip(PAGES, shown, strict=True)
        if exhibits
    )
    return Report(
        run.name,
        first=First(
            what_it_is(run),
            tuple(pictures),
            first_numbers(run),
            how_sure(run),
            (*measurement_cautions(run), *general, *model_cautions(run)),
        ),
        pages=pages,
        texts=tree_text(run),
        subject="report",
        badge=(run.kind, provenance.label),
        statement=provenance.statement,
        origin=(("drive", run.name), ("drive_kind", run.kind)),
        ending=SOURCES,
        what_if=WhatIf.of_drives([(run.name, run.kind)]),
    )


def _shown(part: Part, run: RunData) -> list[Exhibit]:
    exhibits: list[Exhibit] = []
    for show in part.shows:
        shown = show(run)
        exhibits += shown if isinstance(shown, Sequence) else [shown]
    return exhibits


def _limited(exhibit: _Shown, limits: dict[str, list[Caution]]) -> _Shown:
    """Move the warnings about an exhibit from `limits` to the exhibit."""
    if not isinstance(exhibit, Around):
        return exhibit
    found = limits.pop(getattr(exhibit, "name", ""), [])
    # `replace` keeps the class; mypy sees only `Around`.
    return cast("_Shown", replace(exhibit, cautions=(*found, *exhibit.cautions)))


#: Source of the models.
SOURCES: Final = (
    "Models and metrics follow Huang, Li, Szalay and Terzis, Performance Modeling and Analysis of "
    "Flash-based Storage Devices, MSST 2011, sections III and IV."
)
