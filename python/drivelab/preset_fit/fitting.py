"""The whole fit: from a run and a base preset to values, intervals and errors."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.drives.presets.values import preset_values
from drivelab.errors import UsageError
from drivelab.plain_text import escaped
from drivelab.preset_fit.attempt import Attempt, How, attempt
from drivelab.preset_fit.candidate import Base, preset_text
from drivelab.preset_fit.choosing import Choose, Compared, as_measured, compare_bases
from drivelab.preset_fit.descent import REACH
from drivelab.preset_fit.likelihood import LEVEL, intervals
from drivelab.preset_fit.parameters import (
    CAPACITY,
    Parameter,
    chosen_parameters,
    fitted_values,
    parameters_of,
)
from drivelab.preset_fit.simulator import Simulators
from drivelab.preset_fit.watch import FOR_AN_INTERVAL, Watch
from drivelab.runs.executor import nobody_else
from drivelab.runs.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from drivelab.drives.presets.source import PresetSource
    from drivelab.preset_fit.candidate import Behaviour, FloatArray
    from drivelab.preset_fit.likelihood import Interval
    from drivelab.preset_fit.observed import Run
    from drivelab.runs.executor import TurningExecutors

#: Generations of the global search.
USUAL_GENERATIONS: Final = 20
_NOUNS: Final = {"ssd": "an SSD", "hdd": "a disk", "raid0": "an array", "raid": "an array"}
_FITTED_KINDS: Final = ("ssd", "hdd")
# Of presets that were compared.
_FITTED_FURTHER: Final = 2
# If a value is this close to the end of the search range (as a logarithm), the best may be outside.
_EDGE: Final = 0.05


@dataclass(frozen=True)
class FittedValue:
    """A fitted value of the preset.

    Attributes
    ----------
    parameter
        The parameter.
    base
        Value in the base preset, of the parameter's first key.
    value
        The fitted value.
    low, high
        Ends of its 95 % interval; None for an end beyond the search range.
    is_determined
        Whether the measurements determine the value.
    is_at_edge
        Whether it lies at the end of the search range.
    """

    parameter: Parameter
    base: int | list[int]
    value: int | list[int]
    low: int | list[int] | None
    high: int | list[int] | None
    is_determined: bool
    is_at_edge: bool


@dataclass(frozen=True)
class Errors:
    """Mean relative errors of the latencies on workloads that were held out.

    Attributes
    ----------
    mean, p99
        Errors of the mean and of the 99 % latency; that is None if it was not measured.
    """

    mean: float
    p99: float | None

    @classmethod
    def of(cls, said: Behaviour, observed: Behaviour) -> Errors:
        """Compare a drive's behaviour with the measured one."""
        known = np.isfinite(observed.p99)
        p99 = _error(said.p99[known], observed.p99[known]) if known.any() else None
        return cls(_error(said.mean, observed.mean), p99)


@dataclass(frozen=True)
class Fitted:
    """The result of a fit.

    Attributes
    ----------
    base, run
        The preset that it started from, and the run that it was fitted to.
    values
        Fitted values, in the order of the parameters.
    changed
        All keys that differ from the base preset, with their values.
    before, after
        Errors of the base preset and of the fitted one on the held-out workloads.
    held_out
        Behaviour of the fitted drive on them.
    simulations
        Number of simulations of all workloads.
    bases
        Presets that were compared, the nearest first; empty if the user named one.
    builds
        Changes of structure that were tried, best first.
    repeated
        Difference between two measurements of the drive on the held-out workloads; None if it was
        not measured again.
    unused
        Which measurements a closed form could not use, in a sentence.
    """

    base: Base
    run: Run
    values: tuple[FittedValue, ...]
    changed: dict[str, Any]
    before: Errors
    after: Errors
    held_out: Behaviour
    simulations: int
    bases: tuple[Compared, ...] = ()
    builds: tuple[Compared, ...] = ()
    repeated: Errors | None = None
    unused: str = ""

    @property
    def is_closed_form(self) -> bool:
        """Whether equations were fitted, and not a simulated drive."""
        return self.simulations == 0

    def text(self, name: str) -> str:
        """Return the text of the preset, with the source of each value."""
        path = escaped(str(self.run.path))
        chosen = f"fitted: {path}, the nearest of those that were tried"
        if self.is_closed_form:
            chosen = f"fitted: {path}, as rho needs"
        sources = dict.fromkeys(self.base.built, chosen)
        sources |= {
            key: _source(value, escaped(str(self.run.path)))
            for value in self.values
            for key in value.parameter.keys
        }
        sources[CAPACITY] = f"fitted: {escaped(str(self.run.path))}, as it says"
        return preset_text(self.base.name, name, self.changed, sources)


def base_of(source: PresetSource) -> Base:
    """Return the preset that a fit starts from.

    Raises
    ------
    UsageError
        For an array, whose members are separate presets, or for an impossible preset.
    """
    resolved, _ = source.resolved()
    if resolved["kind"] not in _FITTED_KINDS:
        raise UsageError(
            f"{source.reference} is an array: its times are those of its member, "
            f"{resolved['member']}; fit that to measurements of one drive"
        )
    name = source.reference.rsplit("/", 1)[-1].removesuffix(".toml")
    texts = dict(source.base_texts)
    if source.reference.endswith(".toml"):
        texts[name] = source.toml_text
    values = {one.key: one.value for one in preset_values(source)}
    return Base(source.reference, name, resolved["kind"], values, texts)


def refuse_another_kind(measured: str, kind: str | None, base: Base) -> None:
    """Raise `UsageError` if the measured drive is of another kind than the base preset.

    Parameters
    ----------
    measured
        Name of the measured drive or run.
    kind
        Kind of the measured drive; None if unknown.
    base
        The preset to start from.
    """
    if kind not in (None, base.kind):
        raise UsageError(
            f"{measured} is {_NOUNS.get(kind, kind)}, and {base.reference} is "
            f"{_NOUNS[base.kind]}: name a base preset of the same kind"
        )


def fit_preset(
    run: Run,
    base: Base,
    *,
    only: Sequence[str] = (),
    fixed: Sequence[str] = (),
    generations: int = USUAL_GENERATIONS,
    seed: int = 0,
    builds: bool = True,
) -> Fitted:
    """Find the values with which a simulated drive behaves as measured.

    Parameters
    ----------
    run
        The measurements.
    base
        The preset to start from.
    only, fixed
        Names of parameters to fit (all if empty), and of parameters to keep.
    generations
        Generations of the global search; 0 skips it.
    seed
        Seed of random numbers.
    builds
        Whether to change geometry and policies if values alone are not enough.

    Raises
    ------
    UsageError
        For unknown names, or if the base preset cannot be simulated with these workloads.
    """
    return fit_nearest(
        run, [base], only=only, fixed=fixed, generations=generations, seed=seed, builds=builds
    )


def fit_nearest(
    run: Run,
    bases: Sequence[Base],
    *,
    only: Sequence[str] = (),
    fixed: Sequence[str] = (),
    generations: int = USUAL_GENERATIONS,
    seed: int = 0,
    builds: bool = True,
    executors: TurningExecutors = nobody_else,
) -> Fitted:
    """Like `fit_preset`, starting from the nearest of several presets.

    All presets are compared briefly, the two nearest are fitted, and the better one is returned.

    Parameters
    ----------
    run, only, fixed, generations, seed, builds
        As in `fit_preset`.
    bases
        The presets to start from.
    executors
        Run the simulations; the result does not depend on them.

    Raises
    ------
    UsageError
        As in `fit_preset`, or if none of the presets can be simulated with these workloads.
    """

    def choose(base: Base) -> tuple[Parameter, ...]:
        known = parameters_of(base.kind, base.values, run.plan.writes)
        return chosen_parameters(known, only, fixed)

    bases = _possible(run, bases, choose)
    with Simulators(executors) as simulators:
        how = How(generations, seed, builds and not only, simulators)
        return _fitted_nearest(run, bases, choose, how)


def _fitted_nearest(run: Run, bases: Sequence[Base], choose: Choose, how: How) -> Fitted:
    if how.builds:
        bases = [as_measured(run, base) for base in bases]
    line = StatusLine()
    watch = Watch(line)
    compared: list[tuple[Base, Compared]] = []
    if len(bases) > 1:
        compared = compare_bases(run, bases, choose, watch.say, how.simulators)
        bases = [base for base, one in compared if one.off is not None][:_FITTED_FURTHER]
        if not bases:
            raise UsageError("none of the presets can be simulated with these workloads")
    attempts = []
    with ExitStack() as open_benches:
        for number, base in enumerate(bases):
            watch.others = len(bases) - number - 1
            try:
                attempts.append(attempt(run, base, choose, how, watch))
            except UsageError:
                # Other presets may work; this one is only mentioned if none does.
                if not attempts and base is bases[-1]:
                    raise
                continue
            open_benches.callback(attempts[-1].bench.close)
        best = min(attempts, key=lambda one: _off(run, one)) if len(attempts) > 1 else attempts[0]
        simulations = sum(one.bench.simulations for one in attempts)
        fitted = _judged(run, best, watch, how.simulators)
        line.clear()
        kept = [
            replace(one, is_kept=base.reference == best.base.reference) for base, one in compared
        ]
        more = fitted.simulations + simulations - best.bench.simulations
        return replace(fitted, bases=tuple(kept), simulations=more)


def _possible(
    run: Run, bases: Sequence[Base], choose: Callable[[Base], tuple[Parameter, ...]]
) -> list[Base]:
    """Drop presets that cannot be fitted; if none is left, raise the last one's error."""
    possible = []
    for base in bases:
        try:
            _refuse(run, base, choose(base))
            possible.append(base)
        except UsageError:
            if not possible and base is bases[-1]:
                raise
    return possible


def _off(run: Run, one: Attempt) -> float:
    """Return the error of an attempt on the workloads of the fit, by full simulations.

    Losses of two searches cannot be compared, because the weights depend on each search's
    candidates.
    """
    return Errors.of(one.bench.whole(one.found.logarithms, run.fitted), run.fitted.behaviour).mean


def _refuse(run: Run, base: Base, parameters: Sequence[Parameter]) -> None:
    """Refuse a preset of another kind, and more values than the run can determine."""
    refuse_another_kind(f"what {run.path} measured", run.kind, base)
    workloads = len(run.fitted.workloads)
    if workloads < 2 * len(parameters):
        raise UsageError(
            f"{len(parameters)} values need {2 * len(parameters)} workloads to fit to, and the run "
            f"has {workloads}: measure more, or name fewer values to fit"
        )


def _judged(run: Run, best: Attempt, watch: Watch, simulators: Simulators) -> Fitted:
    """Return the fit with the interval of each value, and its errors on held-out workloads."""
    bench, found, base = best.bench, best.found, best.bench.base
    observed = run.held_out.behaviour
    bench.expect(FOR_AN_INTERVAL * len(bench.active), 0)
    watch.say("how sure each value is")
    found_intervals = intervals(bench, found)
    held_out = bench.whole(found.logarithms, run.held_out)
    # The base preset, without changes of structure.
    with simulators.simulator() as simulator:
        source = replace(best.base, built={}).changed({})
        capacity_bytes = {one.key: one.value for one in preset_values(source)}[CAPACITY]
        plans = [run.plan_on(capacity_bytes)] * len(run.held_out.workloads)
        work = list(enumerate(run.held_out.workloads))
        before = simulator.behaviour(source, work, plans)
    values = tuple(
        _value(base, one, logarithm, interval)
        for one, logarithm, interval in zip(
            bench.parameters, found.logarithms.tolist(), found_intervals, strict=True
        )
    )
    return Fitted(
        base=base,
        run=run,
        values=values,
        changed={**base.built, **bench.values(found.logarithms)},
        before=Errors.of(before, observed),
        after=Errors.of(held_out, observed),
        held_out=held_out,
        simulations=bench.simulations + 1,
        builds=tuple(best.builds),
    )


def _value(base: Base, parameter: Parameter, logarithm: float, interval: Interval) -> FittedValue:
    key = parameter.keys[0]

    def at(place: float) -> int | list[int] | None:
        if not np.isfinite(place):
            return None
        return fitted_values([parameter], np.array([place]), base.values)[key]

    value = at(logarithm)
    if value is None:
        raise TypeError("a fitted value is a number")
    low, high = at(interval.low), at(interval.high)
    is_at_edge = abs(logarithm) > REACH - _EDGE
    return FittedValue(
        parameter, base.values[key], value, low, high, interval.is_determined, is_at_edge
    )


def _error(said: FloatArray, observed: FloatArray) -> float:
    return float(np.abs(np.expm1(said - observed)).mean())


def _source(value: FittedValue, run: str) -> str:
    """Return the source of a value, in the form of the comments in presets."""
    if not value.is_determined:
        return f"fitted: {run}, which does not determine it"
    low, high, base = (
        one[0] if isinstance(one, list) else one for one in (value.low, value.high, value.base)
    )
    if low is None or high is None or base is None:
        return f"fitted: {run}"
    if len(value.parameter.keys) == 1 and not isinstance(value.base, list):
        return f"fitted: {run}, {low:_} to {high:_} at {100 * LEVEL:g} %"
    times = f"{low / base:.3f} to {high / base:.3f} times the base preset's"
    return f"fitted: {run}, {times} at {100 * LEVEL:g} %"
