"""From a run's measurements to the files in its folder: models, table and report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.campaign.kind import campaign_rows
from drivelab.models import of_run
from drivelab.models.probed import Probed, probes_of
from drivelab.outputs import OutputFolder
from drivelab.pages.run import build_report
from drivelab.report.saved import refuse_folder
from drivelab.runs.export import EXPORT, KIND, write_measurements
from drivelab.runs.header import run_of
from drivelab.workloads.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.models.model import PerformanceModel
    from drivelab.store import RunStore


@dataclass(frozen=True)
class Fitted:
    """Results of `fit_and_report`.

    Attributes
    ----------
    half_width_ratio
        Required half-width over the mean latency; None if none was required.
    half_width_reached
        Number of measurements that reached it.
    probed
        What probes found about the drive's structure; None without probes.
    """

    model: PerformanceModel
    model_path: Path
    report_path: Path
    measurements_path: Path
    drive_name: str
    drive_kind: str
    half_width_ratio: float | None
    half_width_reached: int | None
    probed: Probed | None


def check_run_files(run: Path, header: Mapping[str, Any], *, force: bool = False) -> None:
    """Refuse a run with a table, model or report that somebody changed, before the work begins.

    Raises
    ------
    UsageError
        For the first file that may not be replaced.
    """
    folder = OutputFolder.of_run(run, run_of(header), force=force)
    refuse_folder(folder)
    folder.check({EXPORT: KIND, of_run.MODEL: "model"})


def fit_and_report(
    store: RunStore, out: OutputFolder | None = None, *, chromium: str | None = None
) -> Fitted:
    """Fit every model to a run, and write models, table and report into its folder.

    Parameters
    ----------
    store
        The run.
    out
        Another folder for the report.
    chromium
        Program that also prints the report as PDF; None for no PDF.

    Raises
    ------
    UsageError
        When the run holds too few workloads.
    RunError
        When the disk is full or the folder cannot be written.
    """
    force = out is not None and out.force
    check_run_files(store.path, store.header, force=force)
    model, measurements = of_run.fit(store)
    drive = store.header["drive"]
    rows = campaign_rows(measurements, Parts.from_json(store.header["design"]["parts"]))
    asked = store.header["plan"].get("half_width_ratio")
    reached = sum(one.stopped_by == "half_width" for one in measurements)
    model_path = store.path / of_run.MODEL
    model.save(model_path)
    return Fitted(
        model=model,
        model_path=model_path,
        report_path=build_report(store.path, measurements, model=model, out=out, chromium=chromium),
        measurements_path=write_measurements(rows, store.path, store.header, force=force),
        drive_name=drive["name"],
        drive_kind=drive["kind"],
        half_width_ratio=asked,
        half_width_reached=None if asked is None else reached,
        probed=probes_of(
            measurements,
            Parts.from_json(store.header["design"]["parts"]),
            drive.get("capacity_bytes"),
        ),
    )
