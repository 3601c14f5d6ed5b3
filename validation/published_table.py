"""docs/published.md: for every preset its published and its simulated figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab._core import preset_names
from drivelab.drives.presets.source import read_preset
from drivelab.drives.simulated.published import figure_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.published import Figure

TARGET: Final = Path(__file__).parent.parent / "docs" / "published.md"
_HEAD: Final = """# Published and simulated figures of every preset

Written by `.venv/bin/python -m validation published` (and `make validate`); do not edit. A test
compares the presets' hashes and published values with this page, so none changes without it.

*test*: no value of the preset was chosen by this figure. *fitting*: values were fitted to it, so
agreement only proves that they fit together. The source of a published figure is `paper`, or
`recalled`: recalled for a class of drives, with no source at hand. All figures are simulated
without variability, under the condition in the second column. `drivelab drives show NAME`
measures the same and prints every value with its source.
"""
_COLUMNS: Final = (
    "preset",
    "figure and condition",
    "published",
    "source",
    "simulated",
    "difference",
    "within",
    "used for",
)


def table_text(figures: Sequence[Figure]) -> str:
    """Write the page."""
    with_figures = {figure.preset for figure in figures}
    without = [name for name in preset_names() if name not in with_figures]
    lines = [
        _HEAD,
        "| " + " | ".join(_COLUMNS) + " |",
        "|---|---|---:|---|---:|---:|---:|---|",
        *map(_line, figures),
        "",
        "Nothing is published of these, or nothing that a measurement could be held against:",
        "",
        *(f"- `{name}`: {_summary(name)}" for name in without),
        "",
        "| preset | hash |",
        "|---|---|",
        *(f"| {name} | `{read_preset(name).resolved()[1]}` |" for name in preset_names()),
    ]
    return "\n".join(lines) + "\n"


def _line(figure: Figure) -> str:
    compared = figure.compared
    cells = (
        figure.preset,
        f"`{figure.name}`: {figure.condition}",
        figure_text(compared.quantity, compared.published),
        figure.source.partition(":")[0],
        figure_text(compared.quantity, compared.simulated),
        percent_text(compared.difference_ratio),
        f"{100 * compared.tolerance_ratio:.3g} %" + ("" if compared.holds else ", **missed**"),
        "fitting" if figure.fitted else "test",
    )
    return "| " + " | ".join(cells) + " |"


def _summary(name: str) -> str:
    return str(read_preset(name).resolved()[0]["summary"])
