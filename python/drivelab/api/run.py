"""A run: many workloads measured on a drive and stored in a folder, as by `drivelab model`."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab.api.drive import Drive
from drivelab.api.frames import workloads_of
from drivelab.api.html_tables import rows_html
from drivelab.api.measurements import Measurements
from drivelab.api.path_text import path_text
from drivelab.campaign.header import stored_header
from drivelab.campaign.stored import stored_measurements
from drivelab.core_panic import panic_errors
from drivelab.drives.asked import plan_for, refuse_without_effect, usual_writes
from drivelab.drives.naming import kind_of, open_drive
from drivelab.errors import UsageError
from drivelab.models.goal import Goal
from drivelab.store import RunStore, is_run
from drivelab.workloads.adaptive import AdaptiveDesign
from drivelab.workloads.design import DEFAULT_DESIGN, Design, parse_design
from drivelab.workloads.given import is_whole, shown
from drivelab.workloads.listed import ListedDesign
from drivelab.workloads.parts import Parts
from drivelab.workloads.run_parts import default_check

if TYPE_CHECKING:
    from drivelab.api.frames import Workloads
    from drivelab.drives import protocol
    from drivelab.store import Failure

_LISTED: Final = "workloads of a list"


def run(
    drive: Drive | str,
    design: str | Workloads = DEFAULT_DESIGN,
    *,
    out: str | os.PathLike[str] | None = None,
    measurements: int | None = None,
    error_ratio: float | None = None,
    budget_seconds: float | None = None,
    seed: int = 0,
    check: int | None = None,
    sweeps: bool = True,
    on_failure: Literal["stop", "continue"] | None = None,
    seconds: float | None = None,
    requests: int | None = None,
    half_width_ratio: float | None = None,
    max_requests: int | None = None,
    warmup_seconds: float | None = None,
    warmup_requests: int | None = None,
    workers: int | None = None,
    content: str | None = None,
    writes: str | None = None,
    progress: bool = True,
) -> Run:
    """Measure the workloads of a design on a drive, and store everything.

    Parameters
    ----------
    drive
        A drive, or its name, if `drivelab.drive` opens it without options.
    design
        The workloads: ``"adaptive"`` (chosen during the run), ``"huang2011:300"``,
        ``"sobol:1000"``, ``"huang2011-sweeps"``, a CSV file, or workloads as in `Drive.measure`.
    out
        Folder of the run. A stopped run resumes if it is called again with the same arguments; a
        complete one is not measured again. Without `out`, the run is in a temporary folder that is
        removed with the object; `Run.save` keeps it.
    measurements, error_ratio, budget_seconds
        When the design ``adaptive`` ends: after this many measurements for models (default 300; if
        another limit is given, at most 1,200), at this expected mean relative error on workloads
        that were not measured (such as 0.05), or after this much of the drive's time (simulated
        time for a simulated drive), whichever comes first. An unfinished run in `out` resumes.
    seed
        Key of all random numbers.
    check
        Number of off-grid workloads, the same for every run, on which models are checked. By
        default 1000, for real drives none.
    sweeps
        Whether to also measure the workloads of the report's curves.
    on_failure
        For real drives: whether a failed measurement stops the run (the default) or the run
        continues with the others. Failed measurements are tried again next time.
    seconds, requests, half_width_ratio, max_requests
    warmup_seconds, warmup_requests, workers, content
        Length of each measurement, as in `Drive.measure`.
    writes
        State in which writes find the drive. ``"sustained"``, the default for simulated drives: the
        drive after it was written in the same way until more writing changes nothing. ``"burst"``,
        the default for other drives: the drive as it is. For a real drive with a budget the default
        is ``"sustained"`` if settling the drive takes at most a fifth of the budget.
    progress
        Whether to show progress and the estimated time left on standard error.

    Returns
    -------
    Run
        Complete except for its `Run.failures`.

    Raises
    ------
    DrivelabError
        When the drive can run too few of the workloads, `out` holds another run, or the drive
        fails. Earlier measurements are kept, and the error says where.

    Examples
    --------
    >>> import drivelab as dl
    >>> quick = {"check": 0, "sweeps": False, "requests": 200, "progress": False}
    >>> run = dl.run("sim:x25m", "sobol:25", writes="burst", **quick)
    >>> run
    <Run of sim:x25m, simulated: 25 of 25 workloads of sobol:25>
    >>> run.measurements[0].requests
    200
    """
    from drivelab.models.model_campaign import run_model_campaign

    name = drive.name if isinstance(drive, Drive) else path_text(drive, "a drive", "sim:x25m")
    folder = None if out is None else Path(path_text(out, "the folder of a run", "runs/x25m"))
    if check is not None and not (is_whole(check) and check >= 0):
        raise UsageError(f"check is {shown(check)}; allowed: a whole number from 0 on")
    asked = {
        "seconds": seconds,
        "requests": requests,
        "half_width_ratio": half_width_ratio,
        "max_requests": max_requests,
        "warmup_seconds": warmup_seconds,
        "warmup_requests": warmup_requests,
        "workers": workers,
        "content": content,
        "writes": usual_writes(name) if writes is None else writes,
    }
    refuse_without_effect(name, asked | {"on_failure": on_failure})
    plan = plan_for(name, seed=seed, asked=asked)
    chosen = _design(design)
    goal = Goal(measurements, error_ratio, budget_seconds)
    is_adaptive = isinstance(chosen, AdaptiveDesign)
    path = Path(tempfile.mkdtemp(prefix="drivelab-")) / "run" if folder is None else folder
    try:
        with panic_errors():
            run_model_campaign(
                name,
                lambda: _opened(drive),
                plan,
                path,
                design=chosen,
                goal=goal if is_adaptive or goal != Goal() else None,
                check=default_check(kind_of(name)) if check is None else check,
                sweeps=sweeps,
                may_settle=writes is None and kind_of(name) == "real",
                on_failure=on_failure or "stop",
                command=f"drivelab.run(..., out={str(path)!r})",
                progress=progress,
            ).close()
    except BaseException:
        # Earlier measurements stay where the error says; an empty folder is removed.
        if out is None and not is_run(path):
            shutil.rmtree(path.parent, ignore_errors=True)
        raise
    made = Run(path)
    if out is None:
        weakref.finalize(made, shutil.rmtree, path.parent, ignore_errors=True)
    return made


class Run:
    """The measurements of one drive, in a folder; made by `drivelab.run`.

    Parameters
    ----------
    path
        Folder of a run that `drivelab.run` or `drivelab model` made.

    Attributes
    ----------
    path
        Folder of the run.
    header
        Identity of the run: ``drive``, ``design``, ``plan``, ``origin``.

    Raises
    ------
    DrivelabError
        When there is no run, or it is damaged or of another version of Drivelab.

    Examples
    --------
    >>> import drivelab as dl
    >>> dl.Run("runs/none")
    Traceback (most recent call last):
    ...
    drivelab.errors.UsageError: runs/none does not exist; a run is a folder made by ...
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path_text(path, "the folder of a run", "runs/x25m"))
        with RunStore.open(self.path) as store:
            self.header: dict[str, Any] = stored_header(store)

    @property
    def drive(self) -> str:
        """Name of the drive."""
        return str(self.header["drive"]["name"])

    @property
    def drive_kind(self) -> str:
        """``real``, ``simulated`` or ``closed_form``."""
        return str(self.header["drive"]["kind"])

    @cached_property
    def measurements(self) -> Measurements:
        """All measurements, in the order of the design."""
        with RunStore.open(self.path) as store:
            found = stored_measurements(store)
        parts = Parts.from_json(self.header["design"]["parts"])
        return Measurements(found, self.drive, self.drive_kind, parts)

    @property
    def failures(self) -> list[Failure]:
        """Failed measurements of a real drive: ``index``, ``message``, ``workload``."""
        with RunStore.open(self.path) as store:
            return store.failures()

    def report(self) -> Path:
        """Fit the models, and write models, table and report into the folder.

        Returns
        -------
        Path
            Path of the page, ``report.html``; next to it ``model.json`` and ``measurements.csv``.

        Raises
        ------
        DrivelabError
            When the run holds too few workloads, or the folder cannot be written.
        """
        from drivelab.pages.fitted import fit_and_report

        with RunStore.open(self.path) as store:
            return fit_and_report(store).report_path

    def save(self, path: str | os.PathLike[str]) -> Run:
        """Copy the run's folder to `path`; return the run in the new folder.

        Raises
        ------
        DrivelabError
            When `path` already exists, or cannot be written.
        """
        try:
            shutil.copytree(self.path, path)
        except FileExistsError as error:
            raise UsageError(f"{path} already exists; name a new folder") from error
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error}; name another folder") from error
        return Run(path)

    def __repr__(self) -> str:
        from drivelab.exhibits.quantities import PROVENANCE

        adjective = PROVENANCE[self.drive_kind].adjective
        return f"<Run of {self.drive}, {adjective}: {self._measured()}>"

    def _repr_html_(self) -> str:
        from drivelab.exhibits.quantities import PROVENANCE

        failures = self.failures
        rows = [
            (PROVENANCE[self.drive_kind].adjective, self.drive),
            ("measured", self._measured()),
            ("population", str(self.header["design"]["population"])),
            ("folder", str(self.path)),
        ]
        if failures:
            rows.append(("failed", f"{len(failures)}, the first: {failures[0].message}"))
        return rows_html(rows) + self.measurements._repr_html_()

    def _measured(self) -> str:
        design = self.header["design"]
        measured, planned = len(self.measurements), design["workloads"]
        return f"{measured:,} of {planned:,} workloads of {design['name']}"


def _opened(drive: Drive | str) -> AbstractContextManager[protocol.Drive]:
    """Open a drive that is given by name; leave a given open drive to its owner."""
    return nullcontext(drive.opened) if isinstance(drive, Drive) else open_drive(drive)


def _design(design: str | Workloads) -> Design:
    if isinstance(design, str):
        return parse_design(design)
    listed = workloads_of(design)
    for workload in listed:
        workload.validate()
    return ListedDesign(_LISTED, listed, f"the {len(listed)} workloads given", calibrates=True)
