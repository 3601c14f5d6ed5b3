"""How far estimates and ratios are from the truth: settings of Boito et al. 2015, and ours."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from drivelab.reproduce.boito2015_drives import KINDS, TESTS, FullProfile, KnownDrive
from drivelab.serra.estimate import weights
from drivelab.serra.plan import DIRECTIONS, ProfilePlan
from drivelab.serra.profile import profile
from drivelab.serra.sizes import Interval, chosen
from drivelab.workloads.whole_pass import BOITO2015_FILES, BOITO2015_INTERVALS, WholePass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from drivelab.serra.profile import PassDrive, Profile

POINTS: Final = range(2, 9)
REPETITIONS: Final = (1, 2, 4)
#: Half-width of the ratios at which repetitions of our own profiles end: a median error of 1 %, so
#: that as much is left for what lies between the measured sizes.
HALF_WIDTH: Final = 0.03
#: Of the file, sent by each partial pass.
SHARE: Final = 0.005
#: Our profiles by whole passes may take one over this of the full profile's time, by class.
WHOLE_LIMIT: Final = {"HDD": 20, "RAID": 20, "SSD": 100}
PARTIAL_LIMIT: Final = 500
# Of the limit: outliers take time that nobody foresees.
_FORESEEN: Final = 0.9
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
        Whose.
    direction, is_random
        The test.
    interval
        1 or 2.
    points
        Sizes measured of it, once each.
    file_bytes
        Of the file.
    error
        Of the access time, relative, absolute, median over the interval's sizes.
    """

    machine: str
    kind: str
    direction: str
    is_random: bool
    interval: int
    points: int
    file_bytes: int
    error: float


@dataclass(frozen=True)
class RatioError:
    """One point of figure 3, or one profile of ours.

    Attributes
    ----------
    machine, kind
        Whose.
    direction
        Of the ratios.
    setting
        Repetitions of the paper's profile, ``whole`` or ``partial`` of ours.
    file_bytes
        Of the file.
    error
        Of the ratio, relative, absolute, median over the sizes.
    mean_ratio
        Over the sizes.
    measuring_ns
        Of the profile, both directions.
    passes
        Of each order of the direction.
    bound
        Error that so many passes have by the preset's variability alone.
    """

    machine: str
    kind: str
    direction: str
    setting: str
    file_bytes: int
    error: float
    mean_ratio: float
    measuring_ns: float
    passes: int
    bound: float


def estimation_errors(drive: KnownDrive, seed: int) -> list[EstimationError]:
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
                        for one in drive.measure_passes(work, seed=seed)
                    }
                    error = statistics.median(
                        abs(sum(part * times[each] for each, part in row.items()) / truth[size] - 1)
                        for size, row in weights([interval], sizes).items()
                    )
                    machine = drive.machine
                    found.append(
                        EstimationError(
                            *(machine.name, machine.kind, *test),
                            *(number, points, file_bytes, error),
                        )
                    )
    return found


def paper_errors(drive: KnownDrive, seed: int) -> list[RatioError]:
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
                ProfilePlan(
                    repetitions=repetitions,
                    file_bytes=file_bytes,
                    seed=_seed(seed, file_bytes, repetitions),
                ),
            ),
            file_bytes,
        )
    ]


def whole_errors(drive: KnownDrive, seed: int, full: dict[int, FullProfile]) -> list[RatioError]:
    """Profile by whole passes in the time of `WHOLE_LIMIT`, sizes and repetitions by the tool."""
    limit = WHOLE_LIMIT[drive.machine.kind]
    return [
        one
        for file_bytes in drive.files
        for one in ratio_errors(
            drive,
            "whole",
            profile(
                drive,
                _chosen_plan(
                    file_bytes, _seed(seed, file_bytes, 8), full[file_bytes].measuring_ns / limit
                ),
            ),
            file_bytes,
        )
    ]


def partial_errors(
    drive: KnownDrive,
    seed: int,
    full: dict[int, FullProfile],
    *,
    told: Callable[[str], None] = lambda _text: None,
    half_width_ratio: float = HALF_WIDTH,
) -> list[RatioError]:
    """Profile by partial passes, likewise in that of `PARTIAL_LIMIT`, on the simulator itself."""
    found = []
    passes: PassDrive = drive.varying
    for file_bytes in drive.files:
        plan = replace(
            _chosen_plan(
                file_bytes,
                _seed(seed, file_bytes, 9),
                full[file_bytes].measuring_ns / PARTIAL_LIMIT,
            ),
            half_width_ratio=half_width_ratio,
            share=SHARE,
        )
        found += ratio_errors(drive, "partial", profile(passes, plan), file_bytes)
        told(f"{drive.machine.name}: partial passes over {file_bytes >> 20} MiB")
    return found


def _chosen_plan(file_bytes: int, seed: int, limit_ns: float) -> ProfilePlan:
    """Return a plan that leaves sizes and repetitions to the tool, within a time."""
    return ProfilePlan(
        points="auto",
        repetitions="auto",
        half_width_ratio=HALF_WIDTH,
        most_measuring_ns=_FORESEEN * limit_ns,
        file_bytes=file_bytes,
        seed=seed,
    )


def ratio_errors(
    drive: KnownDrive, setting: str, found: Profile, file_bytes: int
) -> list[RatioError]:
    """Hold both directions' ratios against the truth."""
    errors = []
    for direction in DIRECTIONS:
        ratios = found.ratios[direction]
        truth = drive.true_ratios(direction, file_bytes)
        counts = found.centres[direction].repetitions[direction, True]
        passes = sum(counts.values())
        errors.append(
            RatioError(
                drive.machine.name,
                drive.machine.kind,
                direction,
                setting,
                file_bytes,
                statistics.median(
                    abs(ratios.by_size[size] / ratio - 1) for size, ratio in truth.items()
                ),
                ratios.mean,
                found.measuring_ns,
                passes,
                _PROBABLE * drive.sigma * (2 / passes) ** 0.5,
            )
        )
    return errors


def median_of(errors: Sequence[Any], **where: object) -> float:
    """Return the median error of those whose attributes are so; ``kind=None`` is every class."""
    wanted = {name: value for name, value in where.items() if value is not None}
    return float(statistics.median(_errors(errors, wanted)))


def share_below(errors: Sequence[Any], limit: float, **where: object) -> float:
    """Return the share of errors of at most `limit`, 0 to 1."""
    found = _errors(errors, where)
    return sum(error <= limit for error in found) / len(found)


def _errors(errors: Sequence[Any], where: Mapping[str, object]) -> list[float]:
    return [
        float(one.error)
        for one in errors
        if all(getattr(one, name) == value for name, value in where.items())
    ]


def classes() -> tuple[str | None, ...]:
    """Return the classes as tables 3 and 4 list them; ``None`` is all drives."""
    return (*KINDS, None)


def _seed(seed: int, file_bytes: int, setting: int) -> int:
    return 1000 * seed + 10 * _PLACES[file_bytes] + setting
