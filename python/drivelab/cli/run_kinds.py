"""The kinds of runs that commands make, and what a stored run contains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.campaign.kind import CAMPAIGN, KEPT_ELSEWHERE
from drivelab.choose.kind import CHOICE
from drivelab.errors import UsageError
from drivelab.firmware.kind import FIRMWARE_PROFILE
from drivelab.firmware.search_kind import FIRMWARE_SEARCH
from drivelab.place.kind import PLACEMENT
from drivelab.profile.kind import PROFILE
from drivelab.pts.kind import TEST
from drivelab.runs.header import command_of
from drivelab.store import damaged

if TYPE_CHECKING:
    from drivelab.runs.kind import RunKind
    from drivelab.store import RunStore

RUN_KINDS: Final = {
    kind.command: kind
    for kind in (
        *(CAMPAIGN, TEST, PROFILE, CHOICE, PLACEMENT),
        *(FIRMWARE_PROFILE, FIRMWARE_SEARCH, KEPT_ELSEWHERE),
    )
}


def kind_of_run(store: RunStore) -> RunKind:
    """Return the kind of a stored run.

    Raises
    ------
    UsageError
        If its command does not exist in this version.
    RunError
        If its header lacks what every run of its kind says.
    """
    command = command_of(store.header)
    if command not in RUN_KINDS:
        known = ", ".join(f"`drivelab {name}`" for name in RUN_KINDS)
        raise UsageError(
            f"{store.path} is a run of `drivelab {command}`, which this version does not have; it "
            f"has runs of {known}"
        )
    kind, header = RUN_KINDS[command], store.header
    for name in kind.compared:
        if not isinstance(header.get(name), dict):
            raise damaged(store.path, f"its {name} is missing")
    if not {"name", "kind"} <= header["drive"].keys():
        raise damaged(store.path, "its drive is missing")
    return kind
