"""The parts of a run: the purpose of each measurement.

A campaign measures one list of workloads. The list consists of consecutive stretches, so that a
measurement's index tells its purpose. If the list is known in advance, each part is one stretch::

    0 ─── training ─── calibration ─── check ─── sweeps ───
          models       models and      accuracy   curves
                       intervals

A run that asks round by round (``adaptive``) has a stretch for each part of each round.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, Final, Literal, get_args

from drivelab.errors import UsageError
from drivelab.workloads.given import shown

PartName = Literal["training", "calibration", "check", "sweeps", "chosen", "probes", "fills"]
PART_NAMES: Final[tuple[PartName, ...]] = get_args(PartName)
# Every run stores the number of these; newer parts are stored only if there are any.
_ALWAYS: Final[tuple[PartName, ...]] = ("training", "calibration", "check", "sweeps")
#: Parts that models are fitted to.
FITTED: Final[tuple[PartName, ...]] = ("training", "calibration", "chosen")
#: The parts among them that represent the design's population.
DRAWN: Final[tuple[PartName, ...]] = ("training", "calibration")

#: A part, and the number of consecutive measurements of it.
Stretch = tuple[PartName, int]


@dataclass(frozen=True)
class Parts:
    """The number of measurements in each part of a run.

    Attributes
    ----------
    training
        Workloads spread over the design's population; models are fitted to them.
    calibration
        Workloads drawn at random from the population. The errors here of models that were fitted
        without them set the width of intervals.
    check
        Off-grid workloads, the same for every run, which show how good models are between the
        values that they were trained on. Nothing is fitted to them.
    sweeps
        Workloads that vary one characteristic at a time, for curves.
    chosen
        Workloads at which a model learns most. Models are fitted to these too, but they do not
        represent the population.
    probes
        Short sweeps that find the structure of a drive. Nothing is fitted to them: they make units
        of the drive wait for each other, which is so rare elsewhere that models became worse.
    fills
        Writes counted from the first one, without a warm-up, which show how much a drive accepts
        before it slows down. Nothing is fitted to them.
    order
        Stretches by index; if empty, one per part in the order above.
    """

    training: int = 0
    calibration: int = 0
    check: int = 0
    sweeps: int = 0
    chosen: int = 0
    probes: int = 0
    fills: int = 0
    order: tuple[Stretch, ...] = field(default=())

    def __post_init__(self) -> None:
        for name, count in self.counts.items():
            _check_count(name, count)
        totals: dict[str, int] = dict.fromkeys(PART_NAMES, 0)
        for name, count in self.order:
            totals[name] += count
        if self.order and totals != self.counts:
            raise UsageError("the stretches of a run have other numbers than its parts")

    @classmethod
    def of_stretches(cls, stretches: Iterable[Stretch]) -> Parts:
        """Return the parts of a run that consists of these stretches."""
        order = tuple(stretches)
        counts = dict.fromkeys(PART_NAMES, 0)
        for name, count in order:
            counts[name] += count
        return cls(**counts, order=order)

    @property
    def counts(self) -> dict[PartName, int]:
        """Number of measurements of each part."""
        return {name: getattr(self, name) for name in PART_NAMES}

    @property
    def total(self) -> int:
        """Number of measurements of all parts."""
        return sum(self.counts.values())

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The stretches, ordered by index."""
        return self.order or tuple((name, count) for name, count in self.counts.items() if count)

    def range(self, name: PartName) -> range:
        """Return the indices of a part with a single stretch, as in a list known in advance.

        Raises
        ------
        KeyError
            When there is no such part.
        ValueError
            When the part has several stretches.
        """
        if name not in PART_NAMES:
            raise KeyError(name)
        places = [place for place, (part, _) in enumerate(self.stretches) if part == name]
        if len(places) > 1:
            raise ValueError(f"{name} has {len(places)} stretches")
        ends = self._ends
        before = sum(self.counts[part] for part in PART_NAMES[: PART_NAMES.index(name)])
        start = before if not places else ends[places[0]] - self.stretches[places[0]][1]
        return range(start, start + getattr(self, name))

    def part_of(self, index: int) -> PartName:
        """Return the part of a measurement.

        Raises
        ------
        UsageError
            When the run has no such measurement.
        """
        if not 0 <= index < self.total:
            raise UsageError(f"measurement {index} is in no part of a run of {self.total}")
        return self.stretches[bisect_right(self._ends, index)][0]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(count for _, count in self.stretches))

    def to_json(self) -> dict[str, Any]:
        """Return the counts by part, and the stretches if the run has rounds.

        A run without rounds writes the same as in release 0.1.0.
        """
        order = {"order": [list(one) for one in self.order]} if self.order else {}
        counts = {
            str(name): count for name, count in self.counts.items() if count or name in _ALWAYS
        }
        return {**counts, **order}

    @classmethod
    def from_json(cls, data: object) -> Parts:
        """Read a value that `to_json` wrote.

        Raises
        ------
        UsageError
            When it is anything else.
        """
        if not isinstance(data, dict) or not _are_parts(data.keys() - {"order"}):
            raise UsageError(f"the parts of a run are {', '.join(PART_NAMES)}; found {shown(data)}")
        order = data.get("order", [])
        if not isinstance(order, list) or not all(map(_is_stretch, order)):
            raise UsageError(f"the stretches of a run are parts and counts; found {shown(order)}")
        return cls(**{**data, "order": tuple((name, count) for name, count in order)})


def _are_parts(names: Set[object]) -> bool:
    return set(_ALWAYS) <= names <= set(PART_NAMES)


def _is_stretch(one: object) -> bool:
    if not isinstance(one, list) or len(one) != 2 or one[0] not in PART_NAMES:
        return False
    _check_count(one[0], one[1])
    return True


def _check_count(name: str, count: object) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise UsageError(f"the part {name} has {shown(count)} measurements")
