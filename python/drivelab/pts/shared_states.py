"""Preconditioned states of simulated drives, saved for all runs that need the same one.

::

        FOLDER/preconditioned-HASH.state    a line of JSON with the steps before the state; its
        bytes

The hash covers all that decides the state: the drive's configuration and condition, what was sent,
seed and position in the test, and the program that computed it. So a found state is the one that
would be computed, and its presence never changes a result. The folder has a maximum size: the state
that was not used for longest is removed first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeGuard

from drivelab import _core
from drivelab.pts.state_file import read_state, read_state_head, write_state

#: Default maximum size of the states of all runs.
USUAL_BYTES: Final = 2 * 2**30
#: This share of a file system stays free.
_FREE_SHARE: Final = 0.1
_PATTERN: Final = "preconditioned-*.state"


@dataclass(frozen=True)
class KeptState:
    """A saved state.

    Attributes
    ----------
    path
        Its file.
    drive
        The name under which the drive was opened.
    size_bytes
        Size of the file.
    used_unix_seconds
        When it was made or last used.
    """

    path: Path
    drive: str
    size_bytes: int
    used_unix_seconds: float


@dataclass(frozen=True)
class SharedStates:
    """A folder of preconditioned states.

    Attributes
    ----------
    folder
        Created when a state is saved.
    most_bytes
        The maximum size of the folder; 0 neither saves nor loads states.
    """

    folder: Path
    most_bytes: int = USUAL_BYTES

    def get(self, about: Mapping[str, Any]) -> tuple[list[dict[str, Any]], bytes] | None:
        """Return the journal's entries up to a state, and the state; None if it is not saved."""
        if self.most_bytes == 0:
            return None
        path = self._path(about)
        read = read_state(path)
        if read is None or read[0].get("about") != _json(about):
            return None
        entries = read[0].get("entries")
        if not _are_entries(entries):
            return None
        # Another user's file that we may read: it may be removed sooner.
        with contextlib.suppress(OSError):
            os.utime(path)
        return entries, read[1]

    def put(
        self, about: Mapping[str, Any], drive: str, entries: list[dict[str, Any]], state: bytes
    ) -> None:
        """Save a state if there is space for it; without space nothing happens."""
        path = self._path(about)
        if not self._makes_room(len(state), path):
            return
        head = {"about": _json(about), "drive": drive, "entries": entries}
        try:
            write_state(path, head, state)
        except OSError:
            # Nothing is lost: the state can be computed again.
            return

    def kept(self) -> list[KeptState]:
        """Return the saved states, the last used first."""
        found = []
        for path in self.folder.glob(_PATTERN):
            try:
                status = path.stat()
            except OSError:
                # Another process removed it.
                continue
            drive = str((read_state_head(path) or {}).get("drive", ""))
            found.append(KeptState(path, drive, status.st_size, status.st_mtime))
        return sorted(found, key=lambda each: (-each.used_unix_seconds, each.path))

    def clear(self) -> int:
        """Remove all states, and the folder if it is then empty; return the bytes freed."""
        freed = sum(_remove(each) for each in self.kept())
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()
        return freed

    def _makes_room(self, size_bytes: int, path: Path) -> bool:
        """Remove the least recently used states until these bytes fit; return whether they do."""
        if size_bytes > self.most_bytes:
            return False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            disk = shutil.disk_usage(self.folder)
        except OSError:
            return False
        free = disk.free - _FREE_SHARE * disk.total
        others = [each for each in self.kept() if each.path != path]
        taken = sum(each.size_bytes for each in others)
        for oldest in reversed(others):
            if taken + size_bytes <= self.most_bytes and size_bytes <= free:
                break
            freed = _remove(oldest)
            taken -= oldest.size_bytes
            free += freed
        return taken + size_bytes <= self.most_bytes and size_bytes <= free

    def _path(self, about: Mapping[str, Any]) -> Path:
        text = json.dumps({"about": about, "program": _program()}, sort_keys=True)
        name = hashlib.sha256(text.encode()).hexdigest()[:32]
        return self.folder / f"preconditioned-{name}.state"


def usual_folder() -> Path:
    """Return the folder: ``$XDG_CACHE_HOME/drivelab/states``, by default in ``~/.cache``."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if Path(named).is_absolute() else Path("~/.cache").expanduser()
    return base / "drivelab" / "states"


def _json(value: Mapping[str, Any]) -> Any:
    """Return a value as it would be read back from a file."""
    return json.loads(json.dumps(value))


def _are_entries(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(
        isinstance(each, dict) and "result" in each for each in value
    )


def _remove(one: KeptState) -> int:
    try:
        one.path.unlink(missing_ok=True)
    except OSError:
        return 0
    return one.size_bytes


@cache
def _program() -> str:
    """Return what distinguishes builds: another one may compute another state from the same."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()
