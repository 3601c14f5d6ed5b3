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
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

    from drivelab.drives.measurement import Measurement
    from drivelab.preset_fit.candidate import FloatArray
    from drivelab.workloads.characteristics import Characteristics
    from drivelab.workloads.parts import PartName

    Accepts = Callable[[Characteristics], bool]

#: Most workloads to fit to; more would add little, and every one is simulated often.
MOST_FITTED: Final = 100
#: Most workloads to judge the result.
MOST_HELD_OUT: Final = 100
#: With fewer there is no fit, or no judgement.
FEWEST_FITTED: Final = 20
FEWEST_HELD_OUT: Final = 5
#: With fewer a closed form cannot be fitted.
FEWEST_ON_CURVES: Final = 4
# Parts of a plan that affect results.
_PLAN: Final = (
    *("seed", "warmup_requests", "warmup_seconds", "requests", "seconds"),
    *("half_width_ratio", "max_requests", "burst_ratio", "content", "writes"),
)
# In a run without a check part, one of this many different workloads is held out.
_EVERY: Final = 4


@dataclass(frozen=True)
class Observed:
    """Workloads of a drive with their measurements.

    Attributes
    ----------
    workloads
        Workloads in the order of the run.
    behaviour
        Logarithms of their latencies in ns. Where those of reads and of writes are both NaN, only
        the mean of all requests is known.
    reads
        The share of requests that are reads, shape (n,).
    """

    workloads: Sequence[Characteristics]
    behaviour: Behaviour
    reads: FloatArray

    @classmethod
    def of(cls, measurements: Sequence[Measurement]) -> Observed:
        """Convert measurements to arrays."""
        workloads = [one.characteristics for one in measurements]
        reads = [
            0.0 if one.read is None else one.read.requests / one.requests for one in measurements
        ]
        return cls(workloads, behaviour_of(measurements), np.array(reads))

    @property
    def is_whole(self) -> NDArray[np.bool_]:
        """Return of which workloads only the mean of all requests is known."""
        return np.isnan(self.behaviour.read) & np.isnan(self.behaviour.write)

    def some(self, most: int) -> Observed:
        """Return at most `most` of the workloads, spread evenly over all."""
        return self.at(_places(len(self.workloads), most))

    def at(self, places: Sequence[int]) -> Observed:
        """Return the workloads at these places."""
        chosen = list(places)
        behaviour = Behaviour(
            *(values[chosen] for values in vars(self.behaviour).values()),
        )
        return Observed([self.workloads[each] for each in chosen], behaviour, self.reads[chosen])


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


def read_run(path: Path, accepts: Accepts | None = None) -> Run:
    """Read a run, and divide its workloads.

    Parameters
    ----------
    path
        Folder of the run.
    accepts
        Which workloads a closed form answers, if one is fitted; it has few values and needs few.

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
    places = [parts.part_of(one.index) for one in measurements]
    fitted, held_out = divided(path, Observed.of(measurements), places, accepts)
    return Run(
        drive["name"],
        path,
        plan,
        fitted,
        held_out,
        kind,
        capacity_bytes=None if identity.get("target") == "file" else drive.get("capacity_bytes"),
    )


def divided(
    path: Path,
    observed: Observed,
    parts: Sequence[PartName],
    accepts: Accepts | None = None,
) -> tuple[Observed, Observed]:
    """Return the workloads to fit to, and others to judge the result.

    Parameters
    ----------
    path
        What was measured, for errors.
    observed
        All workloads.
    parts
        The part of the run that each belongs to.
    accepts
        As in `read_run`.

    Raises
    ------
    UsageError
        If there are too few.
    """
    every = [
        place for place, one in enumerate(observed.workloads) if accepts is None or accepts(one)
    ]
    own = [place for place in every if parts[place] in FITTED]
    check = [place for place in every if parts[place] == "check"]
    fewest_fitted, fewest_held_out = FEWEST_FITTED, FEWEST_HELD_OUT
    if accepts is not None:
        fewest_fitted, fewest_held_out = FEWEST_ON_CURVES, 1
    if len(check) < fewest_held_out:
        # A workload that was measured several times is held out with all its repetitions.
        keys = {place: observed.workloads[place].key() for place in own}
        held = {*list(dict.fromkeys(keys.values()))[_EVERY - 1 :: _EVERY]}
        check = [place for place in own if keys[place] in held]
        own = [place for place in own if keys[place] not in held]
    fitted = observed.at(own).some(MOST_FITTED)
    held_out = observed.at(check).some(MOST_HELD_OUT)
    if len(fitted.workloads) < fewest_fitted or len(held_out.workloads) < fewest_held_out:
        which, more = "workloads", "as `drivelab model DRIVE --measurements 300`"
        if accepts is not None:
            which = "single requests of whole pages (queue depth 1, only reads or only writes)"
            more = "several request sizes of one kind (docs/fit.md)"
        raise UsageError(
            f"{path} has {len(own)} {which} to fit to and {len(check)} others to judge by; a fit "
            f"needs at least {fewest_fitted} and {fewest_held_out}: measure more, {more}"
        )
    return fitted, held_out


def _plan_of(stored: Mapping[str, Any]) -> MeasurementPlan:
    """Return the plan of a run in simulated time."""
    known = {name: stored[name] for name in _PLAN if stored.get(name) is not None}
    return MeasurementPlan(**known)


def _places(count: int, most: int) -> list[int]:
    """Return at most `most` of `count` places, spread evenly over all."""
    if count <= most:
        return list(range(count))
    return [int(place) for place in np.linspace(0, count - 1, most)]
