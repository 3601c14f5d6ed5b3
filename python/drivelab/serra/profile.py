"""A fast profile of a drive: few sizes measured, every size estimated (Boito et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError
from drivelab.serra.estimate import Ratios, Test, estimated, mean_access_times, ratios
from drivelab.serra.sizes import Interval, chosen
from drivelab.workloads.whole_pass import BOITO2015_FILES, BOITO2015_INTERVALS, WholePass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from drivelab.drives.whole_passes import PassMeasurement
    from drivelab.workloads.whole_pass import Direction

    class PassDrive(Protocol):
        """A drive that transfers files."""

        def measure_passes(
            self, work: Sequence[tuple[int, WholePass]], *, seed: int
        ) -> Iterator[PassMeasurement]:
            """Measure each pass, in order."""


DIRECTIONS: Final[tuple[Direction, ...]] = ("read", "write")


@dataclass(frozen=True)
class ProfilePlan:
    """What is measured; the defaults are the paper's.

    Attributes
    ----------
    intervals
        Of request sizes.
    points
        Sizes of each interval that are measured, its ends among them.
    repetitions
        Passes of each test and size; the mean counts.
    file_bytes
        Of the file, at least the largest size.
    seed
        Key of the choice of sizes and of the random orders.
    """

    intervals: tuple[Interval, ...] = tuple(Interval(*each) for each in BOITO2015_INTERVALS)
    points: int = 2
    repetitions: int = 4
    file_bytes: int = BOITO2015_FILES[-1]
    seed: int = 0

    def passes(self) -> list[WholePass]:
        """Return what is measured, each repetition after the other.

        Raises
        ------
        UsageError
            When there are no sizes, no repetitions, or too many points.
        """
        if not self.intervals:
            raise UsageError("a profile needs at least one interval of request sizes")
        if self.repetitions < 1:
            raise UsageError(f"repetitions is {self.repetitions}; allowed: at least 1")
        sizes = {size for each in self.intervals for size in chosen(each, self.points, self.seed)}
        return [
            WholePass(direction, is_random, size, self.file_bytes)
            for _ in range(self.repetitions)
            for direction in DIRECTIONS
            for is_random in (False, True)
            for size in sorted(sizes)
        ]


@dataclass(frozen=True)
class Profile:
    """What was measured, and what follows for every size.

    Attributes
    ----------
    measured
        Every pass.
    access_times_ns
        Estimated, by test and size in bytes.
    ratios
        By direction.
    """

    measured: tuple[PassMeasurement, ...]
    access_times_ns: dict[Test, dict[int, float]]
    ratios: dict[Direction, Ratios]

    @property
    def measuring_ns(self) -> int:
        """Time that the passes took."""
        return sum(each.duration_ns for each in self.measured)


def profile(drive: PassDrive, plan: ProfilePlan) -> Profile:
    """Measure and estimate.

    Parameters
    ----------
    drive
        That transfers files; its variability is part of what is measured.
    plan
        What is measured.

    Raises
    ------
    UsageError
        When the plan is impossible on this drive.
    RunError
        When the drive fails, or its times give no ratio.
    """
    measured = tuple(drive.measure_passes(list(enumerate(plan.passes())), seed=plan.seed))
    return from_passes(measured, plan.intervals)


def from_passes(measured: Sequence[PassMeasurement], intervals: Sequence[Interval]) -> Profile:
    """Estimate every size of the intervals from passes that were measured.

    Both orders of a direction are needed, and at least two sizes of each in every interval.
    """
    times = mean_access_times(measured)
    curves = {test: estimated(intervals, by_size) for test, by_size in times.items()}
    directions = [each for each in DIRECTIONS if (each, True) in curves and (each, False) in curves]
    return Profile(
        tuple(measured),
        curves,
        {each: ratios(curves[each, False], curves[each, True]) for each in directions},
    )
