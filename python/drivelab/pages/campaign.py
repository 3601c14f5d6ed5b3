"""The page of one run: a campaign, and the models that were fitted to it.

`PAGES` is what stands on it, in the order in which a reader looks: which drive, one picture, three
numbers, how sure they are, then the details, and last how and where it was done. A function gives
an exhibit, or several, of a run's data; to add one to the page, write it and name it there.

The picture is the first of `PICTURES` that the run has, and stands there instead of below. A
warning that limits one exhibit stands with it, those that limit every number stand in front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from drivelab.campaign.exhibits.cautions import figure_cautions, measurement_cautions
from drivelab.campaign.exhibits.identity import identity
from drivelab.campaign.exhibits.latency import tails
from drivelab.campaign.exhibits.sweep_figures import missing_reason, one_drive
from drivelab.campaign.exhibits.sweeps import sweep_table
from drivelab.campaign.exhibits.workloads import all_workloads
from drivelab.exhibits import BarFigure, Facts, Multiples, Page, Report, Table, Text
from drivelab.exhibits.quantities import PROVENANCE
from drivelab.models.exhibits.accuracy import (
    BEST_SO,
    READ_SO,
    accuracy_bars,
    accuracy_intro,
    accuracy_tables,
    left_out,
)
from drivelab.models.exhibits.cautions import model_cautions, model_figure_cautions
from drivelab.models.exhibits.effects import effect_figures, importance, importance_bars
from drivelab.models.exhibits.intervals import interval_exhibits
from drivelab.models.exhibits.limits import what_limits
from drivelab.models.exhibits.predictions import predicted_observed
from drivelab.models.exhibits.run_data import RunData
from drivelab.models.exhibits.run_tree import readable_tree, tree_text
from drivelab.models.exhibits.summary import (
    GLOSSARY,
    first_numbers,
    how_built,
    how_long_it_lasts,
    how_sure,
    what_was_tried,
)

if TYPE_CHECKING:
    from drivelab.exhibits import Caution, Exhibit

Shown = Callable[[RunData], "Exhibit | Sequence[Exhibit]"]


@dataclass(frozen=True)
class Part:
    """One heading of the page.

    Attributes
    ----------
    anchor
        By which it is linked to.
    title
        ``{adjective}`` is what the numbers are: measured, simulated or calculated.
    shows
        What stands below it, in order.
    tabs
        Whether one exhibit is shown at a time.
    """

    anchor: str
    title: str
    shows: tuple[Shown, ...]
    tabs: bool = False


def in_short(run: RunData) -> list[Exhibit]:
    """Say which drive it is, give three numbers, and say how sure they are."""
    return [
        Text((what_was_tried(run), *how_long_it_lasts(run), *how_built(run)), leads=True),
        first_numbers(run),
        Text(tuple(how_sure(run, importance(run))), leads=True),
    ]


def who(run: RunData) -> list[Exhibit]:
    """Give everything that identifies the run."""
    found = identity(run.header, run.starts)
    return [*found.groups, *found.documents]


def words_used(_: RunData) -> Facts:
    """Say what the words mean."""
    return Facts("", GLOSSARY)


def curves(run: RunData) -> list[Exhibit]:
    """Show what the drive does when one thing changes."""
    intro = Text(
        (
            "Everything else stays the same while one characteristic of the workload is varied, as "
            "in figures 3 to 7 of Huang et al. 2011. `drivelab report RUN RUN2` lays several "
            "drives over each other.",
        )
    )
    adjective = PROVENANCE[run.kind].adjective
    return [intro, *one_drive(sweep_table(run.measurements), adjective, missing_reason(run))]


def how_good(run: RunData) -> list[Exhibit]:
    """Show how good the models are, the last table with what its columns mean."""
    *others, last = accuracy_tables(run)
    last = replace(last, note=f"{READ_SO} {BEST_SO}")
    return [accuracy_intro(run), *others, last, *left_out(run), accuracy_bars(run)]


PAGES: Final = (
    Part("summary", "In short", (in_short,)),
    Part("sweeps", "What the drive does when one thing changes", (curves,)),
    Part("limits", "What limits the drive", (what_limits,)),
    Part("accuracy", "How good the models are", (how_good,)),
    Part("intervals", "How sure a prediction is", (interval_exhibits,)),
    Part("predictions", "Predicted against {adjective}", (predicted_observed,)),
    Part("percentiles", "Latency of the slowest requests", (tails,)),
    Part("effects", "What each characteristic does", (effect_figures,), tabs=True),
    Part("importance", "What matters most", (importance_bars,)),
    Part("tree", "A model that can be read", (readable_tree,)),
    Part("workloads", "All workloads", (all_workloads,)),
    Part("words", "The words used here", (words_used,)),
    Part("identity", "What was {adjective}, and how", (who,)),
)
#: Pictures of what a drive does, by name, that which tells most first.
PICTURES: Final = ("sweep-4", "sweep-5", "sweep-3", "sweep-6", "percentiles", "predicted")


def campaign_report(run: RunData) -> Report:
    """Make the report of a run; the same run always gives the same one."""
    provenance = PROVENANCE[run.kind]
    shown = [_shown(part, run) for part in PAGES]
    limits = {
        **figure_cautions(run, sweep_table(run.measurements)),
        **model_figure_cautions(run),
    }
    shown = [[_limited(one, limits) for one in exhibits] for exhibits in shown]
    picture = _picture(shown)
    if picture is not None:
        said, *others = shown[0]
        rest = ([one for one in exhibits if one is not picture] for exhibits in shown[1:])
        shown = [[said, picture, *others], *rest]
    # Of exhibits that the run does not have.
    general = [caution for cautions in limits.values() for caution in cautions]
    cautions = [*measurement_cautions(run), *general, *model_cautions(run)]
    pages = tuple(
        Page(
            part.title.format(adjective=provenance.adjective),
            tuple(exhibits),
            tuple(cautions) if place == 0 else (),
            anchor=part.anchor,
            tabs=part.tabs,
        )
        for place, (part, exhibits) in enumerate(zip(PAGES, shown, strict=True))
        if exhibits
    )
    return Report(
        run.name,
        pages=pages,
        texts=tree_text(run),
        subject="report",
        badge=(run.kind, provenance.label),
        statement=provenance.statement,
        origin=(("drive", run.name), ("drive_kind", run.kind)),
        ending=SOURCES,
    )


def _shown(part: Part, run: RunData) -> list[Exhibit]:
    exhibits: list[Exhibit] = []
    for show in part.shows:
        shown = show(run)
        exhibits += shown if isinstance(shown, Sequence) else [shown]
    return exhibits


def _limited(exhibit: Exhibit, limits: dict[str, list[Caution]]) -> Exhibit:
    """Put the warnings that limit an exhibit below it, and take them from `limits`."""
    if not isinstance(exhibit, BarFigure | Multiples | Table):
        return exhibit
    found = [caution.text() for caution in limits.pop(exhibit.name, ())]
    return replace(exhibit, caution=" ".join([*found, *filter(None, [exhibit.caution])]))


def _picture(shown: Sequence[Sequence[Exhibit]]) -> Multiples | None:
    """Return the exhibit that the page begins with."""
    found = {
        one.name: one
        for exhibits in shown
        for one in exhibits
        if isinstance(one, Multiples) and one.figures
    }
    return next((found[name] for name in PICTURES if name in found), None)


#: Whose models these are.
SOURCES: Final = (
    "Models and metrics follow Huang, Li, Szalay and Terzis, Performance Modeling and Analysis of "
    "Flash-based Storage Devices, MSST 2011, sections III and IV."
)
