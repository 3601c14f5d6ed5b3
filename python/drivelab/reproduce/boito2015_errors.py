"""How far estimates and ratios are off, with the settings of Boito et al. 2015 and with ours.

The paper compares with its full profile. Most tests of that profile end after six repetitions and
so miss rare outliers. Every case has the error from the full profile (`full_error`). Our own
profiles are compared with the truth, the same drive without variability, and every case has that
error too (`error`).
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab.profile.estimate import estimated_pair, ratios, weights
from drivelab.profile.measured import profile
from drivelab.profile.measured_pass import measured_passes
from drivelab.profile.settings import DIRECTIONS, ProfileSettings
from drivelab.profile.sizes import Interval, chosen
from drivelab.reproduce.boito2015_drives import KINDS, TESTS, FullProfile, KnownDrive
from drivelab.workloads.whole_pass import BOITO2015_FILES, BOITO2015_INTERVALS, WholePass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drivelab.profile.estimate import Ratios
    from drivelab.profile.measured_pass import PassDrive
    from drivelab.profile.profile import Profile
    from drivelab.workloads.whole_pass import Direction

#: The difference from the truth, or from the full profile.
Of = Literal["error", "full_error"]

POINTS: Final = range(2, 9)
REPETITIONS: Final = (1, 2, 4)
#: Half-width of the ratios at which our own profiles end; it corresponds to a median error of 0.7
#: %.
HALF_WIDTH: Final = 0.02
#: Share of the file that each partial pass sends.
SHARE: Final = 0.005
#: Our whole-pass profiles may take the full profile's time divided by this, by class.
WHOLE_LIMIT: Final = {"HDD": 20, "RAID": 20, "SSD": 100}
PARTIAL_LIMIT: Final = 500
#: Number of our own profiles per drive and file size. One profile errs in the same direction at
#: most sizes, so with one per drive the median over a class's three drives would be largely chance.
OWN_PROFILES: Final = 4
# Share of the time limit that is planned; the rest is for outliers, which nobody can foresee.
_FORESEEN: Final = 0.95
_INTERVALS: Final = tuple(Interval(*each) for each in BOITO2015_INTERVALS)
_PLACES: Final = {size: place for place, size in enumerate(BOITO2015_FILES)}
# Median of the absolute value of a normal number.
_PROBABLE: Final = 0.674489750196082


@dataclass(frozen=True)
class EstimationError:
    """One point of figure 2.

    Attributes
    ----------
    machine, kind
        The machine's name and class.
    direction, is_random
        The test.
    interval
        1 or 2.
    points
        Number of sizes measured in the interval, once each.
    file_bytes
        Size of the file in bytes.
    error, full_error
        Relative, absolute error of the access time, as the median over the interval's sizes: from
        the truth, and from the full profile.
    """

    machine: str
    kind: str
    direction: str
    is_random: bool
    interval: int
    points: int
    file_bytes: int
    error: float
    full_error: float


@dataclass(frozen=True)
class RatioError:
    """One point of figure 3, or one profile of ours.

    Attributes
    ----------
    machine, kind
        The machine's name and class.
    direction
        Direction of the ratios.
    setting
        Number of repetitions for the paper's profile; ``whole`` or ``partial`` for ours.
    file_bytes
        Size of the file in bytes.
    error, full_error
        Relative, absolute error of the ratio, as the median over the sizes: from the truth, and
        from the full profile.
    mean_ratio
        Mean ratio over the sizes.
    measuring_ns
        Time of the profile, both directions.
    passes
        Number of passes in this direction, sequential and random.
    bound
        Error that the preset's variability leaves the best estimator in the same simulated time.
        That estimator knows both curves up to one factor each and makes only the shortest passes.
    shape
        Error that the same sizes leave without variability, from estimating between them.
    inside
        Share of the sizes whose 95 % interval contains the true ratio.
    order
        Error that remains because the truth has one random order; 0 for passes with the same order.
    """

    machine: str
    kind: str
    direction: str
    setting: str
    file_bytes: int
    error: float
    full_error: float
    mean_ratio: float
    measuring_ns: float
    passes: int
    bound: float
    shape: float
    inside: float
    order: float = 0.0


def estimation_errors(
    drive: KnownDrive, seed: int, full: Mapping[int, FullProfile]
) -> list[EstimationError]:
    """Measure 2 to 8 sizes of each interval once and estimate the others (section 4.2)."""
    found = []
    index = 0
    for file_bytes in drive.files:
        for test in TESTS:
            truth = drive.truth(test, file_bytes)
            for number, interval in enumerate(_INTERVALS, start=1):
                for points in POINTS:
                    sizes = chosen(interval, points, seed * 1000 + index)
                    work = [
                        (index + place, WholePass(*test, size, file_bytes))
                        for place, size in enumerate(sizes)
                    ]
                    index += len(work)
                    times = {
                        one.whole_pass.request_bytes: one.access_time_ns
                        for one in measured_passes(drive, work, seed=seed)
                    }
                    line = {
                        size: sum(part * times[each] for each, part in row.items())
                        for size, row in weights([interval], sizes).items()
                    }
                    known = full[file_bytes].access_times_ns[test]
                    machine = drive.machine
                    found.append(
                        EstimationError(
                            *(machine.name, machine.kind, *test),
                            *(number, points, file_bytes),
                            *(_median_error(line, truth), _median_error(line, known)),
                        )
                    )
    return found


def _median_error(found: Mapping[int, float], expected: Mapping[int, float]) -> float:
    return statistics.median(abs(value / expected[size] - 1) for size, value in found.items())


def paper_errors(drive: KnownDrive, seed: int, full: Mapping[int, FullProfile]) -> list[RatioError]:
    """Profile with 2 points an interval and 1, 2 and 4 repetitions (section 4.3)."""
    return [
        one
        for file_bytes in drive.files
        for repetitions in REPETITIONS
        for one in ratio_errors(
            drive,
            str(repetitions),
            profile(
                drive,
                ProfileSettings(
                    repetitions=repetitions,
                    file_bytes=file_bytes,
                    seed=_seed(seed, file_bytes, repetitions),
                ),
            ),
            full[file_bytes],
        )
    ]


def whole_errors(
    drive: KnownDrive,
    seed: int,
    full: dict[int, FullProfile],
    *,
    own_profiles: int = OWN_PROFILES,
) -> list[RatioError]:
    """Profile by whole passes within `WHOLE_LIMIT`; the tool chooses sizes and repetitions."""
    found = []
    for file_bytes, one_seed in _own_profiles(drive, seed, 8, own_profiles):
        limit_ns = full[file_bytes].measuring_ns / WHOLE_LIMIT[drive.machine.kind]
        plan = _chosen_plan(file_bytes, one_seed, limit_ns)
        found += ratio_errors(drive, "whole", profile(drive, plan), full[file_bytes])
    return found


def partial_errors(
    drive: KnownDrive,
    seed: int,
    full: dict[int, FullProfile],
    *,
    half_width_ratio: float = HALF_WIDTH,
    own_profiles: int = OWN_PROFILES,
) -> list[RatioError]:
    """Profile by partial passes within `PARTIAL_LIMIT`, each simulated."""
    found = []
    passes: PassDrive = drive.varying
    orders: dict[tuple[str, int], float] = {
        (direction, file_bytes): drive.order_error(direction, file_bytes)
        for direction in DIRECTIONS
        for file_bytes in drive.files
    }
    for file_bytes, one_seed in _own_profiles(drive, seed, 9, own_profiles):
        limit_ns = full[file_bytes].measuring_ns / PARTIAL_LIMIT
        plan = replace(
            _chosen_plan(file_bytes, one_seed, limit_ns),
            half_width_ratio=half_width_ratio,
            share=SHARE,
        )
        found += [
            replace(one, order=orders[one.direction, file_bytes])
            for one in ratio_errors(drive, "partial", profile(passes, plan), full[file_bytes])
        ]
    return found


def _own_profiles(
    drive: KnownDrive, seed: int, setting: int, count: int
) -> Iterator[tuple[int, int]]:
    """Yield file sizes and seeds, `count` profiles per file size; seeds of drives are below 100."""
    for file_bytes in drive.files:
        for number in range(count):
            yield file_bytes, _seed(seed + 100 * number, file_bytes, setting)


def _chosen_plan(file_bytes: int, seed: int, limit_ns: float) -> ProfileSettings:
    """Return a plan that lets the tool choose sizes and repetitions within a time."""
    return ProfileSettings(
        points="auto",
        repetitions="auto",
        half_width_ratio=HALF_WIDTH,
        most_measuring_ns=_FORESEEN * limit_ns,
        file_bytes=file_bytes,
        seed=seed,
    )


def ratio_errors(
    drive: KnownDrive, setting: str, found: Profile, full: FullProfile
) -> list[RatioError]:
    """Compare both directions' ratios with the truth and with the full profile."""
    errors = []
    file_bytes = found.measured[0].whole_pass.file_bytes
    for direction in DIRECTIONS:
        by_size = found.ratios[direction].by_size
        truth = drive.true_ratios(direction, file_bytes)
        errors.append(
            RatioError(
                drive.machine.name,
                drive.machine.kind,
                direction,
                setting,
                file_bytes,
                _median_error(by_size, truth),
                _median_error(by_size, full.ratios(direction)),
                found.ratios[direction].mean,
                found.measuring_ns,
                sum(one.whole_pass.direction == direction for one in found.measured),
                _bound(drive.sigma, found, direction),
                _shape_error(drive, found, direction, truth),
                _inside(found.ratios[direction], truth),
            )
        )
    return errors


def _bound(sigma: float, found: Profile, direction: Direction) -> float:
    """Return the least median error that variability allows in a profile's time.

    n sequential passes of c ns and m random ones of d ns know a ratio with the relative variance
    sigma^2 (1/n + 1/m). In the time T = n c + m d that is least if n sqrt(c) = m sqrt(d): sigma^2
    (sqrt(c) + sqrt(d))^2 / T. An outlier adds no information and takes time.
    """
    passes = [one for one in found.measured if one.whole_pass.direction == direction]
    shortest = (
        min(one.duration_ns for one in passes if one.whole_pass.is_random == is_random)
        for is_random in (False, True)
    )
    total = sum(one.duration_ns for one in passes)
    return _PROBABLE * sigma * sum(map(math.sqrt, shortest)) / math.sqrt(total)


def _inside(ratios: Ratios, truth: Mapping[int, float]) -> float:
    held = [low <= truth[size] <= high for size, (low, high) in ratios.bounds.items()]
    return sum(held) / len(held) if held else 0.0


def _shape_error(
    drive: KnownDrive, found: Profile, direction: Direction, truth: Mapping[int, float]
) -> float:
    """Return the error of the ratios if the measured sizes had their true access times."""
    file_bytes = found.measured[0].whole_pass.file_bytes
    in_order, random = (
        {
            size: drive.truth((direction, is_random), file_bytes)[size]
            for size in found.centres[direction].times_ns[direction, is_random]
        }
        for is_random in (False, True)
    )
    exact = (dict.fromkeys(in_order, 0.0), dict.fromkeys(random, 0.0))
    curves = estimated_pair(_INTERVALS, (in_order, random), found.scheme, exact)
    found_ratios = ratios(curves.in_order.times_ns, curves.random.times_ns)
    return _median_error(found_ratios.by_size, truth)


def median_of(errors: Sequence[Any], *, of: Of = "full_error", **where: object) -> float:
    """Return the median error of cases with these attributes; ``kind=None`` is every class."""
    wanted = {name: value for name, value in where.items() if value is not None}
    return float(statistics.median(_errors(errors, of, wanted)))


def share_below(
    errors: Sequence[Any], limit: float, *, of: Of = "full_error", **where: object
) -> float:
    """Return the share of errors of at most `limit`, 0 to 1."""
    found = _errors(errors, of, where)
    return sum(error <= limit for error in found) / len(found)


def _errors(errors: Sequence[Any], of: Of, where: Mapping[str, object]) -> list[float]:
    return [
        float(getattr(one, of))
        for one in errors
        if all(getattr(one, name) == value for name, value in where.items())
    ]


def classes() -> tuple[str | None, ...]:
    """Return the classes as tables 3 and 4 list them; ``None`` is all drives."""
    return (*KINDS, None)


def _seed(seed: int, file_bytes: int, setting: int) -> int:
    return 1000 * seed + 10 * _PLACES[file_bytes] + setting
