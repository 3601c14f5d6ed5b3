"""States of simulated drives beside the journal, so that an aborted test does not begin again.

::

    RUN/states/000057.state          after 57 steps; only the last is kept
    STATES/preconditioned-HASH.state after purge and preconditioning, for every test that has
                                     the same drive and the same preconditioning

A state file is a line of JSON (what the state follows) and the state's bytes. Whether one is
there never changes a result: without it the steps before are taken again.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from drivelab.errors import RunError
from drivelab.whole_file import write_whole

FOLDER: Final = "states"
#: A state is saved so often at most, and takes at most this share of the time.
_LEAST_SECONDS: Final = 30.0
_MOST_SHARE: Final = 0.05


@dataclass
class States:
    """The state files of one run.

    Attributes
    ----------
    run
        The run's folder.
    shared
        The folder of preconditioned states.
    """

    run: Path
    shared: Path
    _saved_at: float = field(default_factory=time.monotonic)
    _cost_seconds: float = 0.0

    def is_due(self) -> bool:
        """Tell whether so much time went by that a state is worth its saving."""
        wait = max(_LEAST_SECONDS, self._cost_seconds / _MOST_SHARE)
        return time.monotonic() - self._saved_at >= wait

    def save(self, position: int, state: bytes) -> None:
        """Keep the state after `position` steps in place of any other."""
        began = time.monotonic()
        path = self.run / FOLDER / f"{position:06}.state"
        _write(path, {"position": position}, state)
        for other in self._own():
            if other != path:
                other.unlink(missing_ok=True)
        self._saved_at = time.monotonic()
        self._cost_seconds = self._saved_at - began

    def latest(self, most: int) -> tuple[int, bytes] | None:
        """Give the last state that follows at most so many steps, and how many it follows."""
        for path in sorted(self._own(), reverse=True):
            position = int(path.stem)
            read = _read(path) if position <= most else None
            if read is not None and read[0] == {"position": position}:
                return position, read[1]
        return None

    def forget(self) -> None:
        """Remove the run's own states: the test is complete."""
        for path in self._own():
            path.unlink(missing_ok=True)
        if self.shared == self.run / FOLDER:
            remove_preconditioned(self.shared)
        _remove_empty(self.run / FOLDER)

    def save_preconditioned(
        self, preconditioning: dict[str, Any], entries: list[dict[str, Any]], state: bytes
    ) -> None:
        """Keep a preconditioned state for all tests, with the journal's entries up to it."""
        about = {"preconditioning": preconditioning, "entries": entries}
        _write(self._preconditioned(preconditioning), about, state)

    def preconditioned(
        self, preconditioning: dict[str, Any]
    ) -> tuple[list[dict[str, Any]], bytes] | None:
        """Give the journal's entries up to a preconditioned state, and the state."""
        read = _read(self._preconditioned(preconditioning))
        if read is None or read[0].get("preconditioning") != preconditioning:
            return None
        return read[0]["entries"], read[1]

    def _own(self) -> list[Path]:
        return [
            path
            for path in (self.run / FOLDER).glob("*.state")
            if re.fullmatch(r"[0-9]{6,}", path.stem)
        ]

    def _preconditioned(self, preconditioning: dict[str, Any]) -> Path:
        text = json.dumps(preconditioning, sort_keys=True)
        return (
            self.shared / f"preconditioned-{hashlib.sha256(text.encode()).hexdigest()[:16]}.state"
        )


def remove_preconditioned(folder: Path) -> None:
    """Remove the preconditioned states of a folder, and the folder when nothing else is in it."""
    for path in folder.glob("preconditioned-*.state"):
        path.unlink(missing_ok=True)
    _remove_empty(folder)


def state_files(run: Path) -> set[str]:
    """Give the names, relative to a run's folder, of the states that it holds."""
    return {f"{FOLDER}/{path.name}" for path in (run / FOLDER).glob("*.state")}


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _write(path: Path, about: dict[str, Any], state: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        head = {**about, "sha256": hashlib.sha256(state).hexdigest()}
        write_whole(path, json.dumps(head, sort_keys=True).encode() + b"\n" + state)
    except OSError as error:
        raise RunError(
            f"the drive's state cannot be kept in {path}: {error.strerror or error}; free some "
            "space"
        ) from error


def _read(path: Path) -> tuple[dict[str, Any], bytes] | None:
    """Give what a state file holds; nothing for one that is not there, or not whole."""
    try:
        head, _, state = path.read_bytes().partition(b"\n")
        about = json.loads(head)
    except (OSError, ValueError):
        return None
    if (
        not isinstance(about, dict)
        or about.pop("sha256", None) != hashlib.sha256(state).hexdigest()
    ):
        return None
    return about, state
