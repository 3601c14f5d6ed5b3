"""Down to the ground by slopes: damped Gauss-Newton steps (Levenberg 1944; Marquardt 1963).

Slopes are measured once and then learned from the steps themselves (Broyden 1965): one simulation a
step. Where a step leads nowhere they are measured again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.preset_fit.bench import SOFT, loss_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.preset_fit.bench import Bench
    from drivelab.preset_fit.candidate import FloatArray

#: Factors lie between one over e to the power of this and that: a twentieth and twenty times.
REACH: Final = 3.0
#: How far slopes look, on the logarithm: over the roughness of simulations, whose requests meet by
#: chance.
LOOK: Final = 0.3
# So many steps in a row may lead nowhere.
_FAILING: Final = 2
# A step gains less than this share of the loss: the ground.
_GAIN: Final = 0.01
_MOST_STEPS: Final = 60
# Farthest of a first step.
_RADIUS: Final = 1.0


def descend(
    bench: Bench,
    start: FloatArray,
    say: Callable[[str], None] = lambda _: None,
    *,
    look: float = LOOK,
    slopes: FloatArray | None = None,
) -> FloatArray:
    """Go from a place to the lowest one that slopes lead to.

    Parameters
    ----------
    bench
        Simulates.
    start
        Logarithms to begin with.
    say
        Is given what goes on.
    look
        How far slopes look, on the logarithm.
    slopes
        At the start, where they are known; else they are measured.
    """
    here, left = start, bench.left(start)
    if left is None:
        return start
    loss, radius, failing, is_fresh = loss_of(left, here, bench.pull), _RADIUS, 0, slopes is None
    if slopes is None:
        slopes = bench.slopes(here, left, look)
    for number in range(_MOST_STEPS):
        say(f"least squares: step {number + 1}, off by {_mean_text(left)}")
        change = step(left, slopes, here, radius, bench.pull)
        tried = here + change
        then = bench.left(tried)
        gain = 0.0
        if then is not None and change @ change > 0 and loss > 0:
            slopes = slopes + np.outer(then - left - slopes @ change, change) / (change @ change)
            gain = (loss - loss_of(then, tried, bench.pull)) / loss
            if gain > 0:
                here, left, loss = tried, then, loss_of(then, tried, bench.pull)
        if gain > _GAIN:
            radius, failing, is_fresh = min(2 * radius, _RADIUS), 0, False
            continue
        radius, failing = radius / 3, failing + 1
        if failing < _FAILING:
            continue
        if is_fresh:
            break
        slopes, failing, is_fresh = bench.slopes(here, left, look), 0, True
        radius = max(radius, look)
    return here


def step(
    left: FloatArray, slopes: FloatArray, here: FloatArray, radius: float, pull: float
) -> FloatArray:
    """Return the change that slopes promise most of, none farther than a radius.

    Parameters
    ----------
    left, slopes
        What is left, shape (n,), and how it changes with each parameter, shape (n, p).
    here
        Logarithms, shape (p,).
    radius
        On the logarithm.
    pull
        How much logarithms count.
    """
    # From afar everything is off, and mishaps begin farther out.
    soft = max(SOFT, 2 * float(np.median(np.abs(left))))
    change: FloatArray = np.zeros(len(here))
    now = left
    for _ in range(5):
        counts = 1 / np.sqrt(1 + (now / soft) ** 2)
        normal = (slopes.T * counts) @ slopes + pull**2 * np.eye(len(here))
        downhill = slopes.T @ (counts * left) + pull**2 * here
        change = solved_within(normal, downhill, radius)
        now = left + slopes @ change
    return np.clip(here + change, -REACH, REACH) - here


def solved_within(normal: FloatArray, downhill: FloatArray, radius: float) -> FloatArray:
    """Solve for a step, damped until no part of it is longer than a radius."""
    scale = np.diag(np.diag(normal) + 1e-6)
    damping = 1e-6
    while True:
        change: FloatArray = np.asarray(-np.linalg.solve(normal + damping * scale, downhill))
        if float(np.abs(change).max()) <= radius or damping > 1e9:
            return np.clip(change, -radius, radius)
        damping *= 4


def _mean_text(left: FloatArray) -> str:
    # Reads and writes of a workload count by their shares, whose roots left holds.
    return f"{100 * float(np.sqrt(2 * (left**2).mean())):.1f} %"
