"""What decides the times of a profile apart from what was asked: its programs, and how they begin.

The same programs that begin alike take the same time to the nanosecond. Others do not, so a run
keeps which they were and goes on with the same alone.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import UsageError
from drivelab.firmware.kind import FIRMWARE_PROFILE
from drivelab.firmware.placed import START
from drivelab.runs.header import command_of
from drivelab.runs.same_run import flattened
from drivelab.store import RunStore
from drivelab.store.folder import is_run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: The part of a run's plan that says it.
PROGRAMS: Final = "programs"
_PLACE: Final = f"plan.{PROGRAMS}."
_SHA256: Final = "_sha256"
_START: Final = "start"


def made_with(programs: Mapping[str, Path]) -> dict[str, str]:
    """Return the checksums of programs, and of their initial state, as a plan contains them.

    Parameters
    ----------
    programs
        By a word for each.
    """
    start = json.dumps(START, sort_keys=True).encode()
    contents = {name: path.read_bytes() for name, path in programs.items()}
    return {
        f"{name}{_SHA256}": hashlib.sha256(content).hexdigest()
        for name, content in (*contents.items(), (_START, start))
    }


def refuse_other_programs(path: Path | None, wanted: Mapping[str, Any]) -> None:
    """Refuse to resume a run that was made with other programs.

    Parameters
    ----------
    path
        The run's folder; ``None`` or a folder without a result has nothing to go on with.
    wanted
        The header of what is to be run.

    Raises
    ------
    UsageError
        With the programs that differ. Where the run differs in anything else, that is said
        when it is opened.
    """
    if path is None or not is_run(path):
        return
    with RunStore.open(path) as store:
        header, is_begun = store.header, bool(store.done())
    if not is_begun or command_of(header) != FIRMWARE_PROFILE.command:
        return
    compared = FIRMWARE_PROFILE.compared
    before, now = (
        dict(flattened({key: each.get(key) for key in compared})) for each in (header, wanted)
    )
    differing = [key for key in before | now if before.get(key) != now.get(key)]
    if not differing or not all(key.startswith(_PLACE) for key in differing):
        return
    names = [key.removeprefix(_PLACE).removesuffix(_SHA256) for key in differing]
    which = ", ".join(name for name in names if name != _START)
    others = f"other programs ({which})" if which else "programs that began otherwise in memory"
    raise UsageError(
        f"{path} was profiled with {others} than this version of Drivelab runs, and their times "
        "cannot be mixed; choose another --out, or go on with the version that began it"
    )
