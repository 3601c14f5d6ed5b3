"""Find the text of a scenario, the package's or a file's, and the lists that it names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from drivelab._core import scenario_files, scenario_names, scenario_text
from drivelab.errors import UsageError
from drivelab.named_file import read_text_file
from drivelab.near_names import meant
from drivelab.workloads.given import shown
from drivelab.workloads.recorded import recognised_format
from drivelab.workloads.scenario import Scenario

SUFFIX: Final = ".toml"
# Streams take about ten lines each.
_MAX_SCENARIO_BYTES: Final = 16 << 20
# A request takes about thirty bytes as a line, and as many in memory.
_MAX_REQUESTS_BYTES: Final = 1 << 30


def scenario_file(reference: str) -> Path | None:
    """Return the file that is meant; ``None`` if it is one of the package's scenarios.

    The package's names come first: a file with such a name is ``./NAME``.
    """
    return None if reference in scenario_names() else Path(reference)


def names_streams(path: Path) -> bool:
    """Return whether a file has the word that no scenario does without."""
    with path.open("rb") as file:
        return b"[[stream" in file.read(_MAX_SCENARIO_BYTES)


def read_scenario(reference: str, *, if_trace: str = "name a scenario") -> Scenario:
    """Read a scenario: one of the package's by its name, or a file by its path.

    Lists of requests that a file names are looked for in its folder.

    Parameters
    ----------
    reference
        The name or the path.
    if_trace
        The remedy if the file is a recorded trace.

    Raises
    ------
    UsageError
        If there is none, or it is invalid: the error names the line, the key and what is allowed.
    """
    path = scenario_file(reference)
    if path is None:
        return Scenario(scenario_text(reference))
    try:
        return _scenario_of(path)
    except UsageError as error:
        found = recognised_format(path)
        if found is None:
            raise
        raise UsageError(
            f"{path} is a trace of the format {found}, not a scenario; {if_trace}"
        ) from error


def _scenario_of(path: Path) -> Scenario:
    text = _text_of(path)
    files = tuple(
        (name, _read(path.parent / name, "a list of requests", _MAX_REQUESTS_BYTES))
        for name in scenario_files(text)
    )
    try:
        return Scenario(text, files)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def text_of(reference: str) -> str:
    """Return a scenario as it was written, with comments.

    Raises
    ------
    UsageError
        If there is none; the error lists those of the package.
    """
    path = scenario_file(reference)
    return scenario_text(reference) if path is None else _text_of(path)


def _text_of(path: Path) -> str:
    known = scenario_names()
    is_file = path.suffix == SUFFIX or os.sep in str(path) or path.exists()
    if not is_file:
        raise UsageError(
            f"there is no scenario {shown(str(path))}; {meant(str(path), known)}there are "
            f"{', '.join(known)}, and files of your own, such as mine{SUFFIX}"
        )
    instead = f"{meant(path.stem, known)}the scenarios of the package are {', '.join(known)}"
    return read_text_file(path, "a scenario", _MAX_SCENARIO_BYTES, instead)


def _read(path: Path, what: str, most_bytes: int) -> str:
    return read_text_file(path, what, most_bytes, f"name {what}")
