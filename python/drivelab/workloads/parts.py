"""The parts of a run: what each of its measurements is for.

A campaign measures one list of workloads. The list is cut into four stretches, one after the
other, so that a measurement's index says what it may be used for::

    0 ─── training ─── calibration ─── check ─── sweeps ───
          models       intervals       accuracy   curves
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal, get_args

from drivelab.errors import UsageError
from drivelab.workloads.given import shown

PartName = Literal["training", "calibration", "check", "sweeps"]
PART_NAMES: Final[tuple[PartName, ...]] = get_args(PartName)


@dataclass(frozen=True)
class Parts:
    """How many measurements each part of a run has, in the order of their indices.

    Attributes
    ----------
    training
        Models are fitted to these, and to nothing else.
    calibration
        Drawn at random from the design's population; how far models are off here sets the
        width of their intervals.
    check
        Off-grid workloads that are the same for every run: how good models are between the
        values that they were trained on.
    sweeps
        One characteristic changed at a time, for curves.
    """

    training: int
    calibration: int = 0
    check: int = 0
    sweeps: int = 0

    def __post_init__(self) -> None:
        for name, count in self.to_json().items():
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                raise UsageError(f"the part {name} has {shown(count)} measurements")

    @property
    def total(self) -> int:
        """Measurements of all parts."""
        return sum(self.to_json().values())

    def range(self, name: PartName) -> range:
        """Return the indices of a part."""
        start = 0
        for part, count in self.to_json().items():
            if part == name:
                return range(start, start + count)
            start += count
        raise KeyError(name)

    def part_of(self, index: int) -> PartName:
        """Return the part that a measurement belongs to.

        Raises
        ------
        UsageError
            When the run has no such measurement.
        """
        for name in PART_NAMES:
            if index in self.range(name):
                return name
        raise UsageError(f"measurement {index} is in no part of a run of {self.total}")

    def to_json(self) -> dict[str, int]:
        """Return the counts by the names of the parts, in order."""
        return {name: getattr(self, name) for name in PART_NAMES}

    @classmethod
    def from_json(cls, data: object) -> Parts:
        """Read what `to_json` wrote.

        Raises
        ------
        UsageError
            When it is anything else.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(data, dict) or data.keys() != names:
            raise UsageError(f"the parts of a run are {', '.join(PART_NAMES)}; found {shown(data)}")
        return cls(**data)
