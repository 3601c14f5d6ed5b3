"""docs/published.md agrees with the presets: no preset or figure changes without it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from validation.published import figures_of
from validation.published_table import TARGET, table_text

from drivelab._core import preset_names, preset_text
from drivelab.drives.presets.source import read_preset
from drivelab.drives.presets.values import fitted_figures
from drivelab.drives.simulated.published import UNITS, figure_text, percent_text

PAGE = TARGET.read_text(encoding="utf-8")
AGAIN = "write docs/published.md again: .venv/bin/python -m validation published"


def rows(preset: str) -> dict[str, list[str]]:
    """Give the cells behind the preset's name by figure."""
    found = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == preset and (figure := re.match(r"`([\w-]+)`: ", cells[1])):
            found[figure[1]] = cells[1:]
    return found


@pytest.mark.parametrize("name", preset_names())
def test_the_page_shows_every_preset_unchanged(name: str) -> None:
    assert f"| {name} | `{read_preset(name).resolved()[1]}` |" in PAGE, AGAIN
    published = tomllib.loads(preset_text(name)).get("published", {})
    listed = rows(name)
    assert sorted(listed) == sorted(published), AGAIN
    assert (f"\n- `{name}`: " in PAGE) == (not published), AGAIN
    fitted = fitted_figures(preset_text(name))
    for figure, cells in listed.items():
        quantity = next(each for each in UNITS if each in published[figure])
        assert cells[0] == f"`{figure}`: {published[figure]['condition']}", AGAIN
        assert cells[1] == figure_text(quantity, published[figure][quantity]), AGAIN
        assert cells[-1] == ("fitting" if figure in fitted else "test"), AGAIN
        assert "**missed**" not in cells[-2]


@pytest.mark.parametrize("name", ["samsung-slc-32gb"])
def test_the_printed_figures_are_those_that_are_simulated(name: str) -> None:
    """One that takes no second; `make validate` measures all."""
    written = table_text(figures_of(name)).splitlines()
    lines = [line for line in written if line.startswith(f"| {name} | `")]
    assert len(lines) == 3
    assert [line for line in lines if line not in PAGE.splitlines()] == [], AGAIN


def test_what_rounds_to_nothing_has_no_minus() -> None:
    assert percent_text(-0.0004) == "+0.0 %"
    assert percent_text(-0.0006) == "-0.1 %"


def test_the_page_lies_in_the_docs() -> None:
    assert Path(__file__).parents[4] / "docs" / "published.md" == TARGET
