"""From a run folder to its report on disk.

Needs ``RUN/run.sqlite`` and ``RUN/model.json``; leaves ``RUN/report.html`` and
``RUN/data/*.csv``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.errors import RunError, UsageError
from drivelab.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from drivelab.drives.measurement import Measurement
    from drivelab.report.html import Report
    from drivelab.report.inputs import RunData

MODEL: Final = "model.json"


def build_report(run_path: Path, measurements: Sequence[Measurement] | None = None) -> Path:
    """Build the report of a run and write it into the run's folder.

    Parameters
    ----------
    run_path
        A run folder with measurements and models, as ``drivelab model`` leaves it.
    measurements
        Those that the run held when the models were fitted, where another process may be adding
        to it; otherwise all that it holds.

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

    return write_report(render(read_run(run_path, measurements)), run_path)


def read_run(run_path: Path, measurements: Sequence[Measurement] | None = None) -> RunData:
    """Read what a report is computed from; raises `UsageError` as `build_report` does."""
    from drivelab.blackbox.model import PerformanceModel
    from drivelab.measure.stored import stored_measurements
    from drivelab.report.inputs import RunData
    from drivelab.store import RunStore
    from drivelab.workloads.parts import Parts

    with RunStore.open(run_path) as store:
        header = store.header
        if measurements is None:
            measurements = stored_measurements(store)
    path = run_path / MODEL
    if not path.exists():
        raise UsageError(
            f"{run_path} has no {MODEL} yet: run the `drivelab model` that started it again, "
            "and it goes on where it stopped"
        )
    evaluation = PerformanceModel.load(path).evaluation
    parts = Parts.from_json(header["design"]["parts"])
    trained = [one for one in measurements if parts.part_of(one.index) == "training"]
    if evaluation.indices.tolist() != [measurement.index for measurement in trained]:
        raise UsageError(
            f"{path} was fitted to other measurements than {run_path} holds: run the "
            "`drivelab model` that started it again"
        )
    return RunData(header, trained, evaluation)


def write_report(report: Report, run_path: Path) -> Path:
    """Write a report and its tables into a run folder, each file whole or not at all.

    Parameters
    ----------
    report
        What to write.
    run_path
        The run folder: ``report.html`` and ``data/*.csv`` are replaced.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    RunError
        When the disk is full or the folder cannot be written. An older report stays.
    """
    page = run_path / "report.html"
    try:
        data = run_path / "data"
        data.mkdir(exist_ok=True)
        for table in report.tables:
            write_whole(data / f"{table.name}.csv", table.csv())
        write_whole(page, report.html)
    except OSError as error:
        raise RunError(
            f"cannot write the report into {run_path}: {error.strerror or error}; "
            "make room or check the permissions, then run `drivelab report` on it"
        ) from error
    return page
