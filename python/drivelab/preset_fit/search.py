"""The search for the values with which a simulated drive behaves as measured.

Its steps work on logarithms of factors::

    screening       keeps values without effect
    least squares   descends by derivatives from the base preset
    CMA-ES          finds another minimum if that is not close enough (Hansen 2016)
    corrections     simulates longer where brief simulations are off, and adds what is left, twice
    lines           fits lines to candidates around the minimum, because the loss is rough; the
                    last ones with longer simulations of what varies

The result of full simulations is what is fitted in the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.preset_fit.bench import PULL, SOFT, USUALLY_AWAY, loss_of
from drivelab.preset_fit.descent import REACH, descend, solved_within
from drivelab.preset_fit.screening import screen
from drivelab.preset_fit.surface import Lines, lines_around
from drivelab.preset_fit.watch import FOR_AN_INTERVAL, STEPS, after_search, for_lines

if TYPE_CHECKING:
    from drivelab.preset_fit.bench import Bench
    from drivelab.preset_fit.candidate import FloatArray

# Step for derivatives after each correction, as a logarithm.
_LOOKS: Final = (0.3, 0.15)
# With a root mean square of the residuals below this, no other minimum is sought.
_NEAR_ENOUGH: Final = 0.05
# The residual of a correct drive is the random error of two brief simulations.
_ROUGHNESSES: Final = 3.0
# Number of workloads in the global search.
_FEW: Final = 30
# Spread of the first candidates of CMA-ES, as a logarithm.
_AFAR: Final = 0.5
# Least and most distance, to either side, of candidates that lines are fitted to.
_NARROW: Final = 0.03
_WIDE: Final = 0.3
# Number of times that lines are fitted again around the minimum that the last ones predict.
_AGAIN: Final = 3
# The last correction is a mean over this many candidates, within this distance of the best.
_CORRECTED_AT: Final = 3
_NEAR: Final = 0.02
# Residual of a candidate that cannot be simulated.
_IMPOSSIBLE: Final = 3.0


@dataclass(frozen=True)
class Found:
    """The best candidate of a search.

    Attributes
    ----------
    logarithms
        Logarithms of the parameters' factors, shape (p,).
    left
        Weighted residuals of full simulations, as logarithms, shape (n,).
    lines
        Lines through candidates around it.
    loss
        Loss, in which large errors count less.
    ground
        Loss according to the lines, around which candidates vary.
    """

    logarithms: FloatArray
    left: FloatArray
    lines: Lines
    loss: float
    ground: float


def search_down(bench: Bench, seed: int, say: Callable[[str], None]) -> FloatArray:
    """Find the parameters without effect, then descend from the base preset.

    Parameters
    ----------
    bench
        Runs the simulations.
    seed
        Seed of random numbers.
    say
        Receives a description of the current step.
    """
    count = len(bench.active)
    bench.expect(2 * count, STEPS + after_search(count))
    say("values without effect")
    slopes = screen(bench, seed)
    bench.expect(STEPS, after_search(len(bench.active)))
    return descend(bench, np.zeros(len(bench.parameters)), say, slopes=slopes)


def search_on(
    bench: Bench,
    here: FloatArray,
    *,
    generations: int,
    seed: int,
    say: Callable[[str], None] = lambda _: None,
) -> Found:
    """Find the factors for which simulations are closest to the measurements.

    Parameters
    ----------
    bench
        Runs the simulations.
    here
        The end of `search_down`.
    generations
        Generations of CMA-ES, if it is needed; 0 skips it.
    seed
        Seed of random numbers.
    say
        Receives a description of the current step.
    """
    if generations and how_far(bench.left(here)) > near_enough(bench, _NEAR_ENOUGH):
        other = descend(bench, _scattered(bench, here, generations, seed, say), say)
        here = min(here, other, key=lambda one: _loss(bench, one))
    count = len(bench.active)
    for number, look in enumerate(_LOOKS):
        bench.expect(count + STEPS, after_search(count) - (number + 1) * (count + STEPS))
        bench.lengthen(here)
        here = descend(bench, here, say, look=look)
    bench.expect(for_lines(count), FOR_AN_INTERVAL * count)
    say("lines around the minimum")
    return _smoothed(bench, here, seed)


def near_enough(bench: Bench, least: float) -> float:
    """Return the loss that is close enough: `least`, or what brief simulations cannot resolve."""
    return max(least, _ROUGHNESSES * bench.roughness)


def how_far(left: FloatArray | None) -> float:
    """Return the root mean square of the residuals, with each workload counted once."""
    return math.inf if left is None else math.sqrt(2 * float((left**2).mean()))


def _smoothed(bench: Bench, here: FloatArray, seed: int) -> Found:
    """Move to the minimum of lines, several times, with a correction each time."""
    count = len(bench.active)
    width = np.full(len(here), _WIDE)
    lines = lines_around(bench, here, width, 4 * count + 4, seed)
    if lines is None:
        raise UsageError(
            "the base preset cannot be simulated with these workloads; try another --base"
        )
    bench.trust(lines.scatter)
    change = _lowest(lines, here)
    for number in range(_AGAIN):
        here = here + change
        offsets = np.random.default_rng(seed).uniform(-_NEAR, _NEAR, (_CORRECTED_AT, len(here)))
        bench.correct_around([here + each for each in offsets])
        again = lines_around(bench, here, _width(lines), 5 * count + 8, seed + number + 1)
        lines = again or lines
        change = _lowest(lines, here)
        # Older lines are of other weights.
        if again is not None and number == 0:
            bench.lengthen_varying(again.scatter)
        elif again is not None and number + 1 < _AGAIN:
            bench.trust(again.scatter)
    here = here + change
    ground = loss_of(lines.left + lines.slopes @ change, here)
    left = bench.left(here)
    if left is None:
        raise UsageError(
            "the base preset cannot be simulated with these workloads; try another --base"
        )
    return Found(here, left, lines, loss_of(left, here), ground)


def _lowest(lines: Lines, here: FloatArray) -> FloatArray:
    """Return the change from a place to the minimum of the lines."""
    counts = 1 / np.sqrt(1 + (lines.left / SOFT) ** 2)
    # A value that nothing determines stays near the base preset.
    free = max(len(lines.left) - len(here), 1)
    pull = max(PULL**2, float(lines.left @ lines.left) / free / USUALLY_AWAY**2)
    downhill = lines.slopes.T @ (counts * lines.left) + pull * here
    normal = lines.normal + pull * np.eye(len(here))
    change = solved_within(normal, downhill, _WIDE)
    return np.clip(here + change, -REACH, REACH) - here


def _width(lines: Lines) -> FloatArray:
    """Return the distance of candidates at which derivatives exceed the random variation."""
    steep = np.sqrt(np.maximum(np.diag(lines.normal), 1e-12))
    noise = math.sqrt(float((lines.scatter**2).sum()))
    width: FloatArray = np.clip(noise / steep, _NARROW, _WIDE)
    return width


def _loss(bench: Bench, logarithms: FloatArray) -> float:
    left = bench.left(logarithms)
    return math.inf if left is None else loss_of(left, logarithms, bench.pull)


def _scattered(
    bench: Bench, start: FloatArray, generations: int, seed: int, say: Callable[[str], None]
) -> FloatArray:
    """Search with random candidates around the best so far, independent of derivatives."""
    import cma

    active, few = bench.active, bench.cheapest(_FEW)

    def whole(candidate: FloatArray) -> FloatArray:
        logarithms = start.copy()
        logarithms[active] = candidate
        return logarithms

    def loss(candidate: FloatArray) -> float:
        left = bench.left(whole(candidate), few)
        if left is None:
            left = np.full(2 * len(few), _IMPOSSIBLE)
        return loss_of(left, candidate)

    if len(active) < 2:
        # A single parameter needs no search in several directions.
        tried = np.linspace(-REACH, REACH, 2 * generations + 1)
        return whole(min((np.array([one]) for one in tried), key=loss))
    options = {
        "bounds": [-REACH, REACH],
        # CMA-ES replaces a seed of 0 by its own, and accepts only 32 bits.
        "seed": seed % 2**31 + 1,
        "verbose": -9,
        "maxiter": generations,
    }
    strategy = cma.CMAEvolutionStrategy(np.zeros(len(active)), _AFAR, options)
    bench.expect(generations * strategy.popsize, STEPS + after_search(len(active)))
    while not strategy.stop():
        candidates = strategy.ask()
        strategy.tell(candidates, [loss(np.asarray(one)) for one in candidates])
        say(f"from afar: generation {strategy.countiter} of {generations}")
    return whole(np.asarray(strategy.result.xbest))
