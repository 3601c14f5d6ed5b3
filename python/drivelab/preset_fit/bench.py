"""Comparing candidates with measurements, by brief simulations corrected by full ones.

A candidate is judged by brief simulations, with the same random numbers each time. Each workload
has the fewest requests that give about the same result as a full measurement, of the base preset
and of every candidate that was the best at a correction: a buffer that is a little larger may take
all that a brief simulation writes. The difference between full and brief simulations of the best
candidate so far corrects all brief ones.

The mean latencies of reads and of writes are compared, weighted by their share of the workload's
requests.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.drives.simulated.asked import burst_requests
from drivelab.errors import UsageError
from drivelab.preset_fit.candidate import Base, Behaviour, brief
from drivelab.preset_fit.parameters import BLOCKS, CAPACITY, fitted_values
from drivelab.preset_fit.simulator import Simulators

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.preset_fit.candidate import FloatArray
    from drivelab.preset_fit.observed import Observed
    from drivelab.preset_fit.parameters import Parameter
    from drivelab.preset_fit.watch import Watch

#: Numbers of requests for brief simulations, each after half as many in a warm-up. The smallest
#: number that gives about the same as a full simulation is used.
BRIEF_REQUESTS: Final = (400, 1600, 6400, 25_600)
#: Most difference between the two for each workload; full ones are only known to about 1 %.
_ABOUT: Final = 0.08
# Uncertainty of a latency that does not vary, and variation of full simulations over that of brief
# ones.
_KNOWN: Final = 0.01
_WHOLE: Final = 0.5
# A latency that varies more than this between candidates is simulated longer.
_VARIED: Final = 0.015
# Larger errors of a logarithm count as their root, because a disturbance says nothing about values.
SOFT: Final = 0.1
#: Least weight of the logarithms; it decides only if nothing else does.
PULL: Final = 0.02
#: Typical distance of a drive's values from its base preset's, as a logarithm.
USUALLY_AWAY: Final = 0.7


class Bench:
    """Simulates candidates under the workloads of the fit.

    Parameters
    ----------
    base
        The preset that the candidates start from.
    parameters
        The parameters to fit.
    observed
        The measurements.
    plan
        Plan of the measurements.
    plans
        Plans of the brief simulations, one per workload; chosen by default.
    watch
        Counts simulations to show progress.
    simulators
        Runs the simulations; threads of this process by default.

    Attributes
    ----------
    active
        Indices of the parameters that have an effect; all of them at first.
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
        self._trust: FloatArray = np.ones(len(self._weights))
        self._beyond: FloatArray = np.zeros(len(self._weights))
        #: Root mean square of the differences between brief and full simulations where their
        #: lengths were chosen last.
        self.roughness = 0.0
        self._plans = list(plans) or self._first_plans()

    @property
    def simulations(self) -> int:
        """Number of simulations of all workloads, brief or full."""
        return self._simulator.runs

    @property
    def pull(self) -> float:
        """Weight of the base preset's values against random errors of the latencies."""
        # Both the measurement and the candidate's simulation have random errors.
        return max(PULL, math.sqrt(2) * self.roughness / USUALLY_AWAY)

    @property
    def compared(self) -> int:
        """Number of compared latencies: of reads and of writes in each workload."""
        return len(self._weights)

    @property
    def requests(self) -> int:
        """Requests in all brief simulations of one candidate."""
        return sum(plan.warmup_requests + (plan.requests or 0) for plan in self._plans)

    def expect(self, own: int, after: int) -> None:
        """Set the usual number of simulations in the phase that begins, and in those after it."""
        if self._watch is not None:
            self._watch.expect(own, after)

    def close(self) -> None:
        """Release the state of the simulated drive."""
        self._simulator.close()

    def values(self, logarithms: FloatArray) -> dict[str, Any]:
        """Return the values that differ from the base preset, by key."""
        return dict(fitted_values(self.parameters, logarithms, self.base.values))

    def whole(self, logarithms: FloatArray, observed: Observed) -> Behaviour:
        """Simulate workloads with the full length of their measurements."""
        values = self.values(logarithms)
        plans = [self.plan] * len(observed.workloads)
        work = list(enumerate(observed.workloads))
        return self._simulator.behaviour(
            self.base.changed(values), work, plans, self._blocks(values)
        )

    def _blocks(self, values: Mapping[str, Any]) -> int | None:
        """Return the blocks per plane if they differ from the base preset's."""
        blocks: int | None = values.get(BLOCKS)
        return None if blocks == self.base.values.get(BLOCKS) else blocks

    def left(
        self, logarithms: FloatArray, places: Sequence[int] | None = None
    ) -> FloatArray | None:
        """Return the weighted residuals of brief simulations, after correction.

        None if the values are impossible together.

        Parameters
        ----------
        logarithms
            Logarithms of the parameters' factors.
        places
            Indices of the workloads to simulate; all by default.
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
        parts = self._parts(found, asked)
        return self._above(parts, np.concatenate([asked, len(every) + asked]))

    def correct(self, logarithms: FloatArray) -> None:
        """From now on, correct brief simulations by the full ones of this candidate."""
        self._correct(logarithms, self.whole(logarithms, self.observed))

    def _correct(self, logarithms: FloatArray, whole: Behaviour) -> None:
        self._beyond = np.zeros(len(self._weights))
        short = self.left(logarithms)
        if short is not None:
            self._beyond = self._above(self._parts(whole)) - short

    def lengthen(self, logarithms: FloatArray) -> None:
        """Simulate longer where a brief simulation of this candidate is off, and `correct`."""
        whole = self.whole(logarithms, self.observed)
        self._plans = self._brief_enough(logarithms, whole, self._plans)
        self._correct(logarithms, whole)

    def correct_around(self, places: Sequence[FloatArray]) -> None:
        """Like `correct`, with the mean over several candidates, whose random errors differ."""
        beyond = []
        for place in places:
            self.correct(place)
            beyond.append(self._beyond)
        self._beyond = np.mean(beyond, axis=0)

    def trust(self, scatter: FloatArray) -> None:
        """Set the weights of latencies that vary between candidates; this changes the residuals.

        Parameters
        ----------
        scatter
            Standard deviation of each residual.
        """
        varied = _WHOLE * scatter / self._trust
        change = _KNOWN / np.sqrt(_KNOWN**2 + varied**2) / self._trust
        self._trust = self._trust * change
        self._weights = self._weights * change
        self._beyond = self._beyond * change

    def lengthen_varying(self, scatter: FloatArray) -> None:
        """Simulate workloads longer whose latencies vary between candidates; `correct` after it.

        Parameters
        ----------
        scatter
            Standard deviation of each residual.
        """
        varied = (scatter / self._trust).reshape(2, -1).max(axis=0)
        longer = (varied / _VARIED) ** 2
        for place, times in enumerate(longer.tolist()):
            now = self._plans[place]
            if times <= 1 or now is self.plan:
                continue
            wanted = times * (now.requests or 0)
            enough = [one for one in self._brief(place) if one >= wanted]
            self._plans[place] = brief(self.plan, enough[0]) if enough else self.plan

    def slopes(self, logarithms: FloatArray, here: FloatArray, step: float) -> FloatArray:
        """Return the derivatives of the residuals by each parameter, from a step to one side.

        Parameters
        ----------
        logarithms, here
            The place, and the residuals there.
        step
            Length of the step; it goes to the other side if the first is impossible.
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
        """Return the indices of at most `most` workloads, those with the briefest simulations."""
        ordered = sorted(
            range(len(self._plans)),
            key=lambda place: (
                self._plans[place] is self.plan,
                self._plans[place].requests or 0,
                place,
            ),
        )
        return sorted(ordered[:most])

    def _above(self, parts: FloatArray, asked: FloatArray | None = None) -> FloatArray:
        observed = self._parts(self.observed.behaviour)
        beyond, weights = self._beyond, self._weights
        if asked is not None:
            observed, beyond, weights = observed[asked], beyond[asked], weights[asked]
        # A brief simulation may have no writes if they are rare.
        return np.nan_to_num(weights * (parts - observed)) + beyond

    def _parts(self, behaviour: Behaviour, places: NDArray[np.int_] | None = None) -> FloatArray:
        """Return what is compared: reads, then writes. A mean of both takes the place of reads."""
        is_whole = self.observed.is_whole
        is_whole = is_whole if places is None else is_whole[places]
        reads = np.where(is_whole, behaviour.mean, behaviour.read)
        return np.concatenate([reads, behaviour.write])

    def _brief(self, place: int) -> list[int]:
        """Return the numbers of requests of brief simulations that end before the burst does."""
        workload = self.observed.workloads[place]
        most = burst_requests(workload, self.plan, self.base.values[CAPACITY])
        return [one for one in BRIEF_REQUESTS if most is None or one + one // 2 <= most]

    def _first_plans(self) -> list[MeasurementPlan]:
        nothing = np.zeros(len(self.parameters))
        return self._brief_enough(nothing, self.whole(nothing, self.observed))

    def _brief_enough(
        self, logarithms: FloatArray, full: Behaviour, before: Sequence[MeasurementPlan] = ()
    ) -> list[MeasurementPlan]:
        """Return for each workload the shortest plan that gives about the same as the full one.

        Parameters
        ----------
        logarithms
            The candidate that is simulated.
        full
            Its full simulations.
        before
            Plans that must not become shorter.
        """
        values = self.values(logarithms)
        source, blocks = self.base.changed(values), self._blocks(values)
        workloads = self.observed.workloads
        whole = self._parts(full)
        plans = [self.plan] * len(workloads)
        left = [place for place, plan in enumerate(before) if plan is not self.plan]
        left = left if before else list(range(len(workloads)))
        squares: FloatArray = np.zeros(len(workloads))
        for requests in BRIEF_REQUESTS:
            plan = brief(self.plan, requests)
            # The others have longer plans, or bursts that end sooner.
            tried = [
                place
                for place in left
                if requests >= _requests(before, place) and requests in self._brief(place)
            ]
            if not tried:
                continue
            work = [(place, workloads[place]) for place in tried]
            said = self._simulator.behaviour(source, work, [plan] * len(work), blocks)
            short = self._parts(said, np.array(tried))
            both = np.concatenate([tried, len(workloads) + np.array(tried)]).astype(int)
            off = self._weights[both] * np.abs(np.expm1(short - whole[both]))
            off = np.nan_to_num(off).reshape(2, -1).max(axis=0)
            squares[tried] = np.minimum(off, _ABOUT) ** 2
            enough = {
                place for place, far in zip(tried, off.tolist(), strict=True) if far <= _ABOUT
            }
            for place in enough:
                plans[place] = plan
            left = [place for place in left if place not in enough]
        self.roughness = float(np.sqrt(squares.mean()))
        return plans


def loss_of(left: FloatArray, logarithms: FloatArray, pull: float = PULL) -> float:
    """Return the loss that the search minimises.

    Parameters
    ----------
    left
        Weighted residuals.
    logarithms
        Logarithms of the factors.
    pull
        Weight of the logarithms.
    """
    soft = 2 * SOFT**2 * (np.sqrt(1 + (left / SOFT) ** 2) - 1)
    return float(soft.sum() + ((pull * logarithms) ** 2).sum())


def moved(logarithms: FloatArray, place: int, by: float) -> FloatArray:
    """Return a copy with one logarithm changed."""
    changed = logarithms.copy()
    changed[place] += by
    return changed


def _requests(plans: Sequence[MeasurementPlan], place: int) -> int:
    """Return the requests of a brief plan; 0 if there is none yet."""
    return plans[place].requests or 0 if plans else 0


def _weights(observed: Observed) -> FloatArray:
    """Return roots of the shares of reads and writes, so that each workload counts once."""
    reads = np.where(observed.is_whole, 1.0, observed.reads)
    weights: FloatArray = np.sqrt(np.concatenate([reads, 1 - reads]))
    return weights
