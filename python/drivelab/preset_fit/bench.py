"""Candidates compared with measurements: brief simulations, corrected by whole ones.

A candidate is judged by brief simulations, with the same random numbers each time. Each workload
has as few requests as give about the same result as a whole measurement of the base preset. The
difference between whole and brief simulations of the best candidate so far corrects every brief
one.

The mean latencies of reads and of writes are compared, weighted by their share of the workload's
requests.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.preset_fit.candidate import Base, Behaviour, brief
from drivelab.preset_fit.parameters import BLOCKS, fitted_values
from drivelab.preset_fit.simulator import Simulators

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.preset_fit.candidate import FloatArray
    from drivelab.preset_fit.observed import Observed
    from drivelab.preset_fit.parameters import Parameter
    from drivelab.preset_fit.watch import Watch

#: Requests of brief simulations, after half as many: the fewest that say about the same as whole
#: ones are enough.
BRIEF_REQUESTS: Final = (400, 1600, 6400)
#: By how much the two may differ, each workload; whole ones are known to about 1 % themselves.
_ABOUT: Final = 0.08
# How well a latency is known that does not scatter, and what whole simulations scatter over brief
# ones.
_KNOWN: Final = 0.01
_WHOLE: Final = 0.5
# Errors beyond this on the logarithm count as their root: a mishap of the drive is no value of it.
SOFT: Final = 0.1
#: Of the logarithms, at least: it decides where nothing else does.
PULL: Final = 0.02
#: A drive's values are about so far from its base preset's, on the logarithm.
USUALLY_AWAY: Final = 0.7


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
    plans
        Brief ones, of each workload; without them they are chosen.
    watch
        Counts simulations, where somebody waits for them.
    simulators
        Who simulates; without them threads of this process do.

    Attributes
    ----------
    active
        Places of the parameters that change something here; all of them at first.
    """

    def __init__(
        self,
        base: Base,
        parameters: Sequence[Parameter],
        observed: Observed,
        plan: MeasurementPlan,
        plans: Sequence[MeasurementPlan] = (),
        *,
        watch: Watch | None = None,
        simulators: Simulators | None = None,
    ) -> None:
        self.base = base
        self.parameters = parameters
        self.observed = observed
        self.plan = plan
        self.active = list(range(len(parameters)))
        self._watch = watch
        self._simulator = (simulators or Simulators()).simulator()
        self._weights = _weights(observed)
        self._beyond: FloatArray = np.zeros(len(self._weights))
        #: Root mean square of what brief simulations of the base preset are off from whole ones.
        self.roughness = 0.0
        self._plans = plans or self._brief_enough()

    @property
    def simulations(self) -> int:
        """How often a drive was simulated under all workloads, in brief or whole."""
        return self._simulator.runs

    @property
    def pull(self) -> float:
        """Weight of the base preset's values against latencies that are off by chance."""
        # Two simulations are off, what was measured and the candidate's.
        return max(PULL, math.sqrt(2) * self.roughness / USUALLY_AWAY)

    @property
    def compared(self) -> int:
        """How many latencies are compared: of reads and of writes of each workload."""
        return len(self._weights)

    @property
    def requests(self) -> int:
        """Requests of all brief simulations of one candidate."""
        return sum(plan.warmup_requests + (plan.requests or 0) for plan in self._plans)

    def expect(self, own: int, after: int) -> None:
        """Say how many simulations what begins now usually takes, and what comes after it."""
        if self._watch is not None:
            self._watch.expect(own, after)

    def close(self) -> None:
        """Let go of the simulated drive's state."""
        self._simulator.close()

    def values(self, logarithms: FloatArray) -> dict[str, Any]:
        """Return what differs from the base preset, by key."""
        return dict(fitted_values(self.parameters, logarithms, self.base.values))

    def whole(self, logarithms: FloatArray, observed: Observed) -> Behaviour:
        """Simulate workloads as they were measured."""
        values = self.values(logarithms)
        plans = [self.plan] * len(observed.workloads)
        work = list(enumerate(observed.workloads))
        return self._simulator.behaviour(
            self.base.changed(values), work, plans, self._blocks(values)
        )

    def _blocks(self, values: Mapping[str, Any]) -> int | None:
        """Return the blocks of a plane, where they are others than the base preset's."""
        blocks: int | None = values.get(BLOCKS)
        return None if blocks == self.base.values.get(BLOCKS) else blocks

    def left(
        self, logarithms: FloatArray, places: Sequence[int] | None = None
    ) -> FloatArray | None:
        """Return what brief simulations, corrected, are above what was measured, by weight.

        None where the values are impossible together.

        Parameters
        ----------
        logarithms
            Of the parameters' factors.
        places
            Of the workloads that are asked; all without.
        """
        every = range(len(self.observed.workloads))
        started = time.monotonic()
        try:
            values = self.values(logarithms)
            found = self._simulator.behaviour(
                self.base.changed(values),
                [(place, self.observed.workloads[place]) for place in places or every],
                [self._plans[place] for place in places or every],
                self._blocks(values),
            )
        except UsageError:
            return None
        if self._watch is not None:
            self._watch.simulated(time.monotonic() - started)
        asked = np.array(places or every)
        asked = np.concatenate([asked, len(every) + asked])
        return self._above(_parts(found), asked)

    def correct(self, logarithms: FloatArray) -> None:
        """Add from now on what whole simulations of a candidate say beyond its brief ones."""
        self._beyond = np.zeros(len(self._weights))
        short = self.left(logarithms)
        if short is not None:
            whole = self._above(_parts(self.whole(logarithms, self.observed)))
            self._beyond = whole - short

    def correct_around(self, places: Sequence[FloatArray]) -> None:
        """As `correct`, by the mean over several candidates: each meets a chance of its own."""
        beyond = []
        for place in places:
            self.correct(place)
            beyond.append(self._beyond)
        self._beyond = np.mean(beyond, axis=0)

    def trust(self, scatter: FloatArray) -> None:
        """Count less what candidates scatter in by themselves; what is left changes with it.

        Parameters
        ----------
        scatter
            Of what is left, as a standard deviation.
        """
        share = _KNOWN / np.sqrt(_KNOWN**2 + (_WHOLE * scatter) ** 2)
        self._weights = self._weights * share
        self._beyond = self._beyond * share

    def slopes(self, logarithms: FloatArray, here: FloatArray, step: float) -> FloatArray:
        """Return how what is left changes with each parameter, from a step to one side.

        Parameters
        ----------
        logarithms, here
            Where, and what is left there.
        step
            How far; to the other side where that is impossible.
        """
        slopes = np.zeros((len(here), len(logarithms)))
        for place in self.active:
            for sign in (1, -1):
                end = self.left(moved(logarithms, place, sign * step))
                if end is not None:
                    slopes[:, place] = (end - here) / (sign * step)
                    break
        return slopes

    def cheapest(self, most: int) -> list[int]:
        """Return places of at most so many workloads, those of the briefest simulations."""
        ordered = sorted(
            range(len(self._plans)), key=lambda place: (self._plans[place].requests or 0, place)
        )
        return sorted(ordered[:most])

    def _above(self, parts: FloatArray, asked: FloatArray | None = None) -> FloatArray:
        observed, beyond, weights = _parts(self.observed.behaviour), self._beyond, self._weights
        if asked is not None:
            observed, beyond, weights = observed[asked], beyond[asked], weights[asked]
        # A brief simulation may have none of few writes, say.
        return np.nan_to_num(weights * (parts - observed)) + beyond

    def _brief_enough(self) -> list[MeasurementPlan]:
        """Return of each workload the shortest plan that does about the same as the whole."""
        source, workloads = self.base.changed({}), self.observed.workloads
        whole = _parts(self.whole(np.zeros(len(self.parameters)), self.observed))
        plans = [self.plan] * len(workloads)
        left = list(range(len(workloads)))
        squares: FloatArray = np.zeros(len(workloads))
        for requests in BRIEF_REQUESTS:
            plan = brief(self.plan, requests)
            work = [(place, workloads[place]) for place in left]
            short = _parts(self._simulator.behaviour(source, work, [plan] * len(work)))
            both = np.concatenate([left, len(workloads) + np.array(left)]).astype(int)
            off = self._weights[both] * np.abs(np.expm1(short - whole[both]))
            off = np.nan_to_num(off).reshape(2, -1).max(axis=0)
            squares[left] = np.minimum(off, _ABOUT) ** 2
            for place, far in zip(left, off.tolist(), strict=True):
                if far <= _ABOUT:
                    plans[place] = plan
            left = [place for place, far in zip(left, off.tolist(), strict=True) if far > _ABOUT]
            if not left:
                break
        self.roughness = float(np.sqrt(squares.mean()))
        return plans


def loss_of(left: FloatArray, logarithms: FloatArray, pull: float = PULL) -> float:
    """Return what is searched for the least of.

    Parameters
    ----------
    left
        What is left, by weight.
    logarithms
        Of the factors.
    pull
        How much these count.
    """
    soft = 2 * SOFT**2 * (np.sqrt(1 + (left / SOFT) ** 2) - 1)
    return float(soft.sum() + ((pull * logarithms) ** 2).sum())


def moved(logarithms: FloatArray, place: int, by: float) -> FloatArray:
    """Return a copy with one of them moved."""
    changed = logarithms.copy()
    changed[place] += by
    return changed


def _parts(behaviour: Behaviour) -> FloatArray:
    return np.concatenate([behaviour.read, behaviour.write])


def _weights(observed: Observed) -> FloatArray:
    """Return roots of the shares of reads and writes: each workload counts once."""
    reads = np.array(
        [
            0 if one.read is None else one.read.requests / one.requests
            for one in observed.measurements
        ]
    )
    weights: FloatArray = np.sqrt(np.concatenate([reads, 1 - reads]))
    return weights
