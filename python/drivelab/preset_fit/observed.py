"""The measurements of a drive for a fit: some workloads to fit to, others to judge the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.campaign.header import stored_header
from drivelab.campaign.stored import stored_measurements
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import UsageError
from drivelab.preset_fit.candidate import Behaviour
from drivelab.preset_fit.simulator import behaviour_of
from drivelab.store import RunStore
from drivelab.workloads.parts import FITTED, Parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from drivelab.drives.measurement import Measurement
    from drivelab.workloads.characteristics import Characteristics

#: Most workloads to fit to; more would add little, and every one is simulated often.
MOST_FITTED: Final = 100
#: Most workloads to judge the result.
MOST_HELD_OUT: Final = 100
#: With fewer there is no fit, or no judgement.
FEWEST_FITTED: Final = 20
FEWEST_HELD_OUT: Final = 5
# Parts of a plan that affect results.
_PLAN: Final = (
    *("seed", "warmup_requests", "warmup_seconds", "requests", "seconds"),
    *("half_width_ratio", "max_requests", "burst_ratio", "content", "writes"),
)
# In a run without a check part, one of this many workloads is held out.
_EVERY: Final = 4


@dataclass(frozen=True)
class Observed:
    """Workloads of a drive with their measurements.

    Attributes
    ----------
    workloads
        Workloads in the order of the run.
    behaviour
        Logarithms of their latencies in ns.
    measurements
        The measurements, as stored in the run.
    """

    workloads: Sequence[Characteristics]
    behaviour: Behaviour
    measurements: Sequence[Measurement]

    @classmethod
    def of(cls, measurements: Sequence[Measurement]) -> Observed:
        """Convert measurements to arrays."""
        workloads = [one.characteristics for one in measurements]
        return cls(workloads, behaviour_of(measurements), measurements)


@dataclass(frozen=True)
class Run:
    """A run that a preset is fitted to.

    Attributes
    ----------
    drive
        Name of the measured drive.
    path
        Folder of the run.
    plan
        Plan of the measurements.
    fitted, held_out
        Workloads to fit to, and workloads to judge the result; none is in both.
    kind
        ``ssd`` or ``hdd`` if the run knows it, which it does for simulated drives.
    page_bytes, units
        Size of pages, and number of units over which they are distributed, if probes found them.
    capacity_bytes
        Capacity of the measured drive; None if a file was measured, which is a part of a drive.
    has_arm
        Whether probes found the arm of a disk; None if unknown.
    """

    drive: str
    path: Path
    plan: MeasurementPlan
    fitted: Observed
    held_out: Observed
    kind: str | None = None
    page_bytes: int | None = None
    units: int | None = None
    has_arm: bool | None = None
    capacity_bytes: int | None = None

    def plan_on(self, capacity_bytes: int) -> MeasurementPlan:
        """Return the plan for a drive of another capacity, with bursts of as many bytes."""
        if self.capacity_bytes is None:
            return self.plan
        return self.plan.on_capacity(self.capacity_bytes, capacity_bytes)


def read_run(path: Path) -> Run:
    """Read a run, and divide its workloads.

    Raises
    ------
    UsageError
        When it is not a campaign, has too few workloads, or measured an array.
    RunError
        When it is damaged.
    """
    with RunStore.open(path) as store:
        header = stored_header(store)
        measurements = stored_measurements(store)
    plan = _plan_of(header["plan"])
    drive = header["drive"]
    identity = drive["identity"]
    kind = (identity.get("preset") or {}).get("kind")
    if kind in ("raid0", "raid"):
        raise UsageError(
            f"{path} measured an array, {drive['name']}, and only single drives are fitted: fit a "
            "run of one member, and write an array with `member` = the fitted preset"
        )
    parts = Parts.from_json(header["design"]["parts"])
    own = [one for one in measurements if parts.part_of(one.index) in FITTED]
    check = [one for one in measurements if parts.part_of(one.index) == "check"]
    if len(check) < FEWEST_HELD_OUT:
        check = own[_EVERY - 1 :: _EVERY]
        known = {one.characteristics.key() for one in check}
        own = [one for one in own if one.characteristics.key() not in known]
    fitted, held_out = some(own, MOST_FITTED), some(check, MOST_HELD_OUT)
    if len(fitted) < FEWEST_FITTED or len(held_out) < FEWEST_HELD_OUT:
        raise UsageError(
            f"{path} has {len(fitted)} workloads to fit to and {len(held_out)} others to judge by; "
            f"a fit needs at least {FEWEST_FITTED} and {FEWEST_HELD_OUT}: measure more, as "
            "`drivelab model DRIVE --measurements 300`"
        )
    return Run(
        drive["name"],
        path,
        plan,
        Observed.of(fitted),
        Observed.of(held_out),
        kind,
        capacity_bytes=None if identity.get("target") == "file" else drive.get("capacity_bytes"),
    )


def _plan_of(stored: Mapping[str, Any]) -> MeasurementPlan:
    """Return the plan of a run in simulated time."""
    known = {name: stored[name] for name in _PLAN if stored.get(name) is not None}
    return MeasurementPlan(**known)


def some(measurements: Sequence[Measurement], most: int) -> list[Measurement]:
    """Return at most `most` measurements, spread evenly over all."""
    if len(measurements) <= most:
        return list(measurements)
    places = np.linspace(0, len(measurements) - 1, most).astype(int)
    return [measurements[place] for place in places]
