"""The nine drives of Boito et al. 2015, their true times, and any number of measurements.

A pass on a simulated drive takes its time without variability (its truth) times a factor. The
factor is drawn from its seed and index (`SimulatedDrive.variability_factors`);
validation/variability.py proves that this is exact within 0.1 %. So every pass is simulated once,
and each of the thousands of repetitions of the paper's method is that time multiplied by another
factor. This leaves out that repetitions of a random pass differ in their order.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.profile.measured_pass import evenly, measured_passes
from drivelab.profile.settings import DIRECTIONS
from drivelab.profile.spread import known_after
from drivelab.workloads.whole_pass import BOITO2015_FILES, BOITO2015_SIZES, WholePass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drivelab.profile.estimate import Test
    from drivelab.workloads.whole_pass import Direction

TESTS: Final[tuple[Test, ...]] = tuple(itertools.product(DIRECTIONS, (False, True)))
#: A test that needs more repetitions ends here: twice the most that any test was seen to need.
MOST_REPETITIONS: Final = 2000
# Random orders in addition to the truth's.
_ORDERS: Final = 3


@dataclass(frozen=True)
class Machine:
    """A drive of the paper.

    Attributes
    ----------
    preset
        The preset that represents it.
    name
        Its name in the paper.
    kind
        Its class in the paper: HDD, RAID or SSD.
    execution_hours, profile_hours
        Hours for one execution of all tests, and for the complete profile (table 1).
    minutes
        Minutes that SeRRa takes with 1 and with 4 repetitions (table 5).
    write_ratios, read_ratios
        Measured ratio, and SeRRa's ratio with 4 repetitions, at 1200 MiB (table 6).
    repetitions
        Average repetitions of each test (section 4.2). Printed for four machines; the others share
        what these leave of their class's mean equally.
    """

    preset: str
    name: str
    kind: str
    execution_hours: float
    profile_hours: float
    minutes: tuple[float, float]
    write_ratios: tuple[float, float]
    read_ratios: tuple[float, float]
    repetitions: float


MACHINES: Final = (
    Machine(
        "pastel-hds7225sc",
        "Pastel",
        "HDD",
        15.22,
        329.49,
        (93.21, 376.99),
        (2.02, 1.98),
        (2.24, 2.19),
        25,
    ),
    Machine(
        "graphene-hds72103",
        "Graphene",
        "HDD",
        12.26,
        120.38,
        (85.69, 341.50),
        (1.89, 1.75),
        (2.67, 2.57),
        13,
    ),
    Machine(
        "bali-st91000640ns",
        "Bali",
        "HDD",
        10.38,
        126.10,
        (74.03, 282.79),
        (1.74, 1.68),
        (2.61, 2.84),
        13,
    ),
    Machine(
        "chimint-st3300657ss-h",
        "Chimint",
        "RAID",
        2.33,
        69.13,
        (22.83, 72.73),
        (1.95, 1.80),
        (3.48, 3.25),
        62,
    ),
    Machine(
        "suno-st9300653ss",
        "Suno",
        "RAID",
        4.21,
        61.32,
        (28.12, 109.42),
        (1.71, 1.55),
        (2.76, 2.53),
        20,
    ),
    Machine(
        "taurus-st3300657ss",
        "Taurus",
        "RAID",
        2.43,
        57.95,
        (16.03, 64.54),
        (1.62, 1.32),
        (3.36, 2.78),
        47,
    ),
    Machine(
        "micron-c400",
        "Edel",
        "SSD",
        3.09,
        40.44,
        (5.92, 23.58),
        (0.99, 0.97),
        (1.08, 1.07),
        19.5,
    ),
    Machine(
        "intel-s3500",
        "Graphite",
        "SSD",
        3.45,
        60.90,
        (6.49, 24.86),
        (1.01, 1.04),
        (1.04, 1.06),
        19.5,
    ),
    Machine(
        "samsung-840",
        "Bali SSD",
        "SSD",
        2.67,
        82.49,
        (5.79, 21.52),
        (1.38, 1.64),
        (1.10, 1.09),
        39,
    ),
)
KINDS: Final = ("HDD", "RAID", "SSD")


class KnownDrive:
    """A simulated drive whose passes are known: `drivelab.profile` measures it, and it has a truth.

    Parameters
    ----------
    machine
        The drive of the paper.
    varying
        The simulated drive with its variability on.
    truths
        Duration in ns without variability, by test, file size and request size.
    """

    def __init__(
        self,
        machine: Machine,
        varying: SimulatedDrive,
        truths: dict[tuple[Test, int], dict[int, int]],
    ) -> None:
        self.machine = machine
        self.files = tuple(dict.fromkeys(file_bytes for _, file_bytes in truths))
        self.varying = varying
        self._truths = truths
        variability = varying.preset["variability"]
        # Standard deviation of the logarithm of a pass's factor, without outliers.
        self.sigma = math.hypot(variability["sigma"], variability["correlated_sigma"])

    @classmethod
    def simulate(cls, machine: Machine, files: Sequence[int] = BOITO2015_FILES) -> KnownDrive:
        """Simulate every pass of the paper over files of these sizes once, without variability."""
        name = f"sim:{machine.preset}"
        passes = [
            WholePass(*test, size, file_bytes)
            for file_bytes in files
            for test in TESTS
            for size in BOITO2015_SIZES
        ]
        truths: dict[tuple[Test, int], dict[int, int]] = {}
        with SimulatedDrive.open(name, varies=False) as drive:
            for one in measured_passes(drive, list(enumerate(passes)), seed=0):
                what = one.whole_pass
                test = (what.direction, what.is_random)
                by_size = truths.setdefault((test, what.file_bytes), {})
                by_size[what.request_bytes] = one.duration_ns
        return cls(machine, SimulatedDrive.open(name), truths)

    def order_error(self, direction: Direction, file_bytes: int) -> float:
        """Return how far the true ratios are from the mean over random orders.

        The truth is one pass per size in one random order. Small files have few requests, so their
        order matters. Who measures other orders knows at best the mean over orders. That mean is
        estimated from `_ORDERS` other orders, and the error of this estimate is taken off. The
        result is relative and absolute, the median over the sizes.
        """
        random = self._truths[(direction, True), file_bytes]
        passes = [WholePass(direction, True, size, file_bytes) for size in random]
        totals = dict.fromkeys(random, 0)
        with SimulatedDrive.open(self.varying.name, varies=False) as drive:
            for seed in range(1, _ORDERS + 1):
                for one in measured_passes(drive, list(enumerate(passes)), seed=seed):
                    totals[one.whole_pass.request_bytes] += one.duration_ns
        errors = (abs(totals[size] / _ORDERS / time - 1) for size, time in random.items())
        return statistics.median(errors) / math.sqrt(1 + 1 / _ORDERS)

    def truth(self, test: Test, file_bytes: int) -> dict[int, float]:
        """Return the true access times in ns by size."""
        durations = self._truths[test, file_bytes]
        return {size: time / (file_bytes // size) for size, time in durations.items()}

    def true_ratios(self, direction: str, file_bytes: int) -> dict[int, float]:
        """Return the true ratios by size."""
        in_order, random = (
            self._truths[test, file_bytes] for test in TESTS if test[0] == direction
        )
        return {size: random[size] / time for size, time in in_order.items()}

    def execution_ns(self, file_bytes: int) -> int:
        """Return how long one pass of every test and size takes."""
        return sum(sum(self._truths[test, file_bytes].values()) for test in TESTS)

    def measure(
        self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Return the times that these whole passes would take."""
        for index, one in work:
            truth = self._truths[(one.direction, one.is_random), one.file_bytes][one.request_bytes]
            seconds = truth / 1e9
            (factor,) = self.varying.variability_factors([index], seed=plan.seed, seconds=seconds)
            yield evenly(index, one, round(truth * factor), factor=factor)

    def full_profile(self, file_bytes: int, seed: int) -> FullProfile:
        """Repeat every test and size until its mean is known (section 4.2)."""
        means: dict[Test, dict[int, float]] = {}
        repetitions, total = [], 0.0
        first = 0
        for test in TESTS:
            times = means.setdefault(test, {})
            for size, truth in self._truths[test, file_bytes].items():
                indices = range(first, first + MOST_REPETITIONS)
                first += MOST_REPETITIONS
                factors = factors_until_known(self.varying, indices, seed, truth)
                count = len(factors)
                mean = sum(factors) / count
                times[size] = truth * mean / (file_bytes // size)
                repetitions.append(count)
                total += truth * mean * count
        return FullProfile(means, tuple(repetitions), total)


def factors_until_known(
    drive: SimulatedDrive, indices: Sequence[int], seed: int, truth_ns: int
) -> list[float]:
    """Draw a pass's factors until their mean is known (section 4.2), or the indices are used up.

    Parameters
    ----------
    drive
        The drive that the factors belong to, with its variability on.
    indices
        Indices of the repetitions.
    seed
        The seed; seed and index together determine a factor.
    truth_ns
        Duration of the pass without variability.
    """
    factors: list[float] = []
    while len(factors) < len(indices):
        some = indices[len(factors) : max(12, 2 * len(factors))]
        factors += drive.variability_factors(some, seed=seed, seconds=truth_ns / 1e9)
        count = known_after(factors)
        if count is not None:
            return factors[:count]
    return factors


@dataclass(frozen=True)
class FullProfile:
    """A profile with every size measured.

    Attributes
    ----------
    access_times_ns
        Mean access times, by test and size.
    repetitions
        Repetitions of each test and size.
    measuring_ns
        Time of all passes together.
    """

    access_times_ns: dict[Test, dict[int, float]]
    repetitions: tuple[int, ...]
    measuring_ns: float

    def ratios(self, direction: str) -> dict[int, float]:
        """Return the ratios by size."""
        in_order, random = (self.access_times_ns[test] for test in TESTS if test[0] == direction)
        return {size: random[size] / time for size, time in in_order.items()}

    def mean_ratio(self, direction: str) -> float:
        """Return the mean ratio over the sizes, each with the same weight."""
        ratios = self.ratios(direction)
        return sum(ratios.values()) / len(ratios)
