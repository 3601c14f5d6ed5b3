"""Whether a drive has settled: the measurement window of the performance test specification.

A window of rounds is steady if what was tracked neither scatters nor drifts much:

- the data excursion, largest minus smallest value, is at most a share of the mean;
- the slope excursion, the rise or fall of the least-squares line over the window, is at most
  another share of it.

Values exactly at the limits are steady. A round is anything that was repeated: an hour of a test, a
minute of writes, a row of a table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from drivelab.errors import UsageError


@dataclass(frozen=True)
class SteadyStateRule:
    """When a window counts as steady.

    Parameters
    ----------
    name
        Name in reports.
    window_rounds
        Number of rounds in the window, at least 2.
    data_excursion
        Largest minus smallest value as a share of the mean, at most.
    slope_excursion
        Rise or fall of the fitted line over the window as a share of the mean, at most.
    """

    name: str
    window_rounds: int
    data_excursion: Fraction
    slope_excursion: Fraction


#: The performance test specification's: 5 rounds, 20 % and 10 %.
PTS: Final = SteadyStateRule("pts", 5, Fraction(20, 100), Fraction(10, 100))

#: That of the write saturation study in Coughlin et al. 2010: 10 rounds, 5 % each.
WHITE_PAPER: Final = SteadyStateRule("white-paper", 10, Fraction(5, 100), Fraction(5, 100))

#: By the name that a user gives.
RULES: Final = {rule.name: rule for rule in (PTS, WHITE_PAPER)}


@dataclass(frozen=True)
class Window:
    """The rounds that were judged, and why they are steady or not.

    Parameters
    ----------
    rule
        The rule that judged them.
    first_round
        Number of the first round, counted from 1.
    values
        What was tracked, one value per round, in its own unit.
    mean
        Mean of the values.
    data_excursion, allowed_data_excursion
        Largest minus smallest value, and its limit, in the values' unit.
    slope, intercept
        The least-squares line over rounds: value = slope x round + intercept.
    slope_excursion, allowed_slope_excursion
        Rise or fall of the line from the first to the last round of the window, and its limit, in
        the values' unit.
    correlation
        Pearson's coefficient of rounds and values; None if all values are equal.
    is_steady
        Whether neither excursion is above its limit and the mean is above 0.
    """

    rule: SteadyStateRule
    first_round: int
    values: tuple[float, ...]
    mean: float
    data_excursion: float
    allowed_data_excursion: float
    slope: float
    intercept: float
    slope_excursion: float
    allowed_slope_excursion: float
    correlation: float | None
    is_steady: bool

    @property
    def last_round(self) -> int:
        """Return the number of the last round, counted from 1."""
        return self.first_round + len(self.values) - 1


def judge_window(
    values: Sequence[float], rule: SteadyStateRule = PTS, *, first_round: int = 1
) -> Window:
    """Judge the rounds of one window.

    The numbers are taken as their decimal representation and compared without rounding: an
    excursion exactly at the limit is steady.

    Parameters
    ----------
    values
        As many as the rule's window has rounds, 0 or above, in any unit.
    rule
        When the window counts as steady.
    first_round
        The number of the first value, counted from 1.

    Returns
    -------
    Window
        A window of zeroes is not steady: nothing was served.

    Raises
    ------
    UsageError
        If there are more or fewer values, or one is negative or no finite number.
    """
    count = rule.window_rounds
    if len(values) != count:
        raise UsageError(
            f"the rule {rule.name!r} judges {count} rounds, but {len(values)} are given"
        )
    exact = [_exact(value, first_round + place) for place, value in enumerate(values)]
    mean = sum(exact, Fraction()) / count
    # Rounds counted from the middle of the window: their sum is 0.
    places = [Fraction(2 * place - count + 1, 2) for place in range(count)]
    squares = sum((place * place for place in places), Fraction())
    products = sum((place * value for place, value in zip(places, exact, strict=True)), Fraction())
    slope = products / squares
    middle = first_round + Fraction(count - 1, 2)
    deviations = sum(((value - mean) ** 2 for value in exact), Fraction())
    data_excursion = max(exact) - min(exact)
    slope_excursion = abs(slope) * (count - 1)
    allowed_data = rule.data_excursion * mean
    allowed_slope = rule.slope_excursion * mean
    return Window(
        rule=rule,
        first_round=first_round,
        values=tuple(values),
        mean=float(mean),
        data_excursion=float(data_excursion),
        allowed_data_excursion=float(allowed_data),
        slope=float(slope),
        intercept=float(mean - slope * middle),
        slope_excursion=float(slope_excursion),
        allowed_slope_excursion=float(allowed_slope),
        correlation=_correlation(products, squares * deviations) if deviations else None,
        is_steady=mean > 0 and data_excursion <= allowed_data and slope_excursion <= allowed_slope,
    )


def _correlation(products: Fraction, variances: Fraction) -> float:
    # The share is exact, because squares of the smallest floats would be 0.
    size = math.sqrt(products**2 / variances)
    return -size if products < 0 else size


def find_steady_state(values: Sequence[float], rule: SteadyStateRule = PTS) -> Window | None:
    """Find the first steady window of a series.

    Parameters
    ----------
    values
        One per round, from round 1 on.
    rule
        When a window counts as steady.

    Returns
    -------
    Window or None
        The first steady one; if there is none, the last, whose `is_steady` is False; None for a
        series shorter than a window.

    Raises
    ------
    UsageError
        As `judge_window`.
    """
    window = None
    for first in range(len(values) - rule.window_rounds + 1):
        rounds = values[first : first + rule.window_rounds]
        window = judge_window(rounds, rule, first_round=first + 1)
        if window.is_steady:
            break
    return window


def find_joint_steady_state(
    series: Mapping[str, Sequence[float]], rule: SteadyStateRule = PTS
) -> dict[str, Window] | None:
    """Find the first window of rounds in which each of several series is steady.

    Parameters
    ----------
    series
        At least one, by name, each with one value per round from round 1 on.
    rule
        When a window counts as steady.

    Returns
    -------
    dict or None
        The same window of each series, by name. If all are never steady together, the last window;
        None for series shorter than a window.

    Raises
    ------
    UsageError
        As `judge_window`.
    """
    windows = None
    for first in range(min(map(len, series.values())) - rule.window_rounds + 1):
        windows = {
            name: judge_window(
                values[first : first + rule.window_rounds], rule, first_round=first + 1
            )
            for name, values in series.items()
        }
        if all(window.is_steady for window in windows.values()):
            break
    return windows


def _exact(value: float, number: int) -> Fraction:
    """Return the number as it is printed, 0.1 as a tenth."""
    try:
        is_one = math.isfinite(value) and value >= 0
    except TypeError:
        # A caller's own series may contain anything, such as a text or None.
        is_one = False
    if not is_one:
        raise UsageError(
            f"round {number}: {value!r} is not a value to judge; give numbers from 0 on"
        )
    return Fraction(str(value))
