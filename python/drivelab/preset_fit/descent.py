"""A local search by derivatives: damped Gauss-Newton steps (Levenberg 1944; Marquardt 1963).

Derivatives are measured once. Each step then corrects them (Broyden 1965), so that a step costs one
simulation. They are measured again if steps no longer reduce the loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.preset_fit.bench import SOFT, loss_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.preset_fit.bench import Bench
    from drivelab.preset_fit.candidate import FloatArray

#: Most distance of a factor's logarithm from 0: factors go from a twentieth to twenty.
REACH: Final = 3.0
#: Distance over which derivatives are measured, on the logarithm: larger than the roughness of
#: simulations, whose requests meet by chance.
LOOK: Final = 0.3
# Number of failing steps in a row after which derivatives are measured again.
_FAILING: Final = 2
# A step that reduces the loss by less than this share fails.
_GAIN: Final = 0.01
_MOST_STEPS: Final = 60
# Longest first step, on the logarithm.
_RADIUS: Final = 1.0


def descend(
    bench: Bench,
    start: FloatArray,
    say: Callable[[str], None] = lambda _: None,
    *,
    look: float = LOOK,
    slopes: FloatArray | None = None,
) -> FloatArray:
    """Return the local minimum that derivatives lead to.

    Parameters
    ----------
    bench
        Runs the simulations.
    start
        Logarithms to begin with.
    say
        Shows the current step.
    look
        Distance over which derivatives are measured, on the logarithm.
    slopes
        Derivatives at the start; measured by default.
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
    """Return the step that reduces the loss most, by the derivatives and within a radius.

    Parameters
    ----------
    left, slopes
        Residuals, shape (n,), and their derivatives by each parameter, shape (n, p).
    here
        Logarithms, shape (p,).
    radius
        Most change of a logarithm.
    pull
        Weight of the logarithms.
    """
    # Far from the minimum all residuals are large, so only larger ones count as disturbances.
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
    """Solve for a step, with more damping until no component is longer than a radius."""
    scale = np.diag(np.diag(normal) + 1e-6)
    damping = 1e-6
    while True:
        change: FloatArray = np.asarray(-np.linalg.solve(normal + damping * scale, downhill))
        if float(np.abs(change).max()) <= radius or damping > 1e9:
            return np.clip(change, -radius, radius)
        damping *= 4


def _mean_text(left: FloatArray) -> str:
    # The squares of a workload's two residuals add up: reads and writes count by their shares.
    return f"{100 * float(np.sqrt(2 * (left**2).mean())):.1f} %"
