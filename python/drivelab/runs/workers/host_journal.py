"""What a worker measured on a real drive, kept on the drive's own machine before it is said.

The run that asks keeps every answer too. Where the connection, the worker or the run is lost in
between, the worker that comes next answers from here instead of measuring again.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.errors import RunError, UsageError
from drivelab.runs.header import drive_header, this_start
from drivelab.runs.same_run import flattened
from drivelab.store import RunStore

if TYPE_CHECKING:
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.real.fio.drive import FioDrive
    from drivelab.workloads.workload import Workload

#: The header's ``kind``.
JOURNAL_COMMAND: Final = "worker"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
_MOST_DIFFERENCES: Final = 3


def usual_folder() -> Path:
    """Return this user's folder: ``$XDG_STATE_HOME/drivelab/runs`` (default ``~/.local/state``)."""
    named = os.environ.get("XDG_STATE_HOME", "")
    base = Path(named) if Path(named).is_absolute() else Path("~/.local/state").expanduser()
    return base / "drivelab" / "runs"


class HostJournal(ClosedOnExit):
    """The journal of one drive for one run, held by this process.

    Parameters
    ----------
    name
        Of its folder.
    drive
        The open drive.
    plan
        How long each measurement is.

    Raises
    ------
    UsageError
        When it is of another drive or plan.
    RunError
        When another process holds it, or it cannot be written.
    """

    def __init__(self, name: str, drive: FioDrive, plan: MeasurementPlan) -> None:
        if _NAME.fullmatch(name) is None:
            raise RunError(f"{name!r} names no journal")
        start = this_start(None)
        header: dict[str, Any] = {
            "kind": JOURNAL_COMMAND,
            "drive": {**drive_header(drive), "file": drive.file},
            "plan": plan.to_json(),
            "origin": start,
        }
        path = usual_folder() / name
        self._store = RunStore.open_to_append(path, header, durable=True)
        try:
            self._refuse_other(header)
            self._kept = {each["index"]: each for each in self._store.measurements()}
            self._store.record_start(start)
        except BaseException:
            self._store.close()
            raise

    def answer(self, index: int, workload: Workload) -> Measurement | None:
        """Return what was measured at this index before; ``None`` where nothing was."""
        if index not in self._kept:
            return None
        found = Measurement.from_json(self._kept[index])
        if found.workload != workload:
            raise UsageError(f"{self._store.path} holds another workload as measurement {index}")
        return found

    def keep(self, measurement: Measurement) -> None:
        """Keep a measurement; it is on the medium when this returns."""
        self._store.append(measurement.to_json(), measurement.index)

    def keep_failure(self, index: int, reason: RunError, workload: Workload) -> None:
        """Keep that a measurement failed, and why."""
        self._store.add_failure(index, str(reason), workload.to_json())

    def close(self) -> None:
        """Give it up."""
        self._store.close()

    def _refuse_other(self, header: dict[str, Any]) -> None:
        before = self._store.header
        if before.get("plan") != header["plan"]:
            raise UsageError(f"{self._store.path} is of another plan")
        unlike = drive_differences(before.get("drive"), header["drive"])
        if unlike:
            raise UsageError(
                f"{header['drive']['name']} is not the drive that this run began with ({unlike}): "
                "bring that one back, or measure this one into another --out"
            )


def drive_differences(before: Any, now: Any) -> str:
    """Say in what two descriptions of a drive differ; nothing where it is the same one."""
    one, other = dict(flattened(before)), dict(flattened(now))
    differing = [key for key in sorted({*one, *other}) if one.get(key) != other.get(key)]
    return ", ".join(
        f"{_words(key)} {one.get(key)} before, {other.get(key)} now"
        for key in differing[:_MOST_DIFFERENCES]
    )


def _words(key: str) -> str:
    return key.removeprefix("identity.").replace(".", " ").replace("_", " ")
