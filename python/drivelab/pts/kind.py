"""A performance test as a kind of run: when it is the same, and the rows that it exports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from drivelab.errors import UsageError
from drivelab.pts.applied_settings import Extent
from drivelab.pts.every_test import test_named
from drivelab.pts.journal import COMMAND, Step, is_end, of_another_version, read_record
from drivelab.pts.settings import Settings
from drivelab.pts.words import stimulus_words
from drivelab.runs.columns import Column, Kind, Rows
from drivelab.runs.kind import RunKind, Standing
from drivelab.store import RunStore


def _as_of_today(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add to a header what an older version did not say of the settings: the usual."""
    told = header.get("pts")
    if not isinstance(told, dict) or not isinstance(told.get("settings"), dict):
        # Of something else: told by what differs.
        return header
    try:
        settings = Settings.from_json(told["settings"]).to_json()
    except (TypeError, UsageError):
        return header
    # What is not known here any more stays, and differs.
    settings = {**told["settings"], **settings}
    return {**header, "pts": {**told, "settings": json.loads(json.dumps(settings))}}


def _standing(store: RunStore) -> Standing:
    """Say how far a test is: it is complete when it says so, and may end sooner where it settles.

    Its steps are everything that is done to the drive, and the end.
    """
    header = store.header
    with of_another_version(store.path):
        told, drive = header["pts"], header["drive"]
        settings = Settings.from_json(told["settings"])
        extent = Extent.of(drive["capacity_bytes"], drive["block_bytes"], settings)
        test = test_named(told["test"])
        last = store.last()
        is_complete = last is not None and is_end(last)
        most = len(store.done()) if is_complete else test.most_steps(settings, extent) + 1
    return Standing(
        f"{COMMAND} {test.name}",
        settings.seed,
        is_complete,
        planned=most,
        may_end_sooner=test.settles and not is_complete,
    )


def _stored_rows(store: RunStore) -> Rows:
    """Give a row for each stimulus; those that were sent at the same time have the same index."""
    steps = [part for step in read_record(store).steps for part in step.streams]
    values = [_labels(step) for step in steps]
    labels = [Column(name, kind, [each[name] for each in values]) for name, kind in _LABELS.items()]
    return Rows([step.result for step in steps], labels)


def _labels(step: Step) -> dict[str, Any]:
    action, stimulus = step.action, step.stimulus
    return {
        "phase": action.phase,
        "section": action.section or None,
        "round": action.round or None,
        "stimulus": stimulus_words(stimulus),
        "read_ratio": stimulus.read_ratio,
        "block_bytes": stimulus.sizes[0][0] if len(stimulus.sizes) == 1 else None,
        "threads": stimulus.threads,
        "queue_depth": stimulus.queue_depth,
    }


_LABELS: Final[dict[str, Kind]] = {
    "phase": "text",
    "section": "text",
    "round": "integer",
    "stimulus": "text",
    "read_ratio": "real",
    "block_bytes": "integer",
    "threads": "integer",
    "queue_depth": "integer",
}

TEST: Final = RunKind(
    COMMAND,
    "test",
    one="step",
    many="steps",
    compared=("drive", "pts"),
    rows=_stored_rows,
    standing=_standing,
    as_compared=_as_of_today,
)
