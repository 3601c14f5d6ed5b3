"""What every drive can do: real, simulated or a formula."""

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
    """What a drive can be asked for: all that is needed to choose workloads."""

    def check(self, workload: Workload) -> None:
        """Raise `CannotAnswerError` or `UsageError` if the drive cannot run `workload`."""
        ...


class Drive(DriveLimits, OpenDrive, Protocol):
    """Any workload on any drive gives a measurement."""

    def measure(
        self, work: Sequence[tuple[int, Workload]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Measure each workload, in order.

        A real drive does not start the next measurement before the caller asks for it, so that the
        caller can store one before the next begins.

        Whatever comes first ends a measurement: what the plan says, or the workload's own end, such
        as that of a pass, a trace or a scenario with a duration (see `drivelab.drives.plan`).

        Parameters
        ----------
        work
            Workloads, each with its index in the campaign: the key of its random numbers.
        plan
            How long, and from which seed.

        Raises
        ------
        UsageError
            If neither the plan nor the workload ends its measurement.
        RunError
            If the drive, or the tool that measures it, fails.
        """
        ...

    @property
    def file(self) -> dict[str, int | None] | None:
        """Return which file it is; it may be recreated for another start. ``None`` for others."""
        ...

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Keep a file made for the drive, so that a resumed run finds it; return its path.

        The resumed run removes it at its end. ``None`` if no file would be removed; with
        `only_found` also if the file is new.
        """
        ...

    def take_up(self) -> None:
        """Undo `leave`: this drive removes the file after all."""
        ...

    def session(self, *, seed: int = 0) -> DriveSession:
        """Begin a session: each step starts where the last one ended. Closing it closes the drive.

        Parameters
        ----------
        seed
            Key of all random numbers, together with a step's position.

        Raises
        ------
        CannotAnswerError
            If the drive has no state that a step could change.
        """
        ...
