"""Variability against the repetitions that Boito et al. 2015 needed on real drives.

They repeated every test, at least six times, until the 90 % confidence interval of its mean
(Student) was at most 10 % to each side. How often that is on average says how much drives of
a class vary, and nothing else about them: so the settings of `CLASSES` were chosen, and a preset
of a class is told its settings.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets import PresetSource
from drivelab.drives.simulated import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONFIDENCE: Final = 0.90
_HALF_WIDTH: Final = 0.10
_LEAST: Final = 6
# Machines of one class differ from its mean by more, see `most`.
_TOLERANCE: Final = 0.30
# A test that needs more ends there.
_MOST: Final = 400
_TESTS: Final = 2_000
# One second is about what a measurement lasts here, ten what one of theirs did.
_SECONDS: Final = (1.0, 10.0)


@dataclass(frozen=True)
class DriveClass:
    """Drives of one class.

    Attributes
    ----------
    name
        As the paper calls them.
    repetitions
        How many they needed on average, Boito et al. 2015, section 4.2.
    most
        How many the machine needed that varied most, there.
    settings
        Lines of a preset that bring that about.
    """

    name: str
    repetitions: int
    most: int
    settings: str


def _settings(sigma: float, probability: float, factor: float, correlated: float) -> str:
    return (
        f"variability.sigma = {sigma}\n"
        f"variability.outlier_probability = {probability}\n"
        f"variability.outlier_factor = {factor}\n"
        f"variability.correlated_sigma = {correlated}\n"
        "variability.correlation_time_ns = 60_000_000_000\n"
    )


CLASSES: Final = (
    DriveClass("hard disks", 17, 25, _settings(0.20, 0.01, 2.0, 0.12)),
    DriveClass("RAID-0", 43, 62, _settings(0.26, 0.03, 3.0, 0.15)),
    DriveClass("SSDs", 26, 39, _settings(0.22, 0.02, 3.0, 0.12)),
)


def repetitions(values: Sequence[float]) -> int | None:
    """Return after how many values their mean is known well enough, or `None` if it never is."""
    from scipy.stats import t

    total = squares = 0.0
    for count, value in enumerate(values, start=1):
        total += value
        squares += value * value
        if count < _LEAST:
            continue
        mean = total / count
        variance = max(0.0, squares - count * mean * mean) / (count - 1)
        # Far below it no quantile can help, and quantiles are slow.
        half_width = math.sqrt(variance / count)
        if half_width > _HALF_WIDTH * mean:
            continue
        quantile = float(t.ppf((1 + _CONFIDENCE) / 2, count - 1))
        if quantile * half_width <= _HALF_WIDTH * mean:
            return count
    return None


def counted_repetitions(drive: SimulatedDrive, seconds: float, *, tests: int = _TESTS) -> list[int]:
    """Return how often each test on `drive` is repeated.

    Parameters
    ----------
    drive
        With variability.
    seconds
        Of simulated time that one repetition takes.
    tests
        How many tests.
    """
    needed = []
    for first in range(0, tests * _MOST, _MOST):
        indices = range(first, first + _MOST)
        factors = drive.variability_factors(indices, seed=1, seconds=seconds)
        needed.append(repetitions(factors) or _MOST)
    return needed


def variability() -> Section:
    """Count repetitions by class, and compare a drive's measurements with its truth."""
    section = Section(
        "Variability against published repetitions", ".venv/bin/python -m validation variability"
    )
    section.say(
        "Boito et al. 2015 repeated each test, at least six times, until the 90 % confidence "
        "interval of its mean was within 10 %, and tell the mean number of repetitions by class. "
        "The settings below were fitted to these three numbers; that they are met proves that the "
        "two parts of the variability do what their settings say, no more. A repetition takes "
        "1 or 10 s of simulated time, each starts where the drift of the one before is forgotten."
    )
    rows = []
    scatter = []
    for each in CLASSES:
        with _drive(each.settings) as drive:
            counts = [counted_repetitions(drive, seconds) for seconds in _SECONDS]
        found = [statistics.mean(one) for one in counts]
        scatter += [statistics.stdev(one) / statistics.mean(one) for one in counts]
        holds = all(abs(one / each.repetitions - 1) <= _TOLERANCE for one in found)
        values = [line.rpartition(" = ")[2] for line in each.settings.splitlines()]
        rows.append((each.name, *values, each.repetitions, *(f"{one:.1f}" for one in found)))
        section.claim(
            f"{each.name}: repetitions within {100 * _TOLERANCE:.0f} % of {each.repetitions}",
            holds=holds,
            fitted=True,
        )
    excess = [each.most / each.repetitions - 1 for each in CLASSES]
    section.say(
        f"The tolerance is {100 * _TOLERANCE:.0f} % because drives of one class differ by more: of "
        "the three machines that each number is the mean of, the one that varied most needed "
        f"{', '.join(str(each.most) for each in CLASSES)}: {100 * min(excess):.0f} to "
        f"{100 * max(excess):.0f} % more than its class. The number of repetitions of a single "
        f"simulated test has a standard deviation of {100 * min(scatter):.0f} to "
        f"{100 * max(scatter):.0f} % of its mean, which is known within "
        f"{200 * max(scatter) / math.sqrt(_TESTS):.0f} % from {_TESTS:,} tests."
    )
    section.tabulate(
        (
            *("class", "`sigma`", "`outlier_probability`", "`outlier_factor`"),
            *("`correlated_sigma`", "`correlation_time_ns`"),
            *("published", "of 1 s", "of 10 s"),
        ),
        rows,
    )
    _truth(section)
    return section


def _truth(section: Section) -> None:
    """Compare a drive's measurements with its truth times their factors."""
    workload, plan = Characteristics(), MeasurementPlan(seed=1, requests=2_000)
    work = [(index, workload) for index in range(200)]
    with _drive("") as drive:
        truth = [each.latency_ns_mean for each in drive.measure(work, plan)]
    with _drive(CLASSES[2].settings, varies=False) as drive:
        switched_off = [each.latency_ns_mean for each in drive.measure(work, plan)]
    with _drive(CLASSES[2].settings) as drive:
        varied = list(drive.measure(work, plan))
    ratios = [
        each.latency_ns_mean / (true * each.extra["variability_factor"])
        for each, true in zip(varied, truth, strict=True)
    ]
    far = max(abs(ratio - 1) for ratio in ratios)
    section.say(
        f"On x25m with the settings of SSDs, {len(work)} measurements of 4 KiB random reads: each "
        f"mean latency is that of the drive without variability times the factor that it tells, "
        f"within {far:.1e}. With `--no-variability` all are the same as without, to the bit."
    )
    section.claim("measurements are the truth times their factors, within 0.1 %", holds=far < 1e-3)
    section.claim("switched off, measurements are the truth", holds=switched_off == truth)


def _drive(settings: str, *, varies: bool = True) -> SimulatedDrive:
    text = f'base = "x25m"\nname = "varying"\n{settings}'
    return SimulatedDrive("sim:varying", PresetSource("varying", text), varies=varies)
