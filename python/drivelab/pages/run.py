"""From a run folder to its report on disk.

Reads ``RUN/run.sqlite`` and ``RUN/model.json``; writes ``RUN/report.html`` and
``RUN/data/*.csv``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.errors import UsageError
from drivelab.outputs import OutputFolder
from drivelab.report.written import write_report
from drivelab.runs.header import run_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from drivelab.drives.measurement import Measurement
    from drivelab.models.exhibits.run_data import RunData
    from drivelab.models.model import PerformanceModel


def build_report(
    run_path: Path,
    measurements: Sequence[Measurement] | None = None,
    *,
    model: PerformanceModel | None = None,
    out: OutputFolder | None = None,
    chromium: str | None = None,
) -> Path:
    """Build the report of a run and write it.

    Parameters
    ----------
    run_path
        A run folder with measurements and models, as made by ``drivelab model``.
    measurements
        The measurements that the models were fitted to, if another process may be adding more; by
        default all measurements of the run.
    model
        The run's models; read from the folder by default.
    out
        Another folder for the report.
    chromium
        Program that also prints the page as PDF; None for no PDF.

    Returns
    -------
    Path
        Path of the page, ``report.html``; a printed ``report.pdf`` is next to it.

    Raises
    ------
    UsageError
        When the folder is not a run, has no models, or its models are of other measurements.
    RunError
        When the report cannot be written or printed.
    """
    from drivelab.pages.campaign import campaign_report

    run = read_run(run_path, measurements, model=model)
    folder = OutputFolder.of_run(run_path, run_of(run.header)) if out is None else out
    return write_report(campaign_report(run), folder, chromium=chromium)["report"]


def read_run(
    run_path: Path,
    measurements: Sequence[Measurement] | None = None,
    *,
    model: PerformanceModel | None = None,
) -> RunData:
    """Read the data of a report; raises `UsageError` as `build_report` does."""
    from drivelab.campaign.header import stored_header
    from drivelab.campaign.stored import stored_measurements
    from drivelab.models.exhibits.run_data import run_data
    from drivelab.models.model import PerformanceModel
    from drivelab.models.of_run import MODEL
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
    if model.evaluation.indices.tolist() != [one.index for one in run.fitted]:
        raise UsageError(
            f"{path} was fitted to other measurements than {run_path} holds: run the "
            "`drivelab model` that started it again"
        )
    return run
