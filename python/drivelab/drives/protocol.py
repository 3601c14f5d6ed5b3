"""What every drive can do, whether it is real, simulated or a formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from drivelab.drives.measurement import Measurement
from drivelab.drives.open_drive import NamedDrive, OpenDrive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.session import DriveSession
from drivelab.workloads.workload import Workload


class DriveLimits(NamedDrive, Protocol):
    """What a drive can be asked for: all that choosing workloads needs."""

    def check(self, workload: Workload) -> None:
        """Raise `CannotAnswerError` or `UsageError` when the drive cannot run `workload`."""
        ...


class Drive(DriveLimits, OpenDrive, Protocol):
    """Any workload on any drive gives a measurement."""

    def measure(
        self, work: Sequence[tuple[int, Workload]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Measure each workload, in order.

        Nothing of the next measurement on a real drive starts before the caller asks for it,
        so that the caller can store one before the next begins.

        Whatever comes first ends a measurement: what the plan says, or where a workload ends by
        itself, as a pass, a trace and a scenario that says when do (see `drivelab.drives.plan`).

        Parameters
        ----------
        work
            Workloads, each with its index in the campaign: the key of its random numbers.
        plan
            How long, and from which seed.

        Raises
        ------
        UsageError
            When neither the plan nor a workload itself ends its measurement.
        RunError
            When the drive, or the tool that asks it, fails.
        """
        ...

    @property
    def file(self) -> dict[str, int | None] | None:
        """Which file it is: it may be recreated for another start; ``None`` for anything else."""
        ...

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Let a file made for the drive stay, for whoever resumes; give its path.

        It is removed when that one is closed. ``None`` where none would be removed; with
        `only_found` also where the file is new.
        """
        ...

    def take_up(self) -> None:
        """Go on with what `leave` let stay: this drive removes the file after all."""
        ...

    def session(self, *, seed: int = 0) -> DriveSession:
        """Begin a session: each step starts where the last one ended. Closing it closes the drive.

        Parameters
        ----------
        seed
            Key of all random numbers, with a step's place.

        Raises
        ------
        CannotAnswerError
            When the drive has no state that a step could leave.
        """
        ...
