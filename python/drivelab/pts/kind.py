"""Performance tests as a kind of run: when a run is the same, and which rows it exports."""

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
    """Add to a header the default of each setting that an older version did not have."""
    stored = header.get("pts")
    if not isinstance(stored, dict) or not isinstance(stored.get("settings"), dict):
        # The header of something else; the comparison reports the difference.
        return header
    try:
        settings = Settings.from_json(stored["settings"]).to_json()
    except (TypeError, UsageError):
        return header
    # Settings that are not known here any more stay, and differ.
    settings = {**stored["settings"], **settings}
    return {**header, "pts": {**stored, "settings": json.loads(json.dumps(settings))}}


def _standing(store: RunStore) -> Standing:
    """Return how far a test is. It says when it is complete, which may be sooner if it settles.

    Its steps are everything that is done to the drive, and the end.
    """
    header = store.header
    with of_another_version(store.path):
        stored, drive = header["pts"], header["drive"]
        settings = Settings.from_json(stored["settings"])
        extent = Extent.of(drive["capacity_bytes"], drive["block_bytes"], settings)
        test = test_named(stored["test"])
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
    """Yield a row for each stimulus; stimuli at the same time have the same index."""
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
