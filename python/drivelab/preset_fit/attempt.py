"""Fitting one preset: its values, then its structure if that is not enough, then both again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from drivelab.preset_fit.bench import Bench
from drivelab.preset_fit.choosing import choose_builds
from drivelab.preset_fit.descent import descend
from drivelab.preset_fit.parameters import CAPACITY
from drivelab.preset_fit.search import how_far, near_enough, search_down, search_on
from drivelab.preset_fit.watch import STEPS, after_search

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.preset_fit.candidate import Base, FloatArray
    from drivelab.preset_fit.choosing import Choose, Compared
    from drivelab.preset_fit.observed import Run
    from drivelab.preset_fit.search import Found
    from drivelab.preset_fit.simulator import Simulators
    from drivelab.preset_fit.watch import Watch

# If the root mean square of the residuals exceeds this, the drive may have another structure.
_OTHERWISE: Final = 0.10
# Number of times that simulations are made longer before the structure is changed.
_LONGER: Final = 2


@dataclass(frozen=True)
class How:
    """The effort of the search.

    Attributes
    ----------
    generations, seed
        Generations of the global search, and the seed of random numbers.
    builds
        Whether to try changes of geometry and policies.
    simulators
        Runs the simulations.
    """

    generations: int
    seed: int
    builds: bool
    simulators: Simulators


@dataclass(frozen=True)
class Attempt:
    """A preset that was fitted.

    Attributes
    ----------
    base
        The preset before the fit.
    bench
        Simulates the preset, including changes of its structure; the caller closes it.
    found
        The end of the search.
    builds
        Changes of structure that were tried.
    """

    base: Base
    bench: Bench
    found: Found
    builds: list[Compared] = field(default_factory=list)


def attempt(run: Run, base: Base, choose: Choose, how: How, watch: Watch) -> Attempt:
    """Fit one preset; the caller closes its bench.

    Parameters
    ----------
    run
        The measurements.
    base
        The preset.
    choose
        Chooses the parameters of a preset to fit.
    how
        The effort of the search.
    watch
        Shows the progress.
    """
    say = watch.say
    builds: list[Compared] = []

    def bench_of(base: Base) -> Bench:
        plan = run.plan_on(base.values[CAPACITY])
        return Bench(base, choose(base), run.fitted, plan, watch=watch, simulators=how.simulators)

    bench = bench_of(base)
    try:
        here = _near(bench, search_down(bench, how.seed, say), say)
        if how.builds and how_far(bench.left(here)) > near_enough(bench, _OTHERWISE):
            # It is unknown how many more changes will be tried.
            watch.expect(0, 0)
            built, builds = choose_builds(run, base, choose, say, how.simulators)
            if built.built != base.built:
                bench.close()
                bench = bench_of(built)
                here = _near(bench, search_down(bench, how.seed, say), say)
        found = search_on(bench, here, generations=how.generations, seed=how.seed, say=say)
    except BaseException:
        bench.close()
        raise
    return Attempt(base, bench, found, builds)


def _near(bench: Bench, here: FloatArray, say: Callable[[str], None]) -> FloatArray:
    """Descend again with longer simulations while the error is large: brief ones may cause it."""
    for _ in range(_LONGER):
        far = how_far(bench.left(here))
        if far <= near_enough(bench, _OTHERWISE):
            break
        bench.expect(STEPS, after_search(len(bench.active)))
        bench.lengthen(here)
        here = descend(bench, here, say)
    return here
