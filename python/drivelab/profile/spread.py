"""How sure access times and ratios are, from repetitions of the same passes.

Repetitions of a pass differ by a factor: a pass takes 5 % longer whether that is a millisecond or a
minute. So the spread is a relative one, and about the same for all sizes and both orders of a
direction; it is estimated from all of them together. Where passes are partial, few requests make
chance large at some sizes of one order: kriged curves take each size's spread from near sizes of
its test, as far as these tell, and from all where they do not. The interval of a ratio follows from
the relative variance of both access times (delta method), by Student's t on the logarithm::

    var(log t_k)  = v / n_k
    v(s)          = (sum over k of K(s, k) squares_k + 2 v) / (sum over k of K(s, k) d_k + 2)
    low, high     = ratio exp(-+ t sqrt(var(log random - log in order)))

with n_k the repetitions of a measured size k, d_k their degrees of freedom, v the relative variance
of one repetition, of all sizes or of near ones, and K 1 at the size itself and 0.6 at one twice as
large; what follows for ratios and for the sizes between is estimate.py's.

``mean`` takes the arithmetic mean of repetitions, as Boito et al. 2015 do. ``robust`` takes
Huber's estimate of location (Huber 1964, with k = 1.5) of the logarithms, without those that are
five standard deviations from the median of their pass: a rare repetition that takes several times
as long does not move it; both orders of a direction err alike, so ratios stay right. Of two
repetitions that far apart nobody knows which is right: `undecided` names their passes. One alone
may be such a repetition itself, and counts for less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from drivelab.profile.estimate import Test
    from drivelab.profile.measured_pass import MeasuredPass

Centre = Literal["mean", "robust"]
#: Access times in ns of every repetition, by test and size.
Repetitions = dict["Test", dict[int, list[float]]]

#: Of a ratio's interval.
CONFIDENCE: Final = 0.95
#: Fewer degrees of freedom end no profile: a spread that is small by luck would.
LEAST_DEGREES: Final = 12
# Of the paper's full profile, section 4.2.
_FULL_CONFIDENCE: Final = 0.90
_FULL_HALF_WIDTH: Final = 0.10
_FULL_LEAST: Final = 6
_HUBER_K: Final = 1.5
_HUBER_COST: Final = 1.05
# In standard deviations: what is further from the median of its pass met something else.
_FAR: Final = 5.0
_STEPS: Final = 30
# Of the logarithm of a size: near sizes spread alike. What all sizes tell counts as so many
# repetitions more.
_NEAR: Final = 0.7
_PRIOR_DEGREES: Final = 2.0
# No curve follows its model more closely, even where no pass differs from its repetition.
_LEAST_VARIANCE: Final = 0.001**2
# Of the logarithm, of a repetition that may be an outlier: one in fifty, five times as long.
_ALONE: Final = 0.02 * math.log(5) ** 2
# Of a normal distribution: median absolute deviation to standard deviation.
_MAD_FACTOR: Final = 1.482602218505602


def gathered(passes: Iterable[MeasuredPass]) -> Repetitions:
    """Return access times by test and size, sizes rising."""
    found: Repetitions = {}
    for one in passes:
        what = one.whole_pass
        by_size = found.setdefault((what.direction, what.is_random), {})
        by_size.setdefault(what.request_bytes, []).append(one.access_time_ns)
    return {test: dict(sorted(by_size.items())) for test, by_size in found.items()}


@dataclass(frozen=True)
class Centres:
    """Access times of both orders of a direction, and how sure they are.

    Attributes
    ----------
    times_ns
        By test and size.
    repetitions
        How many there are, likewise.
    variance
        Relative variance of one repetition; ``None`` where nothing was repeated.
    degrees
        Of freedom, of that variance.
    alone
        Relative variance more of one repetition that no other confirms.
    squares
        Sums of squared relative deviations, by test and size.
    """

    times_ns: dict[Test, dict[int, float]]
    repetitions: dict[Test, dict[int, int]]
    variance: float | None
    degrees: int
    alone: float = 0.0
    squares: dict[Test, dict[int, float]] = field(default_factory=dict)

    def variances(self, test: Test) -> dict[int, float]:
        """Return the relative variances of a test's access times; none if nobody knows them."""
        counts = self.repetitions[test]
        return self._of_centres(test, [self.variance or 0.0] * len(counts))

    def near_variances(self, test: Test) -> dict[int, float]:
        """Return the same by the spread of near sizes of the test."""
        return self._of_centres(test, self.spread_at(test, list(self.repetitions[test])))

    def _of_centres(self, test: Test, spread: Iterable[float]) -> dict[int, float]:
        """Return the variances of centres whose repetitions spread so."""
        if self.variance is None:
            return {}
        return {
            size: float(each) / count + (self.alone if count == 1 else 0.0)
            for (size, count), each in zip(self.repetitions[test].items(), spread, strict=True)
        }

    def spread_at(self, test: Test, sizes: Sequence[int]) -> NDArray[np.float64]:
        """Return the relative variance of one repetition at sizes in bytes, by near ones."""
        import numpy as np

        counts = self.repetitions[test]
        known, some = (np.log(np.asarray(each, float)) for each in (list(counts), sizes))
        near = np.exp(-0.5 * ((some[:, np.newaxis] - known) / _NEAR) ** 2)
        squares = np.array([self.squares[test][size] for size in counts])
        degrees = np.array(list(counts.values())) - 1
        of_all = _PRIOR_DEGREES * max(self.variance or 0.0, _LEAST_VARIANCE)
        found: NDArray[np.float64] = (near @ squares + of_all) / (near @ degrees + _PRIOR_DEGREES)
        return found

    def reach(self) -> float:
        """Return how many standard errors an interval reaches to each side; 0 if nobody knows."""
        return student(CONFIDENCE, self.degrees) if self.degrees else 0.0


def centres(repeated: Repetitions, how: Centre = "mean") -> Centres:
    """Take the centre of every test and size, and their common spread."""
    import numpy as np

    centred: dict[Test, dict[int, float]] = {}
    squares: dict[Test, dict[int, float]] = {}
    degrees = total = 0
    for test, by_size in repeated.items():
        groups = [np.asarray(values) for values in by_size.values()]
        free = sum(len(values) - 1 for values in groups)
        if how == "mean" or free == 0:
            found = [float(values.mean()) for values in groups]
            parts = [
                float(((values / centre - 1) ** 2).sum())
                for values, centre in zip(groups, found, strict=True)
            ]
        else:
            found, parts, free = _huber(groups, free)
        centred[test] = dict(zip(by_size, found, strict=True))
        squares[test] = dict(zip(by_size, parts, strict=True))
        degrees += sum(len(values) - 1 for values in groups)
        total += free
    counts = {
        test: {size: len(values) for size, values in by_size.items()}
        for test, by_size in repeated.items()
    }
    parts = [part for by_size in squares.values() for part in by_size.values()]
    variance = sum(parts) / total if degrees else None
    return Centres(centred, counts, variance, degrees, 0.0 if how == "mean" else _ALONE, squares)


def _huber(
    groups: Sequence[NDArray[np.float64]], degrees: int
) -> tuple[list[float], list[float], int]:
    """Return the location of each group, its squared deviations, and their degrees of freedom."""
    import numpy as np

    logs = [np.log(values) for values in groups]
    places = _medians(logs)
    scale = _scale(logs, places, degrees)
    if scale == 0.0:
        return [float(np.exp(place)) for place in places], [0.0] * len(groups), degrees
    near = [
        values[_is_near(values, place, scale)] for values, place in zip(logs, places, strict=True)
    ]
    # Two that disagree stay as far apart as they are.
    logs = [some if len(some) else values for some, values in zip(near, logs, strict=True)]
    degrees = max(1, sum(len(values) - 1 for values in logs))
    alike = _of_one_length(logs)
    for _ in range(_STEPS):
        moved = places.copy()
        for at, rows in alike:
            steps = (rows - places[at, np.newaxis]) / scale
            moved[at] += scale * np.clip(steps, -_HUBER_K, _HUBER_K).mean(axis=1)
        is_settled = bool(np.abs(moved - places).max() < 1e-9)
        places = moved
        if is_settled:
            break
    # Huber's location has 1.05 times the variance of a mean at a normal distribution.
    squares = [
        _HUBER_COST * float(((values - place) ** 2).sum())
        for values, place in zip(logs, places, strict=True)
    ]
    return [float(np.exp(place)) for place in places], squares, degrees


def _of_one_length(
    groups: Sequence[NDArray[np.float64]],
) -> list[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Lay groups of as many values out as rows, with their places: one by one takes ten times."""
    import numpy as np

    places: dict[int, list[int]] = {}
    for place, values in enumerate(groups):
        places.setdefault(len(values), []).append(place)
    return [(np.array(at), np.stack([groups[place] for place in at])) for at in places.values()]


def _medians(groups: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    import numpy as np

    medians = np.empty(len(groups))
    for at, rows in _of_one_length(groups):
        medians[at] = np.median(rows, axis=1)
    return medians


def _scale(logs: Sequence[NDArray[np.float64]], places: NDArray[np.float64], degrees: int) -> float:
    """Return the standard deviation of one logarithm, by the median deviation of all."""
    import numpy as np

    far = np.concatenate([values - place for values, place in zip(logs, places, strict=True)])
    # Residuals about a median of few are too small.
    scale = _MAD_FACTOR * float(np.median(np.abs(far))) * math.sqrt(len(far) / degrees)
    return scale or float(np.sqrt((far**2).sum() / degrees))


def _is_near(values: NDArray[np.float64], place: float, scale: float) -> NDArray[np.bool_]:
    import numpy as np

    # What rounding leaves of equal times is no distance.
    return np.abs(values - place) <= max(_FAR * scale, 1e-6)


def undecided(repeated: Repetitions) -> list[tuple[Test, int]]:
    """Name the tests and sizes of which no majority of the repetitions agrees.

    Two repetitions agree that are within five standard deviations of their median, of the spread
    of all repetitions of their test; one alone agrees with itself.
    """
    import numpy as np

    found = []
    for test, by_size in repeated.items():
        logs = [np.log(values) for values in by_size.values()]
        degrees = sum(len(values) - 1 for values in logs)
        if degrees == 0:
            continue
        places = _medians(logs)
        scale = _scale(logs, places, degrees)
        for size, values, place in zip(by_size, logs, places, strict=True):
            if 2 * int(_is_near(values, place, scale).sum()) <= len(values):
                found.append((test, size))
    return found


def student(confidence: float, degrees: int) -> float:
    """Return how many standard errors a two-sided interval reaches to each side."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))


def ratio_bounds(
    reach: float, variances: Mapping[int, float], ratio: Mapping[int, float]
) -> dict[int, tuple[float, float]]:
    """Return the interval of the ratio of every size whose logarithm has a variance."""
    bounds = {}
    for size, variance in variances.items():
        value, factor = ratio[size], math.exp(reach * math.sqrt(variance))
        bounds[size] = (value / factor, value * factor)
    return bounds


def known_after(values: Sequence[float]) -> int | None:
    """Return after how many values their mean is known, or ``None`` if it never is.

    At least six, and the 90 % half-width (Student) is at most 10 % of it (Boito et al. 2015,
    section 4.2).
    """
    total = squares = 0.0
    for count, value in enumerate(values, start=1):
        total += value
        squares += value * value
        if count < _FULL_LEAST:
            continue
        mean = total / count
        variance = max(0.0, squares - count * mean * mean) / (count - 1)
        standard_error = math.sqrt(variance / count)
        # Far below it no quantile can help, and quantiles are slow.
        if standard_error > _FULL_HALF_WIDTH * mean:
            continue
        if student(_FULL_CONFIDENCE, count - 1) * standard_error <= _FULL_HALF_WIDTH * mean:
            return count
    return None


def is_known(values: Sequence[float]) -> bool:
    """Return whether the mean of values is known, as `known_after` says, or was before."""
    return known_after(values) is not None
