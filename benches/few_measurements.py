"""Errors of models by the number of measurements, design and estimator, on ten drives.

The drives are simulated, and writes are bursts. Every model predicts the same 400 workloads, which
are spread over the whole ranges and were not used for its fit. The result is the mean relative
error of the mean latency, of the combination and of each of its members:

    adaptive    workloads chosen during the run: the default of `drivelab model`
    sobol       a space-filling design
    huang2011   values of the grid of Huang et al. 2011
    paper       12,000 of that grid and trees with linear leaves, one or boosted, whichever is
                better: a line to compare with

The table and the picture in docs/images have eight of the drives, without `intel-s3500` and
`mlc-b`.

It takes hours; `--drives` and `--most` limit it to a part. Each row is saved when it is found, and
the same command resumes. `--draw` draws the existing rows.

    .venv/bin/python benches/few_measurements.py [--drives sim:x25m,...] [--most N] [--draw]
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab._core import available_cores
from drivelab.campaign.campaign import accepted_by
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.in_order import measured_in_order
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.exhibits import Axis, Line, LineFigure, Multiples
from drivelab.models.answers import surface_targets
from drivelab.models.combination import MEMBERS
from drivelab.models.evaluate import fold_numbers
from drivelab.models.features import FEATURE_SETS
from drivelab.models.goal import Goal
from drivelab.models.measured import Rows
from drivelab.models.mixes import between_ratios
from drivelab.models.model_campaign import run_model_campaign
from drivelab.models.predictors import ESTIMATORS
from drivelab.models.surfaces import Given, SurfaceKey, fit_surfaces
from drivelab.one_thread import one_thread
from drivelab.report.drawing.grid import grid_document
from drivelab.workloads.design import parse_design
from drivelab.workloads.parts import FITTED, Parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.protocol import Drive

# Four SSDs of old and of today, two disks, two arrays, and two that models find hard.
DRIVES: Final = (
    *("sim:x25m", "sim:samsung-840", "sim:enterprise-tlc-pcie4", "sim:consumer-qlc"),
    *("sim:spinpoint-m7", "sim:sas-15k", "sim:array-x25m", "sim:suno-st9300653ss"),
    *("sim:intel-s3500", "sim:mlc-b"),
)
SIZES: Final = (50, 100, 200, 300, 600, 1200)
# The estimators whose errors are saved, by design. The combination is fitted from its members, so
# their errors cost nothing. A size that has a row is not measured again.
ALL: Final = (*MEMBERS, "combined")
SAVED: Final = {"adaptive": ALL, "sobol": ALL, "huang2011": ALL, "paper": ("guide", "boosted")}
PAPER: Final = 12_000
ASKED: Final = 400
SEED: Final = 1
# Far from the seeds of designs.
ASKED_SEED: Final = 20_110
COLUMNS: Final = ("drive", "design", "estimator", "measurements", "mean_relative_error")
IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"
TABLE: Final = IMAGES / "few-measurements.csv"
PICTURE: Final = IMAGES / "few-measurements.svg"

Row = tuple[str, str, str, int, float]


def main() -> None:
    """Find the missing rows of the table, or draw the existing ones."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--drives", default=",".join(DRIVES), help="separated by commas")
    options.add_argument("--most", type=int, default=max(SIZES), help="measurements at most")
    options.add_argument("--table", type=Path, default=TABLE, help="where rows are kept")
    options.add_argument("--draw", action="store_true", help="draw the table, find nothing")
    asked = options.parse_args()
    if asked.draw:
        PICTURE.write_text(drawing(kept(asked.table)), encoding="utf-8")
        return
    for name in asked.drives.split(","):
        for design in SAVED:
            found = kept(asked.table)
            sizes = [size for size in SIZES if size <= asked.most]
            sizes = [PAPER] if design == "paper" else sizes
            have = {size for drive, of, _, size, _ in found if (drive, of) == (name, design)}
            if sizes := [size for size in sizes if size not in have]:
                with open_drive(name) as drive:
                    keep(asked.table, rows_of(drive, design, sizes))


def rows_of(drive: Drive, design: str, sizes: Sequence[int]) -> list[Row]:
    """Measure a drive by a design, and find the errors of models of this many measurements."""
    check = Rows.of(spread(drive))
    truth = surface_targets(check.table, check.observed)
    measured = chosen(drive, design, max(sizes))
    found: list[Row] = []
    for size in sizes:
        rows = Rows.of(measured[:size])
        for estimator, answers in answered(rows, check, design).items():
            error = float(np.abs(np.expm1(answers - truth)).mean())
            found.append((drive.name, design, estimator, size, error))
            print(*found[-1][:-1], f"{100 * error:.2f} %", flush=True)
    return found


def answered(rows: Rows, check: Rows, design: str) -> dict[str, np.ndarray]:
    """Return each estimator's predictions for the check's workloads."""
    targets = surface_targets(rows.table, rows.observed)
    if design == "paper":
        features = FEATURE_SETS["extended"]
        trees = {
            name: ESTIMATORS[name].fit(features, rows.table, targets, rows.noise, SEED)
            for name in SAVED[design]
        }
        return {
            name: between_ratios(tree, rows.table).predict(check.table)
            for name, tree in trees.items()
        }
    given = Given(rows.table, targets, rows.noise, fold_numbers(rows.keys, SEED), SEED)
    keys = [SurfaceKey("extended", name) for name in ALL]
    with one_thread(), ThreadPoolExecutor(available_cores()) as pool:
        fitted = fit_surfaces(pool, keys, FEATURE_SETS, given, finish=between_ratios).whole
    return {
        name: fitted[SurfaceKey("extended", name)].predict(check.table) for name in SAVED[design]
    }


def chosen(drive: Drive, design: str, count: int) -> list[Measurement]:
    """Measure this many workloads of a design, in its order."""
    plan = MeasurementPlan.of_kind(drive.kind, seed=SEED)
    if design == "adaptive":
        with tempfile.TemporaryDirectory() as folder:
            store = run_model_campaign(
                drive.name,
                lambda: nullcontext(drive),
                plan,
                Path(folder) / "run",
                design=parse_design("adaptive"),
                goal=Goal(count),
                check=0,
                sweeps=False,
                progress=False,
            )
            with store:
                parts = Parts.from_json(store.header["design"]["parts"])
                measured = stored_measurements(store)
                # Probes describe the drive and are not fitted to.
                return [one for one in measured if parts.part_of(one.index) in FITTED]
    named = "huang2011" if design == "paper" else design
    selection = parse_design(f"{named}:{count}").select(SEED, accepted_by(drive), drive.block_bytes)
    return list(measured_in_order(drive, selection.workloads, plan))


def spread(drive: Drive) -> list[Measurement]:
    """Measure the workloads that every model predicts."""
    design = parse_design(f"sobol:{ASKED}")
    selection = design.select(ASKED_SEED, accepted_by(drive), drive.block_bytes)
    plan = MeasurementPlan.of_kind(drive.kind, seed=ASKED_SEED)
    return list(measured_in_order(drive, selection.workloads, plan))


def kept(path: Path) -> list[Row]:
    """Read the table."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [(row[0], row[1], row[2], int(row[3]), float(row[4])) for row in rows]


def keep(path: Path, rows: Sequence[Row]) -> None:
    """Add rows to the table."""
    every = sorted({*kept(path), *((*row[:-1], float(f"{row[-1]:.5f}")) for row in rows)})
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *every])


def drawing(rows: Sequence[Row]) -> str:
    """Draw error against measurements, one figure per drive."""
    labels = {
        ("adaptive", "combined"): "adaptive",
        ("sobol", "combined"): "Sobol",
        ("sobol", "kriging"): "Sobol, kriging",
        ("sobol", "boosted"): "Sobol, trees",
        ("huang2011", "boosted"): "grid, trees",
    }
    drives = [drive for drive in DRIVES if any(row[0] == drive for row in rows)]
    figures = []
    for drive in drives:
        of_drive = [row for row in rows if row[0] == drive]
        lines = []
        for (design, estimator), label in labels.items():
            points = sorted(
                (count, error)
                for _, of, by, count, error in of_drive
                if (of, by) == (design, estimator)
            )
            if points:
                counts, errors = zip(*points, strict=True)
                lines.append(Line(label, tuple(map(float, counts)), errors))
        if paper := [error for _, of, _, _, error in of_drive if of == "paper"]:
            ends = float(min(SIZES)), float(max(SIZES))
            lines.append(Line("12,000 runs", ends, (min(paper),) * 2))
        figures.append(
            LineFigure(
                drive,
                drive,
                Axis("measurements", "log2"),
                Axis("mean relative error of latency", "log10", quantity="share"),
                tuple(lines),
            )
        )
    grid = Multiples("few-measurements", "Error by measurements", tuple(figures), columns=2)
    note = (
        f"grid: that of Huang et al. 2011, also of the {PAPER:,} runs. Where a line names no "
        "estimator, it is the combination of all."
    )
    return grid_document([grid], "How far off models are by the number of measurements", note)


if __name__ == "__main__":
    main()
