"""The search for the values with which a simulated drive behaves as was measured.

Steps, each on logarithms of factors::

    screening       what changes nothing is held
    least squares   goes down by slopes from the base preset
    CMA-ES          finds another valley, where that is not near enough (Hansen 2016)
    corrections     what brief simulations leave out of whole ones is added, twice
    lines           through candidates around the ground, which is rough

What whole simulations say is what is fitted in the end.
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

# How far slopes look after each correction, on the logarithm.
_LOOKS: Final = (0.15, 0.1)
# With a root mean square of what is left below this, no other valley is looked for.
_NEAR_ENOUGH: Final = 0.05
# What brief simulations leave of a drive that is found is chance, of two of them.
_ROUGHNESSES: Final = 3.0
# Workloads that are simulated from afar.
_FEW: Final = 30
# Of the first candidates of CMA-ES, on the logarithm.
_AFAR: Final = 0.5
# Lines are drawn through candidates that lie so far on either side, at least and at most.
_NARROW: Final = 0.03
_WIDE: Final = 0.3
# How often lines are drawn again where those before said the ground is.
_AGAIN: Final = 2
# The last correction is the mean over so many candidates, so far around the best.
_CORRECTED_AT: Final = 3
_NEAR: Final = 0.02
# Where nothing can be simulated.
_IMPOSSIBLE: Final = 3.0


@dataclass(frozen=True)
class Found:
    """The best that was found.

    Attributes
    ----------
    logarithms
        Of the parameters' factors, shape (p,).
    left
        What whole simulations are above what was measured, by weight, on the logarithm, shape (n,).
    lines
        Lines through candidates around it.
    loss
        What is left, with mishaps held back.
    ground
        The same by the lines, which candidates scatter around.
    """

    logarithms: FloatArray
    left: FloatArray
    lines: Lines
    loss: float
    ground: float


def search_down(bench: Bench, seed: int, say: Callable[[str], None]) -> FloatArray:
    """Find what changes nothing, and go down by slopes from the base preset.

    Parameters
    ----------
    bench
        Simulates.
    seed
        Of random numbers.
    say
        Is given what goes on.
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
    """Find the factors with which simulations are nearest to what was measured.

    Parameters
    ----------
    bench
        Simulates.
    here
        Where `search_down` ended.
    generations
        Of the search by CMA-ES, where one is needed; 0 leaves it out.
    seed
        Of its random numbers.
    say
        Is given what goes on.
    """
    if generations and how_far(bench.left(here)) > near_enough(bench, _NEAR_ENOUGH):
        other = descend(bench, _scattered(bench, here, generations, seed, say), say)
        here = min(here, other, key=lambda one: _loss(bench, one))
    count = len(bench.active)
    for number, look in enumerate(_LOOKS):
        bench.expect(count + STEPS, after_search(count) - (number + 1) * (count + STEPS))
        bench.correct(here)
        here = descend(bench, here, say, look=look)
    bench.expect(for_lines(count), FOR_AN_INTERVAL * count)
    say("lines around the minimum")
    return _smoothed(bench, here, seed)


def near_enough(bench: Bench, least: float) -> float:
    """Return what is as near as brief simulations tell, or a share where they tell better."""
    return max(least, _ROUGHNESSES * bench.roughness)


def how_far(left: FloatArray | None) -> float:
    """Return the root mean square of what is left, each workload counting once."""
    return math.inf if left is None else math.sqrt(2 * float((left**2).mean()))


def _smoothed(bench: Bench, here: FloatArray, seed: int) -> Found:
    """Take the lowest place of lines around the ground, again from there, each time corrected."""
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
    here = here + change
    ground = loss_of(lines.left + lines.slopes @ change, here)
    left = bench.left(here)
    if left is None:
        raise UsageError(
            "the base preset cannot be simulated with these workloads; try another --base"
        )
    return Found(here, left, lines, loss_of(left, here), ground)


def _lowest(lines: Lines, here: FloatArray) -> FloatArray:
    """Return the change from a place to the lowest one of the lines."""
    counts = 1 / np.sqrt(1 + (lines.left / SOFT) ** 2)
    # What nothing tells stays near the base preset.
    free = max(len(lines.left) - len(here), 1)
    pull = max(PULL**2, float(lines.left @ lines.left) / free / USUALLY_AWAY**2)
    downhill = lines.slopes.T @ (counts * lines.left) + pull * here
    normal = lines.normal + pull * np.eye(len(here))
    change = solved_within(normal, downhill, _WIDE)
    return np.clip(here + change, -REACH, REACH) - here


def _width(lines: Lines) -> FloatArray:
    """Return how far candidates have to lie so that slopes stand out of what scatters."""
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
    """Search by candidates that are scattered around the best so far, wherever slopes lead."""
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
        # A line needs no search in many directions.
        tried = np.linspace(-REACH, REACH, 2 * generations + 1)
        return whole(min((np.array([one]) for one in tried), key=loss))
    options = {
        "bounds": [-REACH, REACH],
        # It takes 0 for a seed of its own choice, and others of 32 bits.
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
