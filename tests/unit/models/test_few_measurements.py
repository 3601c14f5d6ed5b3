"""docs/models.md shows what the benchmark found."""

from __future__ import annotations

import csv
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
COLUMNS = (
    *(("sobol", "boosted", 300), ("sobol", "kriging", 300), ("sobol", "combined", 300)),
    ("adaptive", "combined", 300),
)


def found() -> dict[tuple[str, str, str, int], float]:
    with (DOCS / "images" / "few-measurements.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["drive"], row["design"], row["estimator"], int(row["measurements"])): float(
                row["mean_relative_error"]
            )
            for row in csv.DictReader(file)
        }


def test_errors_of_few_measurements_are_those_of_the_table() -> None:
    errors = found()
    shown = 0
    for line in (DOCS / "models.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        drive = cells[0].strip("`")
        if len(cells) != 6 or not any(name == drive for name, *_ in errors):
            continue
        paper = [errors.get((drive, "paper", each, 12_000)) for each in ("guide", "boosted")]
        known = [error for error in paper if error is not None]
        asked = [min(known) if known else None]
        asked += [errors[drive, *column] for column in COLUMNS]
        assert cells[1:] == ["" if error is None else f"{100 * error:.1f}" for error in asked]
        shown += 1
    assert shown == len({drive for drive, *_ in errors})
