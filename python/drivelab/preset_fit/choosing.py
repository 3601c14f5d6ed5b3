"""Choosing how the drive is built: first among presets, then one change after the other.

A preset, or a change of one, is judged by brief simulations of a few workloads, after a few steps
by derivatives. Without these steps a drive with larger pages, for example, could not show that it
is closer, because its times have to be adapted first. A change is kept if it reduces the loss by
more than chance does. Changes that did not help at all are not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.drives.simulated.asked import burst_requests
from drivelab.errors import DrivelabError, UsageError
from drivelab.preset_fit.bench import PULL, Bench, loss_of
from drivelab.preset_fit.builds import Build, as_large, as_probed, builds_of
from drivelab.preset_fit.candidate import brief
from drivelab.preset_fit.descent import LOOK, step
from drivelab.preset_fit.parameters import CAPACITY
from drivelab.preset_fit.search import how_far
from drivelab.preset_fit.simulator import NobodySimulatesError, Simulators

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from drivelab.drives.plan import MeasurementPlan
    from drivelab.preset_fit.candidate import Base, FloatArray
    from drivelab.preset_fit.observed import Run
    from drivelab.preset_fit.parameters import Parameter
    from drivelab.workloads.characteristics import Characteristics

#: Workloads by which presets and changes are compared, and requests of each.
FEW: Final = 30
_REQUESTS: Final = 800
#: Steps by derivatives before a candidate is judged.
_STEPS: Final = 3
#: Longest step, on the logarithm.
_RADIUS: Final = 1.5
#: A change is kept if it reduces the loss by at least this share.
_HELPS: Final = 0.25
#: Most changes that are kept.
MOST_CHANGES: Final = 4
# Most loss, relative to the loss before it, of a change that is tried again after another was kept.
_STILL: Final = 1.1

# Name of the change to the geometry that probes found.
_PROBED: Final = "pages and units as probes found them"

Choose = Callable[["Base"], "Sequence[Parameter]"]


@dataclass(frozen=True)
class Compared:
    """A preset or a change that was tried.

    Attributes
    ----------
    name
        Name for people.
    off
        Root mean square of the residuals, on the logarithm; None if it cannot be simulated.
    is_kept
        Whether the fit continues with it.
    """

    name: str
    off: float | None
    is_kept: bool = False


@dataclass(frozen=True)
class _State:
    """The fit of a base preset so far.

    Attributes
    ----------
    base, parameters
        The preset, and its parameters that are fitted.
    logarithms, left, slopes
        Logarithms, residuals and derivatives of the best candidate so far.
    """

    base: Base
    parameters: Sequence[Parameter]
    logarithms: FloatArray
    left: FloatArray
    slopes: FloatArray

    @property
    def loss(self) -> float:
        return loss_of(self.left, self.logarithms)

    @property
    def off(self) -> float:
        return how_far(self.left)

    def by_name(self) -> dict[str, tuple[float, FloatArray]]:
        return {
            one.name: (float(self.logarithms[place]), self.slopes[:, place])
            for place, one in enumerate(self.parameters)
        }


def as_measured(run: Run, base: Base) -> Base:
    """Return a preset with the capacity of the measured drive; unchanged if that is impossible."""
    if run.capacity_bytes is None:
        return base
    changed = as_large(base.kind, base.values, run.capacity_bytes)
    if not changed:
        return base
    found = _rebuilt(base, changed)
    try:
        found.changed({}).resolved()
    except UsageError:
        return base
    return found


def compare_bases(
    run: Run,
    bases: Sequence[Base],
    choose: Choose,
    say: Callable[[str], None],
    simulators: Simulators | None = None,
) -> list[tuple[Base, Compared]]:
    """Return presets with their errors, the closest first, impossible ones last.

    Parameters
    ----------
    run
        The measurements.
    bases
        Presets of the same kind of drive.
    choose
        Chooses the parameters of a preset to fit.
    say
        Shows the current step.
    simulators
        Runs the simulations; threads of this process by default.
    """
    who = simulators or Simulators()
    found = []
    for place, base in enumerate(bases):
        say(f"presets: {place + 1} of {len(bases)}, {base.reference}")
        states = [_begun(run, one, choose, who) for one in (base, *_probed(run, base))]
        known = [state for state in states if state is not None]
        nearest = min(known, key=lambda state: state.loss, default=None)
        if nearest is None:
            found.append((base, Compared(base.reference, None)))
        else:
            found.append((nearest.base, Compared(base.reference, nearest.off)))
    return sorted(found, key=lambda one: (one[1].off is None, one[1].off or 0.0))


def choose_builds(
    run: Run,
    base: Base,
    choose: Choose,
    say: Callable[[str], None],
    simulators: Simulators | None = None,
) -> tuple[Base, list[Compared]]:
    """Change how a base preset is built, one thing at a time, as long as that helps.

    Returns the preset with the changes that were kept, and every change that was tried, in the
    order of its error at the first try.
    """
    who = simulators or Simulators()
    best = _begun(run, base, choose, who)
    if best is None:
        return base, []
    tried: dict[str, Compared] = {}
    probed = [Build(_PROBED, other.built) for other in _probed(run, base)]
    left = [*probed, *builds_of(base.kind, base.values, run.plan.writes)]
    for _ in range(MOST_CHANGES):
        results = []
        for place, build in enumerate(left):
            say(f"how it is built: {place + 1} of {len(left)}, {build.describe()}")
            state = _changed(run, best, build, choose, who)
            off = None if state is None else state.off
            tried.setdefault(build.describe(), Compared(build.describe(), off))
            if state is not None:
                results.append((state.loss, build, state))
        if not results:
            break
        loss, build, state = min(results, key=lambda one: one[0])
        if loss > (1 - _HELPS) * best.loss:
            break
        tried[build.describe()] = replace(tried[build.describe()], is_kept=True)
        promising = {
            each.key
            for other, each, _ in results
            if each.key != build.key and other < _STILL * best.loss
        }
        # Changes of the preset as it is now, whose capacity halving and doubling must keep.
        again = [*probed, *builds_of(base.kind, state.base.values, run.plan.writes)]
        left = [each for each in again if each.key in promising]
        best = _begun(run, state.base, choose, who, state) or state
    ordered = sorted(tried.values(), key=lambda one: (one.off is None, one.off or 0.0))
    return best.base, ordered


def _probed(run: Run, base: Base) -> list[Base]:
    """Return, in a list, the preset with the pages and units that probes found, if they differ."""
    if base.kind != "ssd":
        return []
    changed = as_probed(base.values, run.page_bytes, run.units)
    return [_rebuilt(base, changed)] if changed else []


def _rebuilt(base: Base, changed: Mapping[str, Any]) -> Base:
    return replace(base, values={**base.values, **changed}, built={**base.built, **changed})


def _begun(
    run: Run, base: Base, choose: Choose, who: Simulators, start: _State | None = None
) -> _State | None:
    """Take some steps by derivatives from a preset, or from another state of its fit."""
    parameters = choose(base)
    try:
        with closing(_bench(run, base, parameters, who)) as bench:
            here = np.zeros(len(parameters)) if start is None else start.logarithms
            left = bench.left(here)
            if left is None:
                return None
            state = _State(base, parameters, here, left, bench.slopes(here, left, LOOK))
            return _stepped(bench, state)
    except NobodySimulatesError:
        raise
    except DrivelabError:
        return None


def _changed(
    run: Run, before: _State, build: Build, choose: Choose, who: Simulators
) -> _State | None:
    """Change one thing of a preset, and take some steps by the derivatives known so far."""
    base = _rebuilt(before.base, build.values)
    try:
        parameters = choose(base)
        known = before.by_name()
        nothing = (0.0, np.zeros(len(before.left)))
        pairs = [known.get(one.name, nothing) for one in parameters]
        here = np.array([logarithm for logarithm, _ in pairs])
        with closing(_bench(run, base, parameters, who)) as bench:
            left = bench.left(here)
            if left is None:
                return None
            slopes = np.column_stack([slope for _, slope in pairs])
            return _stepped(bench, _State(base, parameters, here, left, slopes))
    except NobodySimulatesError:
        raise
    except DrivelabError:
        return None


def _bench(run: Run, base: Base, parameters: Sequence[Parameter], who: Simulators) -> Bench:
    few = run.fitted.some(FEW)
    capacity_bytes = base.values[CAPACITY]
    plan = run.plan_on(capacity_bytes)
    plans = [brief(plan, _requests(one, plan, capacity_bytes)) for one in few.workloads]
    return Bench(base, parameters, few, plan, plans, simulators=who)


def _requests(workload: Characteristics, plan: MeasurementPlan, capacity_bytes: int) -> int:
    """Return the requests of a brief simulation, which ends with its warm-up before the burst."""
    most = burst_requests(workload, plan, capacity_bytes)
    return _REQUESTS if most is None else max(1, min(_REQUESTS, most * 2 // 3))


def _stepped(bench: Bench, state: _State) -> _State:
    """Take some steps, each of which corrects the derivatives."""
    here, left, slopes = state.logarithms, state.left, state.slopes
    best = state
    for _ in range(_STEPS):
        change = step(left, slopes, here, _RADIUS, PULL)
        there = here + change
        then = bench.left(there)
        if then is None or not float(change @ change):
            break
        slopes = slopes + np.outer((then - left - slopes @ change), change) / (change @ change)
        here, left = there, then
        now = replace(state, logarithms=here, left=left, slopes=slopes)
        if now.loss < best.loss:
            best = now
    return best
