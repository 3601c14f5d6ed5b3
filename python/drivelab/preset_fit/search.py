"""The search for the values with which a simulated drive behaves as was measured.

Steps, each on logarithms of factors::

    CMA-ES          finds the valley, from afar (Hansen 2016)
    least squares   finds its ground, by slopes
    corrections     what a brief simulation leaves out of a whole one is added, twice
    CMA-ES          finds the lowest place of a rough ground: on disks requests meet by chance

A candidate is judged by brief simulations with the same random numbers each time. They see less
than a whole one: a buffer that takes long to fill, say. So what the whole ones of the best so far
say beyond its brief ones is added to every brief one, and the ground is searched again. What whole
simulations say is what is fitted in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.preset_fit.candidate import Base, Behaviour, Simulator, brief
from drivelab.preset_fit.parameters import fitted_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.preset_fit.candidate import FloatArray
    from drivelab.preset_fit.observed import Observed
    from drivelab.preset_fit.parameters import Parameter

#: Factors lie between one over e to the power of this and that: a twentieth and twenty times.
REACH: Final = 3.0
#: Requests of brief simulations, after half as many: the fewest that say about the same as whole
#: ones are enough.
BRIEF_REQUESTS: Final = (800, 1600, 3200, 6400, 12_800)
#: By how much they may differ, mean over workloads; whole ones are known to about 1 % themselves.
_ABOUT: Final = 0.03
# Errors beyond this on the logarithm count as their root: a mishap of the drive is no value of it.
_SOFT: Final = 0.1
# Of the logarithms: as if the base preset were known this well. It decides where nothing else does.
_PULL: Final = 0.02
# Of slopes: wide enough to see over the roughness of simulations, whose requests meet by chance.
_STEP: Final = 0.15
_STEPS: Final = 12
_CORRECTED: Final = 2
# Of the first steps of a search by CMA-ES, on the logarithm: from afar, and near the ground.
_AFAR: Final = 0.4
_NEAR: Final = 0.05
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
        What whole simulations are above what was measured, on the logarithm, shape (n,).
    slopes
        By how much that changes with each, shape (n, p).
    loss
        What is left, with mishaps held back.
    """

    logarithms: FloatArray
    left: FloatArray
    slopes: FloatArray
    loss: float


@dataclass(frozen=True)
class Scattering:
    """How CMA-ES searches.

    Attributes
    ----------
    where
        For people.
    spread
        Standard deviation of the first candidates, on the logarithm.
    generations, seed
        How many, and of which random numbers.
    """

    where: str
    spread: float
    generations: int
    seed: int


class Bench:
    """Simulates candidates under the workloads that are fitted to.

    Parameters
    ----------
    base
        The preset that they start from.
    parameters
        What is fitted.
    observed
        What was measured.
    plan
        How that was measured.
    """

    def __init__(
        self,
        base: Base,
        parameters: Sequence[Parameter],
        observed: Observed,
        plan: MeasurementPlan,
    ) -> None:
        self.base = base
        self.parameters = parameters
        self.observed = observed
        self.plan = plan
        self._simulator = Simulator()
        self._beyond: FloatArray = np.zeros(len(observed.workloads))
        self._brief = self._brief_enough()

    @property
    def simulations(self) -> int:
        """How often a drive was simulated under all workloads, in brief or whole."""
        return self._simulator.runs

    def close(self) -> None:
        """Let go of the simulated drive's state."""
        self._simulator.close()

    def values(self, logarithms: FloatArray) -> dict[str, Any]:
        """Return what differs from the base preset, by key."""
        return dict(fitted_values(self.parameters, logarithms, self.base.values))

    def _brief_enough(self) -> MeasurementPlan:
        """Return the shortest plan by which the base preset does about the same as by the whole."""
        source, workloads = self.base.changed({}), self.observed.workloads
        whole = self._simulator.behaviour(source, workloads, self.plan).mean
        for requests in BRIEF_REQUESTS:
            plan = brief(self.plan, requests)
            short = self._simulator.behaviour(source, workloads, plan).mean
            if float(np.abs(np.expm1(short - whole)).mean()) <= _ABOUT:
                break
        return plan

    def whole(self, logarithms: FloatArray, observed: Observed) -> Behaviour:
        """Simulate workloads as they were measured."""
        source = self.base.changed(self.values(logarithms))
        return self._simulator.behaviour(source, observed.workloads, self.plan)

    def left(self, logarithms: FloatArray) -> FloatArray | None:
        """Return what brief simulations, corrected, are above what was measured.

        None where the values are impossible together.
        """
        try:
            source = self.base.changed(self.values(logarithms))
            found = self._simulator.behaviour(source, self.observed.workloads, self._brief)
        except UsageError:
            return None
        left: FloatArray = found.mean + self._beyond - self.observed.behaviour.mean
        return left

    def correct(self, logarithms: FloatArray) -> None:
        """Add from now on what whole simulations of a candidate say beyond its brief ones."""
        self._beyond = np.zeros(len(self.observed.workloads))
        short = self.left(logarithms)
        if short is not None:
            whole = self.whole(logarithms, self.observed).mean
            self._beyond = whole - (short + self.observed.behaviour.mean)

    def slopes(self, logarithms: FloatArray, here: FloatArray) -> FloatArray:
        """Return how what is left changes with each parameter, from a step to either side."""
        columns = []
        for place in range(len(logarithms)):
            ends = [(sign, self.left(_moved(logarithms, place, sign * _STEP))) for sign in (1, -1)]
            possible = [(sign, end) for sign, end in ends if end is not None]
            if len(possible) == 2:
                column = (possible[0][1] - possible[1][1]) / (2 * _STEP)
            elif possible:
                (sign, end) = possible[0]
                column = (end - here) / (sign * _STEP)
            else:
                column = np.zeros(len(here))
            columns.append(column)
        return np.column_stack(columns)


def search(
    bench: Bench, *, generations: int, seed: int, say: Callable[[str], None] = lambda _: None
) -> Found:
    """Find the factors with which simulations are nearest to what was measured.

    Parameters
    ----------
    bench
        Simulates.
    generations
        Of the search by CMA-ES from afar, and half as many near the ground; 0 leaves both out.
    seed
        Of its random numbers.
    say
        Is given what goes on.
    """
    here = np.zeros(len(bench.parameters))
    if generations:
        here = _scattered(bench, here, Scattering("from afar", _AFAR, generations, seed), say)
    here = _ground(bench, here, _STEPS, say)
    for _ in range(_CORRECTED):
        bench.correct(here)
        if generations:
            near = Scattering("near the ground", _NEAR, generations // 2, seed)
            here = _scattered(bench, here, near, say)
        here = _ground(bench, here, _STEPS // 2, say)
    bench.correct(here)
    left = bench.left(here)
    if left is None:
        raise UsageError(
            "the base preset cannot be simulated with these workloads; try another --base"
        )
    return Found(here, left, bench.slopes(here, left), loss_of(left, here))


def loss_of(left: FloatArray, logarithms: FloatArray) -> float:
    """Return what is searched for the least of."""
    soft = 2 * _SOFT**2 * (np.sqrt(1 + (left / _SOFT) ** 2) - 1)
    return float(soft.sum() + ((_PULL * logarithms) ** 2).sum())


def _moved(logarithms: FloatArray, place: int, by: float) -> FloatArray:
    moved = logarithms.copy()
    moved[place] += by
    return moved


def _scattered(
    bench: Bench,
    start: FloatArray,
    by: Scattering,
    say: Callable[[str], None],
) -> FloatArray:
    """Search by candidates that are scattered around the best so far, wherever slopes lead."""
    import cma

    def loss(candidate: FloatArray) -> float:
        left = bench.left(np.asarray(candidate))
        if left is None:
            left = np.full(len(bench.observed.workloads), _IMPOSSIBLE)
        return loss_of(left, np.asarray(candidate))

    if len(start) == 1:
        # A line needs no search in many directions.
        tried = start[0] + 3 * by.spread * np.linspace(-1, 1, 2 * by.generations + 1)
        best = min(np.clip(tried, -REACH, REACH), key=lambda one: loss(np.array([one])))
        return np.array([best])
    options = {
        "bounds": [-REACH, REACH],
        # It takes 0 for a seed of its own choice, and others of 32 bits.
        "seed": by.seed % 2**31 + 1,
        "verbose": -9,
        "maxiter": by.generations,
    }
    strategy = cma.CMAEvolutionStrategy(start, by.spread, options)
    while not strategy.stop():
        candidates = strategy.ask()
        strategy.tell(candidates, [loss(one) for one in candidates])
        say(f"{by.where}: generation {strategy.countiter} of {by.generations}")
    found: FloatArray = np.asarray(strategy.result.xbest)
    # Where nothing is better than the base, the base is where to begin.
    return found if loss(found) < loss(start) else start


def _ground(bench: Bench, start: FloatArray, steps: int, say: Callable[[str], None]) -> FloatArray:
    """Go down by damped Gauss-Newton steps (Levenberg 1944; Marquardt 1963)."""
    here, damping = start, 1e-2
    left = bench.left(here)
    if left is None:
        return start
    loss = loss_of(left, here)
    for step in range(steps):
        say(f"least squares: step {step + 1} of at most {steps}, off by {_mean_text(left)}")
        slopes = bench.slopes(here, left)
        counts = 1 / np.sqrt(1 + (left / _SOFT) ** 2)
        normal = (slopes.T * counts) @ slopes + _PULL**2 * np.eye(len(here))
        downhill = slopes.T @ (counts * left) + _PULL**2 * here
        before = loss
        for _ in range(6):
            change = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-6), downhill)
            tried = np.clip(here - np.clip(change, -1.0, 1.0), -REACH, REACH)
            then = bench.left(tried)
            if then is not None and loss_of(then, tried) < loss:
                here, left, loss = tried, then, loss_of(then, tried)
                damping = max(damping / 5, 1e-6)
                break
            damping *= 5
        if loss > 0.995 * before:
            break
    return here


def _mean_text(left: FloatArray) -> str:
    return f"{100 * float(np.abs(np.expm1(left)).mean()):.1f} %"
