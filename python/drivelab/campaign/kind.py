"""A campaign as a kind of run: its identity, its state, and the rows that it exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from drivelab.campaign.header import ASKED, stored_header
from drivelab.campaign.stored import stored_indices, stored_measurements
from drivelab.drives.measurement import Measurement
from drivelab.drives.write_pattern import BURST
from drivelab.runs.columns import Column, Kind, Rows
from drivelab.runs.header import CAMPAIGN_COMMAND
from drivelab.runs.kind import RunKind, Standing
from drivelab.runs.workers.host_journal import JOURNAL_COMMAND
from drivelab.store import RunStore
from drivelab.workloads.characteristics import FIELDS
from drivelab.workloads.parts import Parts

# Keys of a design that change with each round.
_GROWING: Final = {"workloads", "distinct_workloads", "parts", "workloads_sha256"}
_RATIOS: Final = ("write_ratio", "read_random", "write_random")


def campaign_rows(measurements: Sequence[Measurement], parts: Parts | None = None) -> Rows:
    """Return rows of measurements, each with the characteristics and purpose of its workload.

    Parameters
    ----------
    measurements
        Measurements in the order of the rows.
    parts
        Purpose of each measurement; without it these cells are empty.
    """

    def part_of(one: Measurement) -> str | None:
        return None if parts is None else parts.part_of(one.index)

    labels = [Column("part", "text", [part_of(one) for one in measurements])]
    for name in FIELDS:
        cells = list(map(partial(_characteristic, name), measurements))
        labels.append(Column(*_named(name), cells))
    return Rows(measurements, labels)


def _stored_rows(store: RunStore) -> Rows:
    parts = Parts.from_json(stored_header(store)["design"]["parts"])
    return campaign_rows(stored_measurements(store), parts)


def _standing(store: RunStore) -> Standing:
    header = stored_header(store)
    design = header["design"]
    asked = design["workloads"]
    # A run that asks round by round decides itself when to end; until then its length is unknown.
    has_enough = ASKED not in header or "ended" in header
    is_complete = has_enough and len(stored_indices(store)) == asked
    return Standing(design["name"], design["seed"], is_complete, asked if has_enough else None)


def _named(characteristic: str) -> tuple[str, Kind]:
    if characteristic in _RATIOS:
        return characteristic, "real"
    ending = "_bytes" if characteristic.endswith(("_size", "_stride")) else ""
    return f"{characteristic}{ending}", "integer"


def _characteristic(name: str, measurement: Measurement) -> float | int | None:
    return measurement.characteristics.canonical()[name]


def _as_compared(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add what writes find, and drop what a run has asked for so far.

    A run that asks for more is still the same run. A plan names its writes only if sustained.
    """
    if isinstance(header.get("plan"), dict):
        header = {**header, "plan": {"writes": BURST, **header["plan"]}}
    if ASKED not in header:
        return header
    design = {key: value for key, value in header["design"].items() if key not in _GROWING}
    return {**header, "design": design}


def _kept_rows(store: RunStore) -> Rows:
    return campaign_rows([Measurement.from_json(each) for each in store.measurements()])


def _kept_standing(store: RunStore) -> Standing:
    # Only the machine of the run knows what is missing.
    return Standing("for a run elsewhere", store.header["plan"]["seed"], True, None)


#: Files that a worker keeps on the machine of a real drive for a campaign elsewhere.
KEPT_ELSEWHERE: Final = RunKind(
    JOURNAL_COMMAND,
    "journal",
    one="measurement",
    many="measurements",
    compared=("drive", "plan"),
    rows=_kept_rows,
    standing=_kept_standing,
)
CAMPAIGN: Final = RunKind(
    CAMPAIGN_COMMAND,
    "campaign",
    one="measurement",
    many="measurements",
    compared=("drive", "design", "plan"),
    rows=_stored_rows,
    standing=_standing,
    as_compared=_as_compared,
)
