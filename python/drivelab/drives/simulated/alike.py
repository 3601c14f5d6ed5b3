"""Simulated drives that differ in little, each begun in the state of one before.

To bring a drive into its condition takes longer than to measure it briefly. Presets that differ in
times alone begin in the same state, so it is made once::

    first family of a group ──>  kept until another group comes
    its other families      ──>  the last one is kept: a state is as large as the drive's map
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.simulated.drive import SimulatedDrive

if TYPE_CHECKING:
    from collections.abc import Hashable

    from drivelab.drives.presets.source import PresetSource


#: Presets that are tried together, and what those have in common that begin in the same state.
Family = tuple[int, "Hashable"]


class DrivesAlike(ClosedOnExit):
    """Opens drives of presets that differ in little, and keeps two states."""

    def __init__(self) -> None:
        self._kept: dict[Family, SimulatedDrive] = {}

    def open(
        self, name: str, source: PresetSource, *, family: Family, varies: bool = False
    ) -> SimulatedDrive:
        """Open a drive, in the state of an earlier one of its family or in one that is made now.

        Parameters
        ----------
        name, source, varies
            As `SimulatedDrive` takes them.
        family
            Where it belongs.

        Raises
        ------
        UsageError
            When the preset's values are impossible together.
        """
        like = self._kept.get(family)
        drive = SimulatedDrive(name, source, varies=varies, like=like)
        if like is None:
            # Before another is made: each holds the whole drive.
            if any(group != family[0] for group, _ in self._kept):
                self._kept.clear()
            elif len(self._kept) > 1:
                self._kept.popitem()
            drive.prepare()
            self._kept[family] = drive
        return drive

    def close(self) -> None:
        """Let go of the states."""
        self._kept.clear()
