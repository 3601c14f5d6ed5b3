"""From a run folder to its report on disk.

Needs ``RUN/run.sqlite`` and ``RUN/model.json``; leaves ``RUN/report.html`` and
``RUN/data/*.csv``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.errors import RunError, UsageError
from drivelab.report.saved import PAGE, begin_tables
from drivelab.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from drivelab.blackbox.model import PerformanceModel
    from drivelab.drives.measurement import Measurement
    from drivelab.report.inputs import RunData
    from drivelab.report.page import Report

MODEL: Final = "model.json"


def build_report(
    run_path: Path,
    measurements: Sequence[Measurement] | None = None,
    *,
    model: PerformanceModel | None = None,
    out: Path | None = None,
) -> Path:
    """Build the report of a run and write it.

    Parameters
    ----------
    run_path
        A run folder with measurements and models, as ``drivelab model`` leaves it.
    measurements
        Those that the run held when the models were fitted, where another process may be adding
        to it; otherwise all that it holds.
    model
        The run's models; read from the folder unless given.
    out
        Another folder to write it into.

    Returns
    -------
    Path
        The page, ``report.html``.

    Raises
    ------
    UsageError
        When the folder is no run, has no models, or its models are of other measurements.
    RunError
        When the report cannot be written.
    """
    from drivelab.report.html import render

    run = read_run(run_path, measurements, model=model)
    return write_report(render(run), run_path if out is None else out)


def read_run(
    run_path: Path,
    measurements: Sequence[Measurement] | None = None,
    *,
    model: PerformanceModel | None = None,
) -> RunData:
    """Read what a report is computed from; raises `UsageError` as `build_report` does."""
    from drivelab.blackbox.model import PerformanceModel
    from drivelab.measure.header import stored_header
    from drivelab.measure.stored import stored_measurements
    from drivelab.report.inputs import run_data
    from drivelab.store import RunStore

    with RunStore.open(run_path) as store:
        header = stored_header(store)
        if measurements is None:
            measurements = stored_measurements(store)
        failures, starts = store.failures(), store.starts()
    path = run_path / MODEL
    if model is None:
        if not path.exists():
            raise UsageError(
                f"{run_path} has no {MODEL} yet: run the `drivelab model` that started it again, "
                "and it goes on where it stopped"
            )
        model = PerformanceModel.load(path)
    run = run_data(header, measurements, model, failures, starts)
    if model.evaluation.indices.tolist() != [one.index for one in run.training]:
        raise UsageError(
            f"{path} was fitted to other measurements than {run_path} holds: run the "
            "`drivelab model` that started it again"
        )
    return run


def write_report(report: Report, run_path: Path) -> Path:
    """Write a report and its tables into a run folder, each file whole or not at all.

    Parameters
    ----------
    report
        What to write.
    run_path
        The run folder, or another, made when it does not exist: ``report.html`` and
        ``data/*.csv`` are replaced.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    RunError
        When the disk is full or the folder cannot be written. An older report stays.
    """
    page = run_path / PAGE
    try:
        run_path.mkdir(parents=True, exist_ok=True)
        data = begin_tables(run_path, (f"{table.name}.csv" for table in report.tables))
        for table in report.tables:
            write_whole(data / f"{table.name}.csv", table.csv())
        write_whole(page, report.html)
    except OSError as error:
        raise RunError(
            f"cannot write {_named(error) or run_path}: {error.strerror or error}; "
            "make room or check the permissions, then run `drivelab report` on it"
        ) from error
    return page


def _named(error: OSError) -> str | None:
    """Give the file that an error is about, which of a draft is the one that it was to become."""
    name = error.filename2 or error.filename
    return None if name is None else str(name)
