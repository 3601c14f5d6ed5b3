"""Presets against the figures published for their drives, and where their values come from."""

from __future__ import annotations

import functools
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from typing import Final

from drivelab._core import preset_names, preset_text
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.values import comments, fitted_figures
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.simulated.published import Compared, compare, figure_text, percent_text
from drivelab.workloads.characteristics import Characteristics
from validation.document import Section

_HEADER: Final = (
    "figure",
    "published",
    "source",
    "simulated",
    "difference",
    "tolerance",
    "its reason",
    "result",
)
_GRADES: Final = ("paper", "datasheet", "recalled", "fitted", "assumed")
_GRADE_OF_VALUE: Final = re.compile(r"^(?P<key>\w+) = .*?# (?P<grade>\w+): (?P<source>.*)$")


@dataclass(frozen=True)
class Figure:
    """A published figure of a preset, and the simulated one.

    Attributes
    ----------
    preset, name, condition
        Whose it is, its name there, and under what it is taken to hold.
    compared
        The two numbers.
    source
        Where the published one was read: ``paper`` with what follows, or ``recalled``.
    fitted
        Whether values of the preset were chosen by it.
    reason
        Of the tolerance.
    """

    preset: str
    name: str
    condition: str
    compared: Compared
    source: str
    fitted: bool
    reason: str


@functools.cache
def simulated_figures() -> tuple[Figure, ...]:
    """Measure every published figure of every preset under its condition."""
    return tuple(figure for name in preset_names() for figure in figures_of(name))


def figures_of(name: str) -> list[Figure]:
    """Measure every published figure of a preset of the package."""
    text = preset_text(name)
    tables = tomllib.loads(text).get("published", {})
    said, fitted = comments(text), fitted_figures(text)
    found: list[Figure] = []
    if not tables:
        return found
    with SimulatedDrive.open(f"sim:{name}", varies=False) as drive:
        for figure, published in tables.items():
            compared = compare(drive, published)
            key = f"published.{figure}."
            reason = said[key + "tolerance_ratio"] or ""
            found.append(
                Figure(
                    preset=name,
                    name=figure,
                    condition=published["condition"],
                    compared=compared,
                    source=said[key + compared.quantity] or "",
                    fitted=figure in fitted,
                    reason=reason.partition(": ")[2],
                )
            )
    return found


def published_figures() -> Section:
    """Compare every published figure with the simulated one; fitted figures are separate."""
    section = Section(
        "Presets against published figures", ".venv/bin/python -m validation published"
    )
    figures = simulated_figures()
    section.say(
        "Most figures are published without their conditions. The conditions in the first column "
        "are then assumed, and are in the presets. *recalled* are figures of a class of drives, "
        "with no source at hand. [docs/published.md](docs/published.md), written with this "
        "section, has the same table for all presets, including those without published figures."
    )
    for title, of_kind in (
        (
            "Tests: no value was chosen by these figures.",
            [figure for figure in figures if not figure.fitted],
        ),
        (
            "Fitted: times, rates or spare blocks were chosen to give these figures. Agreement "
            "only proves that the values fit together.",
            [figure for figure in figures if figure.fitted],
        ),
    ):
        section.say(title)
        section.tabulate(_HEADER, [_row(figure) for figure in of_kind])
        for figure in of_kind:
            section.claim(
                f"{figure.preset}, {figure.name} within "
                f"{100 * figure.compared.tolerance_ratio:.3g} %",
                holds=figure.compared.holds,
                fitted=figure.fitted,
            )
    _full_range_writes(section)
    return section


def _row(figure: Figure) -> tuple[str, ...]:
    compared = figure.compared
    return (
        f"{figure.preset}: {figure.condition}",
        figure_text(compared.quantity, compared.published),
        figure.source.partition(":")[0],
        figure_text(compared.quantity, compared.simulated),
        percent_text(compared.difference_ratio),
        f"{100 * compared.tolerance_ratio:.3g} %",
        figure.reason,
        "met" if compared.holds else "**missed**",
    )


def _full_range_writes(section: Section) -> None:
    name = "x25m"
    with SimulatedDrive.open(f"sim:{name}") as drive:
        workload = Characteristics(write_ratio=1.0, queue_depth=32)
        # Two more overwrites change the result by 0.1 %.
        overwritten = drive.capacity_bytes // workload.write_size
        plan = MeasurementPlan(warmup_requests=overwritten, requests=1_000_000)
        (result,) = drive.measure([(0, workload)], plan)
    section.say(
        f"Without a published value: steady 4 KiB random writes on {name} over its full range at "
        f"queue depth 32, after its capacity was written: {result.iops:,.0f} IOPS, write "
        f"amplification {result.extra['write_amplification_ratio']:.1f}."
    )


def sources_of_values() -> Section:
    """Count where the presets' values come from."""
    section = Section(
        "Where the presets' values come from", ".venv/bin/python -m validation sources"
    )
    rows: list[tuple[object, ...]] = []
    totals = Counter[str]()
    for name in preset_names():
        grades = Counter(
            match["grade"]
            for line in preset_text(name).splitlines()
            if (match := _GRADE_OF_VALUE.match(line))
        )
        counts = [grades[grade] for grade in _GRADES]
        rows.append((name, *counts, sum(counts)))
        totals.update(grades)
    counts = [totals[grade] for grade in _GRADES]
    rows.append(("all", *counts, sum(counts)))
    section.tabulate(("preset", *_GRADES, "values"), rows)
    section.say(
        "*paper*: a published paper and its table; *datasheet*: open while writing; *recalled*: "
        "from memory, with no source at hand; *fitted*: chosen to give a figure that the comment "
        "names; *assumed*: a choice. For a preset that starts from another one, only its own "
        "values count."
    )
    return section
