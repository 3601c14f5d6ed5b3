"""Finding the text of a scenario and of the lists of requests that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from drivelab._core import scenario_files
from drivelab.drives.named_file import read_text_file
from drivelab.errors import UsageError
from drivelab.workloads.scenario import Scenario

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
    files = tuple(
        (name, _read(path.parent / name, "a list of requests", _MAX_REQUESTS_BYTES))
        for name in scenario_files(text)
    )
    try:
        return Scenario(text, files)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _read(path: Path, what: str, most_bytes: int) -> str:
    return read_text_file(path, what, most_bytes, f"name {what}")
