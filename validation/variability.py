"""Variability against the repetitions that Boito et al. 2015 needed on real drives.

They repeated every test, at least six times, until the 90 % confidence interval of its mean
(Student) was at most 10 % to each side. How often that is on average says how much a machine
varies, and nothing else about it. The shape in their presets is assumed (most passes within
a few per cent, one in a hundred an outlier); how large an outlier is was fitted to these numbers.
The hours of their profiles, most of which are long tests, were not: they are shown as well.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import PresetSource
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.profile.measured_pass import measured_passes
from drivelab.reproduce.boito2015 import CLASS_REPETITIONS
from drivelab.reproduce.boito2015_drives import MACHINES, KnownDrive
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.whole_pass import MIB, WholePass
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.reproduce.boito2015_drives import Machine

# Of one simulated machine; see `_tolerance`.
_TOLERANCE: Final = 0.30
# Machines whose number the paper prints; for the others it has the class's mean.
_PRINTED: Final = ("Pastel", "Chimint", "Taurus", "Bali SSD")
_SETTINGS: Final = (
    "sigma",
    "outlier_probability",
    "outlier_factor",
    "correlated_sigma",
    "correlation_time_ns",
)


@dataclass(frozen=True)
class DriveClass:
    """Drives of one class.

    Attributes
    ----------
    name
        As tables here call them.
    kind
        As `Machine` does.
    """

    name: str
    kind: str

    @property
    def machines(self) -> tuple[Machine, ...]:
        """The three drives."""
        return tuple(each for each in MACHINES if each.kind == self.kind)

    @property
    def presets(self) -> tuple[str, ...]:
        """That stand for them."""
        return tuple(each.preset for each in self.machines)


CLASSES: Final = (
    DriveClass("hard disks", "HDD"),
    DriveClass("RAID-0", "RAID"),
    DriveClass("SSDs", "SSD"),
)


@dataclass(frozen=True)
class Counted:
    """Full profiles of one machine.

    Attributes
    ----------
    repetitions
        Of each test.
    hours_ratio
        Their time over that of one execution of all tests.
    """

    repetitions: tuple[int, ...]
    hours_ratio: float


def counted(machine: Machine, *, seed: int) -> Counted:
    """Repeat each test on a preset until its mean is known.

    Tests are passes at 134 sizes, reads and writes, in order and random, over the five files. A
    repetition takes the drive's own time for that pass, times the factor by which a measurement
    of that length takes longer.
    """
    drive = KnownDrive.simulate(machine)
    profiles = [
        drive.full_profile(file_bytes, 100 * seed + place)
        for place, file_bytes in enumerate(drive.files)
    ]
    once = sum(drive.execution_ns(file_bytes) for file_bytes in drive.files)
    return Counted(
        tuple(count for each in profiles for count in each.repetitions),
        sum(each.measuring_ns for each in profiles) / once,
    )


def variability() -> Section:
    """Count repetitions by machine and class, and compare a drive's measurements with its truth."""
    section = Section(
        "Variability against published repetitions", ".venv/bin/python -m validation variability"
    )
    section.say(
        "Boito et al. 2015 repeated each test, at least six times, until the 90 % confidence "
        "interval of its mean was within 10 %. They give the mean number of repetitions for each "
        "class and for the four machines that varied most. The other machines of a class get here "
        "what these leave of its mean; on disks that is 13, the smallest number that they give. "
        "Table 1 has the hours of these profiles, and of one execution of all tests. Their "
        "quotient is the mean of the repetitions, with each test weighted by its duration. It is "
        "smaller than the plain mean on all nine machines, and half of it on Chimint. So long "
        "tests were repeated less. In the presets most passes are within a few per cent of each "
        "other, and one in a hundred takes several times as long. That shape is assumed: section "
        "4.3 mentions outliers, but not how many. One setting, `outlier_factor`, was then fitted "
        "to each machine's repetitions. Agreement only proves that the parts of the variability "
        "do what their settings say. A test is a pass over a file of 40 to 1200 MiB, sequential "
        "or random, reads or writes, at one of the paper's 134 request sizes, and lasts as long "
        "as on that drive. Each repetition starts after the drift of the last one is forgotten. "
        "Reads and writes of an SSD vary in the same way here: the paper says that maintenance "
        "during writes makes SSDs vary, but gives no number for either."
    )
    counts = {each.name: counted(each, seed=seed) for seed, each in enumerate(MACHINES, start=1)}
    section.say(_tolerance([each.repetitions for each in counts.values()]))
    rows = []
    for drives in CLASSES:
        for each in drives.machines:
            found = counts[each.name]
            rows.append((each.name, drives.name, *_row(each, found)))
            if each.name in _PRINTED:
                _claim(section, each.name, found.repetitions, each.repetitions)
        everything = [count for each in drives.machines for count in counts[each.name].repetitions]
        _claim(section, drives.name, everything, CLASS_REPETITIONS[drives.kind])
    columns = ("repetitions published", "simulated", "hours published", "simulated")
    section.tabulate(("drive", "class", *(f"`{key}`" for key in _SETTINGS), *columns), rows)
    section.say(_hours(counts))
    _passes(section)
    _truth(section)
    return section


def _hours_ratio(machine: Machine) -> float:
    """Give the hours of the paper's profile over those of one execution."""
    return machine.profile_hours / machine.execution_hours


def _hours(counts: Mapping[str, Counted]) -> str:
    """Say how close the hours are, to which nothing was fitted."""
    off = [counts[each.name].hours_ratio / _hours_ratio(each) for each in MACHINES]
    met = sum(abs(one - 1) <= _TOLERANCE for one in off)
    return (
        "What does not hold: the hours, to which nothing was fitted. Those of "
        f"{met} of {len(off)} machines are within {100 * _TOLERANCE:.0f} % of the paper's; all are "
        f"{min(off):.2f} to {max(off):.2f} times the paper's. A factor for a whole pass makes long "
        "tests vary as much as short ones. Only a drift in the course of a pass makes them vary "
        "less."
    )


def _row(machine: Machine, found: Counted) -> tuple[str, ...]:
    with SimulatedDrive.open(f"sim:{machine.preset}") as drive:
        settings = drive.preset["variability"]
    values = (f"{settings[key]:,}" for key in _SETTINGS)
    return (
        *values,
        f"{machine.repetitions:g}",
        f"{statistics.mean(found.repetitions):.1f}",
        f"{_hours_ratio(machine):.1f}",
        f"{found.hours_ratio:.1f}",
    )


def _claim(section: Section, name: str, counts: Sequence[int], published: float) -> None:
    section.claim(
        f"{name}: repetitions within {100 * _TOLERANCE:.0f} % of {published:g}",
        holds=abs(statistics.mean(counts) / published - 1) <= _TOLERANCE,
        fitted=True,
    )


def _tolerance(counts: Sequence[Sequence[int]]) -> str:
    """Give the reason for the tolerance, by numbers of the tests themselves."""
    scatter = [statistics.stdev(each) / statistics.mean(each) for each in counts]
    tests = min(len(each) for each in counts)
    error = max(scatter) / math.sqrt(tests)
    return (
        f"The tolerance is {100 * _TOLERANCE:.0f} %: the number of repetitions of a single "
        f"simulated test has a standard deviation of {100 * min(scatter):.0f} to "
        f"{100 * max(scatter):.0f} % of its mean. So the mean of a machine's {tests} tests "
        f"has a standard error of up to {100 * error:.0f} %, and one profile on a real machine is "
        "just as uncertain. The tolerance is two such errors on both sides."
    )


def _passes(section: Section) -> None:
    """Compare passes with a drive's own times."""
    far = 0.0
    switched_off = True
    for each in CLASSES:
        name = f"sim:{each.presets[0]}"
        work = [(index, WholePass("read", False, MIB, 40 * MIB)) for index in range(100)]
        with SimulatedDrive.open(name, varies=False) as drive:
            truths = {one.duration_ns for one in measured_passes(drive, work, seed=1)}
        switched_off &= len(truths) == 1
        truth = truths.pop()
        with SimulatedDrive.open(name) as drive:
            for one in measured_passes(drive, work, seed=1):
                factor = one.variability_factor or math.nan
                far = max(far, abs(one.duration_ns / (truth * factor) - 1))
    section.say(
        "On one drive of each class, 100 sequential passes over 40 MiB: each takes the time "
        f"without variability multiplied by the reported factor, within {far:.1e}. With "
        "`--no-variability` all take the same time."
    )
    section.claim("passes take the truth times their factors, within 0.1 %", holds=far < 1e-3)
    section.claim("switched off, every pass in order takes the same time", holds=switched_off)


def _truth(section: Section) -> None:
    """Compare a drive's measurements with its truth times their factors."""
    workload, plan = Characteristics(), MeasurementPlan(seed=1, requests=2_000)
    work = [(index, workload) for index in range(200)]
    with SimulatedDrive.open("sim:intel-s3500") as drive:
        settings = drive.preset["variability"]
    with _drive({"sigma": 0.0}) as drive:
        truth = [each.latency_ns_mean for each in drive.measure(work, plan)]
    with _drive(settings, varies=False) as drive:
        switched_off = [each.latency_ns_mean for each in drive.measure(work, plan)]
    with _drive(settings) as drive:
        varied = list(drive.measure(work, plan))
    ratios = [
        each.latency_ns_mean / (true * each.extra["variability_factor"])
        for each, true in zip(varied, truth, strict=True)
    ]
    far = max(abs(ratio - 1) for ratio in ratios)
    section.say(
        f"On x25m with the settings of SSDs, {len(work)} measurements of 4 KiB random reads: each "
        "mean latency is that of the drive without variability multiplied by the reported factor, "
        f"within {far:.1e}. With `--no-variability` all are equal to that drive's, to the bit."
    )
    section.claim("measurements are the truth times their factors, within 0.1 %", holds=far < 1e-3)
    section.claim("switched off, measurements are the truth", holds=switched_off == truth)


def _drive(settings: dict[str, float], *, varies: bool = True) -> SimulatedDrive:
    lines = "\n".join(f"variability.{key} = {value}" for key, value in settings.items())
    text = f'base = "x25m"\nname = "varying"\n{lines}\n'
    return SimulatedDrive("sim:varying", PresetSource("varying", text), varies=varies)
