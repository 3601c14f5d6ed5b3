"""What a profile measures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab.errors import UsageError
from drivelab.profile.sizes import Interval, chosen
from drivelab.workloads.whole_pass import BOITO2015_FILES, BOITO2015_INTERVALS, MIB, WholePass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.profile.estimate import Scheme
    from drivelab.profile.measured_pass import MeasuredPass
    from drivelab.profile.optimisation import Cost
    from drivelab.profile.spread import Centre
    from drivelab.workloads.whole_pass import Direction

DIRECTIONS: Final[tuple[Direction, ...]] = ("read", "write")
#: Of a partial pass, by whether its order is random: on a disk each has a way and a rotation of its
#: own there, and of four the mean is 10 to 30 % off.
FEWEST_REQUESTS: Final = {False: 4, True: 16}
#: Sequential passes: in the first MiB a drive that reads ahead has not reached its speed.
LEAST_IN_ORDER_BYTES: Final = 8 * MIB
#: Of a partial pass on a drive whose cache absorbs writes: more than twice a disk's cache. Small
#: requests in random order leave it more slowly than the large ones that show that it is there.
LEAST_SETTLING_BYTES: Final = 32 * MIB
# What a pilot has to show of a cache: in a random order chance alone shows as much as the second,
# and a buffer that is smaller than the pilot's requests shows a part of it at best.
_SEEN_BYTES: Final = MIB // 4
_SEEN_BY_CHANCE_BYTES: Final = MIB
# Times what fills the cache at the largest size: the later half is then settled, also at smaller
# sizes, which fill it more slowly in order. In random order these drain it so slowly that what it
# holds is soon there.
_SETTLED: Final = 3
#: Repetitions of the full profile before anything is decided from their spread, as in the paper.
FIRST_REPETITIONS: Final = 6
#: And of ours, which knows the spread from all sizes together, and settles pairs that disagree.
FIRST_PAIR: Final = 2


@dataclass(frozen=True)
class ProfileSettings:
    """What is measured; the defaults are the paper's.

    Attributes
    ----------
    intervals
        Of request sizes.
    points
        Sizes of each interval that are measured, its ends among them; ``auto`` adds those that
        tell most.
    repetitions
        Passes of each test and size; with ``auto`` as many as `half_width_ratio` takes, and
        where points are ``auto`` too, of each as many as tell most.
    file_bytes
        Of the file, at least the largest size.
    seed
        Key of the choice of sizes and of the random orders.
    share
        Of the file that each pass transfers, above 0; 1 is whole passes. A pass sends at least
        `FEWEST_REQUESTS`.
    half_width_ratio
        What ``auto`` adds ends when half the 95 % interval of a direction's ratios is at most
        this share of them, median over the sizes.
    most_repetitions
        Of a test and size; settling what disagrees ends there too.
    most_measuring_ns
        Of the drive's time: what was asked for is measured whatever it takes, sizes and
        repetitions that ``auto`` adds only as far as this goes. ``None`` for no limit.
    is_full
        Measure every size, each test until its 90 % half-width is at most 10 % (section 4.2).
    directions
        What is measured.
    cost
        Of an optimisation that is asked about: what ``auto`` adds goes on once ratios are known,
        while answers are unsure whose gains are not known as well. ``None`` asks nothing. What is
        measured before does not depend on it.
    settling_bytes
        What a partial pass that writes transfers at least, by whether its order is random: enough
        to fill the drive's cache with the smallest requests, and with the largest.
    """

    intervals: tuple[Interval, ...] = tuple(Interval(*each) for each in BOITO2015_INTERVALS)
    points: int | Literal["auto"] = 2
    repetitions: int | Literal["auto"] = 4
    file_bytes: int = BOITO2015_FILES[-1]
    seed: int = 0
    share: float = 1.0
    half_width_ratio: float = 0.05
    most_repetitions: int = 200
    most_measuring_ns: float | None = None
    is_full: bool = False
    directions: tuple[Direction, ...] = DIRECTIONS
    cost: Cost | None = None
    settling_bytes: Mapping[bool, tuple[int, int]] = field(default_factory=dict)

    @property
    def scheme(self) -> Scheme:
        """How curves go between measured sizes."""
        if self.is_full:
            return "knots"
        return "kriged" if self.points == "auto" else "lines"

    @property
    def centre(self) -> Centre:
        """How repetitions are summed up."""
        return "robust" if self.repetitions == "auto" and not self.is_full else "mean"

    @property
    def sizes(self) -> list[int]:
        """Every size of the intervals once, rising."""
        return sorted({size for each in self.intervals for size in each.sizes})

    @property
    def is_auto(self) -> bool:
        """Whether passes are added until ratios are known."""
        return "auto" in {self.points, self.repetitions} and not self.is_full

    @property
    def ended_by(self) -> str:
        """What ends that before, in words."""
        limit = "--max-repetitions" if self.repetitions == "auto" else "--repetitions"
        if self.most_measuring_ns is not None:
            limit = "--max-time"
        return f"{limit} or the sizes to measure"

    def missed(self, half_width_ratio: float | None) -> bool:
        """Return whether ratios are less sure than what ``auto`` adds was to make them."""
        # What nobody knows was missed too.
        return self.is_auto and (
            half_width_ratio is None or half_width_ratio > self.half_width_ratio
        )

    def first_sizes(self) -> list[int]:
        """Return the sizes that are measured whatever comes out.

        Raises
        ------
        UsageError
            When there are too many points.
        """
        if self.is_full:
            return self.sizes
        points = 2 if self.points == "auto" else self.points
        return sorted({size for each in self.intervals for size in chosen(each, points, self.seed)})

    @property
    def first_repetitions(self) -> int:
        """How often they are."""
        if self.is_full:
            return min(FIRST_REPETITIONS, self.most_repetitions)
        return FIRST_PAIR if self.repetitions == "auto" else self.repetitions

    def one_pass(self, direction: Direction, is_random: bool, size: int) -> WholePass:
        """Return one pass of a test and size."""
        first = None
        if self.share < 1:
            whole = self.file_bytes // size
            settling = self._settling(is_random, size) if direction == "write" else 0
            least_bytes = max(settling, 0 if is_random else LEAST_IN_ORDER_BYTES)
            least = max(FEWEST_REQUESTS[is_random], math.ceil(least_bytes / size))
            first = min(whole, max(least, math.ceil(whole * self.share)))
        return WholePass(direction, is_random, size, self.file_bytes, first_requests=first)

    def may_send(self, one: WholePass) -> bool:
        """Return whether a pass is over this plan's file, in one of its directions and sizes."""
        is_size = any(one.request_bytes in each.sizes for each in self.intervals)
        return is_size and one.direction in self.directions and one.file_bytes == self.file_bytes

    def _settling(self, is_random: bool, size: int) -> float:
        """Return the bytes that fill the cache and settle: more of larger requests."""
        if is_random not in self.settling_bytes:
            return 0.0
        least, most = self.settling_bytes[is_random]
        largest = max(each.high_bytes for each in self.intervals)
        return least + (most - least) * math.sqrt(size / largest)

    def pilots(self) -> list[WholePass]:
        """Return the whole passes that tell how long partial writes have to be, one an order."""
        if self.share == 1 or "write" not in self.directions:
            return []
        whole = replace(self, share=1.0)
        return [whole.one_pass("write", is_random, self.sizes[-1]) for is_random in (False, True)]

    def after(self, pilots: Sequence[MeasuredPass]) -> ProfileSettings:
        """Return the plan whose partial passes are long enough by what the pilots tell."""
        settling = {}
        # In order the time is steady, and a cache fills at least as slowly as in random order.
        filling = min((one.filling_bytes for one in pilots), default=0)
        in_order = [one.absorbed_bytes for one in pilots if not one.whole_pass.is_random]
        is_seen = max(in_order, default=0) > _SEEN_BYTES
        least_seen = _SEEN_BYTES if is_seen else _SEEN_BY_CHANCE_BYTES
        for one in pilots:
            if one.absorbed_bytes <= least_seen:
                continue
            least = max(LEAST_SETTLING_BYTES, round(4 * one.absorbed_bytes))
            most = max(least, _SETTLED * filling)
            settling[one.whole_pass.is_random] = (least if one.whole_pass.is_random else most, most)
        return replace(self, settling_bytes=settling)

    def passes(self) -> list[WholePass]:
        """Return what is measured first, each repetition after the other.

        Raises
        ------
        UsageError
            When there are no sizes, no repetitions, too many points, or the file is too small.
        """
        self.check()
        sizes = self.first_sizes()
        return [
            self.one_pass(direction, is_random, size)
            for _ in range(self.first_repetitions)
            for direction in self.directions
            for is_random in (False, True)
            for size in sizes
        ]

    def passes_in_all(self) -> int | None:
        """Return how many passes a profile takes: exactly, or of a full one at most.

        ``None`` where passes are added until ratios are known.
        """
        if self.is_auto:
            return None
        repetitions = self.most_repetitions if self.is_full else self.first_repetitions
        tests = 2 * len(self.directions)
        return len(self.pilots()) + tests * len(self.first_sizes()) * repetitions

    def check(self) -> None:
        """Raise `UsageError` when nothing can be measured so."""
        if not self.intervals:
            raise UsageError("a profile needs at least one interval of request sizes")
        if self.repetitions != "auto" and self.repetitions < 1:
            raise UsageError(f"repetitions is {self.repetitions}; allowed: at least 1")
        # The full profile repeats six times before it asks how sure it is.
        least = FIRST_REPETITIONS if self.is_full else FIRST_PAIR
        if self.most_repetitions < least and (self.is_full or self.repetitions == "auto"):
            raise UsageError(
                f"at most {self.most_repetitions} repetitions; allowed: at least {least}"
            )
        if not 0 < self.share <= 1:
            raise UsageError(f"the share of a pass is {self.share}; allowed: above 0, at most 1")

    def to_json(self) -> dict[str, Any]:
        """Return the plan, JSON-able."""
        return {
            "size_intervals": [
                {
                    "low_bytes": each.low_bytes,
                    "high_bytes": each.high_bytes,
                    "gap_bytes": each.gap_bytes,
                }
                for each in self.intervals
            ],
            "points": self.points,
            "repetitions": self.repetitions,
            "file_bytes": self.file_bytes,
            "seed": self.seed,
            "pass_share_ratio": self.share,
            "half_width_ratio": self.half_width_ratio,
            "most_repetitions": self.most_repetitions,
            "most_measuring_ns": self.most_measuring_ns,
            "is_full": self.is_full,
            "directions": list(self.directions),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, cost: Cost | None = None) -> ProfileSettings:
        """Read what `to_json` wrote; `cost` is not part of it.

        Raises
        ------
        KeyError, TypeError, UsageError
            When it is not a plan.
        """
        intervals = tuple(
            Interval(each["low_bytes"], each["high_bytes"], each["gap_bytes"])
            for each in data["size_intervals"]
        )
        plan = cls(
            intervals=intervals,
            points=data["points"],
            repetitions=data["repetitions"],
            file_bytes=data["file_bytes"],
            seed=data["seed"],
            share=data["pass_share_ratio"],
            half_width_ratio=data["half_width_ratio"],
            most_repetitions=data["most_repetitions"],
            most_measuring_ns=data["most_measuring_ns"],
            is_full=data["is_full"],
            directions=tuple(data["directions"]),
            cost=cost,
        )
        plan.check()
        return plan
