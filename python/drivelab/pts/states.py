"""States of a simulated drive next to the journal, so that a stopped test resumes.

::

        RUN/states/000057.state          after 57 steps; only the last is kept

A state never changes a result: without it the steps before are repeated. States that every test of
a drive begins from are shared by all runs: `drivelab.pts.shared_states`.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from drivelab.errors import RunError
from drivelab.pts.state_file import read_state, write_state
from drivelab.store import check_inside

FOLDER: Final = "states"
#: Shortest time between two saved states, and the largest share of the time for saving.
_LEAST_SECONDS: Final = 30.0
_MOST_SHARE: Final = 0.05


@dataclass
class States:
    """The state files of one run.

    Attributes
    ----------
    run
        The run's folder.
    """

    run: Path
    _saved_at: float = field(default_factory=time.monotonic)
    _cost_seconds: float = 0.0

    def is_due(self) -> bool:
        """Return whether enough time has passed to save a state."""
        wait = max(_LEAST_SECONDS, self._cost_seconds / _MOST_SHARE)
        return time.monotonic() - self._saved_at >= wait

    def save(self, position: int, state: bytes) -> None:
        """Save the state after `position` steps, and remove any other."""
        began = time.monotonic()
        path = self.run / FOLDER / f"{position:06}.state"
        check_inside(self.run, path)
        try:
            write_state(path, {"position": position}, state)
        except OSError as error:
            raise RunError(
                f"the drive's state cannot be saved in {path}: {error.strerror or error}; free "
                "some space"
            ) from error
        for other in self._own():
            if other != path:
                other.unlink(missing_ok=True)
        self._saved_at = time.monotonic()
        self._cost_seconds = self._saved_at - began

    def latest(self, most: int) -> tuple[int, bytes] | None:
        """Return the last state after at most this many steps, and the number of these steps."""
        for path in sorted(self._own(), reverse=True):
            position = int(path.stem)
            read = read_state(path) if position <= most else None
            if read is not None and read[0] == {"position": position}:
                return position, read[1]
        return None

    def forget(self) -> None:
        """Remove the run's own states: the test is complete."""
        for path in self._own():
            path.unlink(missing_ok=True)
        folder = self.run / FOLDER
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()

    def _own(self) -> list[Path]:
        return [
            path
            for path in (self.run / FOLDER).glob("*.state")
            if re.fullmatch(r"[0-9]{6,}", path.stem)
        ]


def state_files(run: Path) -> set[str]:
    """Return the names, relative to a run's folder, of the states in it."""
    return {f"{FOLDER}/{path.name}" for path in (run / FOLDER).glob("*.state")}
