"""The parts of a run: what each of its measurements is for.

A campaign measures one list of workloads. The list is cut into stretches, one after the other, so
that a measurement's index says what it may be used for. Of a list that is known before, each part
is one stretch::

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
# Every run says how many it has of these; the others came later, and say it where they are.
_ALWAYS: Final[tuple[PartName, ...]] = ("training", "calibration", "check", "sweeps")
#: Models are fitted to these.
FITTED: Final[tuple[PartName, ...]] = ("training", "calibration", "chosen")
#: Of these, the workloads that stand for the design's population.
DRAWN: Final[tuple[PartName, ...]] = ("training", "calibration")

#: A part, and how many measurements follow each other in it.
Stretch = tuple[PartName, int]


@dataclass(frozen=True)
class Parts:
    """How many measurements each part of a run has.

    Attributes
    ----------
    training
        Spread over the design's population; models are fitted to these.
    calibration
        Drawn at random from the population: how far models that were fitted without them are off
        here sets the width of intervals.
    check
        Off-grid workloads that are the same for every run: how good models are between the
        values that they were trained on. Nothing is fitted to them.
    sweeps
        One characteristic changed at a time, for curves.
    chosen
        Where a model would learn most; models are fitted to these too, but they say nothing about
        the population.
    probes
        Short sweeps that find how a drive is built. Nothing is fitted to them: what makes units
        of a drive wait for each other is so rare elsewhere that models grew worse by it.
    fills
        Writes counted from the first one, without a warm-up: how much a drive takes before it
        slows down. Nothing is fitted to them.
    order
        The stretches by index; as the parts stand here where it is empty.
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
        """Return the parts of a run that asks for one stretch after the other."""
        order = tuple(stretches)
        counts = dict.fromkeys(PART_NAMES, 0)
        for name, count in order:
            counts[name] += count
        return cls(**counts, order=order)

    @property
    def counts(self) -> dict[PartName, int]:
        """Measurements by part."""
        return {name: getattr(self, name) for name in PART_NAMES}

    @property
    def total(self) -> int:
        """Measurements of all parts."""
        return sum(self.counts.values())

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The stretches by index."""
        return self.order or tuple((name, count) for name, count in self.counts.items() if count)

    def range(self, name: PartName) -> range:
        """Return the indices of a part that is one stretch, as in a list that is known before.

        Raises
        ------
        KeyError
            For a name of no part.
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
        """Return the part that a measurement belongs to.

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
        """Return the counts by the names of the parts, and the stretches where there are rounds.

        A run without rounds says what one of release 0.1.0 said.
        """
        order = {"order": [list(one) for one in self.order]} if self.order else {}
        counts = {
            str(name): count for name, count in self.counts.items() if count or name in _ALWAYS
        }
        return {**counts, **order}

    @classmethod
    def from_json(cls, data: object) -> Parts:
        """Read what `to_json` wrote.

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
