"""Preconditioned states of simulated drives, kept for every run that asks for the same again.

::

    FOLDER/preconditioned-HASH.state    a line of JSON, what the state follows; then its bytes

The hash is of all that decides the state: the drive's configuration and condition, what was sent,
seed and place in the test, and the program that computed it. So a state that is found is the one
that would be computed, and whether it is there never changes a result. The folder takes so much
of the disk at most: what was not used for longest goes first.
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

#: What states of all runs take at most, where a user does not say.
USUAL_BYTES: Final = 2 * 2**30
#: So much of a file system stays free.
_FREE_SHARE: Final = 0.1
_PATTERN: Final = "preconditioned-*.state"


@dataclass(frozen=True)
class KeptState:
    """A state that is kept.

    Attributes
    ----------
    path
        Its file.
    drive
        The name under which the drive was opened.
    size_bytes
        Of the file.
    used_unix_seconds
        When it was made or taken up last.
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
        Made when something is kept.
    most_bytes
        What all of it may take; 0 keeps nothing, and takes nothing up.
    """

    folder: Path
    most_bytes: int = USUAL_BYTES

    def get(self, about: Mapping[str, Any]) -> tuple[list[dict[str, Any]], bytes] | None:
        """Give the journal's entries up to a state, and the state; nothing where it is not kept."""
        if self.most_bytes == 0:
            return None
        path = self._path(about)
        read = read_state(path)
        if read is None or read[0].get("about") != _json(about):
            return None
        entries = read[0].get("entries")
        if not _are_entries(entries):
            return None
        # Of somebody else, who lets us read: it may go sooner.
        with contextlib.suppress(OSError):
            os.utime(path)
        return entries, read[1]

    def put(
        self, about: Mapping[str, Any], drive: str, entries: list[dict[str, Any]], state: bytes
    ) -> None:
        """Keep a state where there is room for it; without room nothing is said."""
        path = self._path(about)
        if not self._makes_room(len(state), path):
            return
        head = {"about": _json(about), "drive": drive, "entries": entries}
        try:
            write_state(path, head, state)
        except OSError:
            # Nothing is lost: who wants it computes it.
            return

    def kept(self) -> list[KeptState]:
        """List what is kept, what was used last first."""
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
        """Remove all of it, and the folder when nothing else is in it; give the bytes freed."""
        freed = sum(_remove(each) for each in self.kept())
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()
        return freed

    def _makes_room(self, size_bytes: int, path: Path) -> bool:
        """Remove what was not used for longest until so much more fits; tell whether it does."""
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
    """Give the folder of this user: ``$XDG_CACHE_HOME/drivelab/states``, below ``~/.cache``."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if Path(named).is_absolute() else Path("~/.cache").expanduser()
    return base / "drivelab" / "states"


def _json(value: Mapping[str, Any]) -> Any:
    """Give a value as it comes back out of a file."""
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
    """Tell builds apart: another one may compute another state from the same."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()
