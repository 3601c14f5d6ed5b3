"""Finding the text of a scenario and of the lists of requests that it names."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from drivelab._core import Scenario, scenario_files
from drivelab.errors import UsageError

# Streams take some ten lines each.
_MAX_SCENARIO_BYTES: Final = 16 << 20
# A request takes some thirty bytes as a line, and as many in memory.
_MAX_REQUESTS_BYTES: Final = 1 << 30


def read_scenario(path: Path) -> Scenario:
    """Read a scenario from a file; the files that it names are looked for beside it.

    Raises
    ------
    UsageError
        When a file cannot be read, or the scenario is none: names the line, the key and what
        is allowed.
    """
    text = _read(path, "a scenario", _MAX_SCENARIO_BYTES)
    files = {
        name: _read(path.parent / name, "a list of requests", _MAX_REQUESTS_BYTES)
        for name in scenario_files(text)
    }
    try:
        return Scenario(text, files)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _read(path: Path, what: str, most_bytes: int) -> str:
    try:
        status = path.stat()
        # Reading a pipe or a device may never end.
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise UsageError(f"{path} cannot be read as {what}: it is no regular file")
        if status.st_size > most_bytes:
            raise UsageError(f"{path} is larger than {what} can be ({most_bytes >> 20} MiB)")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}; name {what}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"{path} cannot be read as {what}: {reason}") from error
