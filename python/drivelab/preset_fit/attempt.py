"""One preset fitted: values, then how it is built where those do not come near, then both again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from drivelab.preset_fit.bench import Bench
from drivelab.preset_fit.choosing import choose_builds
from drivelab.preset_fit.search import how_far, near_enough, search_down, search_on

if TYPE_CHECKING:
    from drivelab.preset_fit.candidate import Base
    from drivelab.preset_fit.choosing import Choose, Compared
    from drivelab.preset_fit.observed import Run
    from drivelab.preset_fit.search import Found
    from drivelab.preset_fit.simulator import Simulators
    from drivelab.preset_fit.watch import Watch

# With a root mean square of what is left above this, the drive may be built otherwise.
_OTHERWISE: Final = 0.10


@dataclass(frozen=True)
class How:
    """How much is searched.

    Attributes
    ----------
    generations, seed
        Of the search from afar, and of random numbers.
    builds
        Whether geometry and policies may be changed.
    simulators
        Who simulates.
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
        As it was.
    bench
        Of the preset with what was changed of how it is built; to be closed.
    found
        Where the search ended.
    builds
        Changes that were tried.
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
        What was measured.
    base
        The preset.
    choose
        Says what is fitted of a preset.
    how
        How much is searched.
    watch
        Shows what goes on.
    """
    say = watch.say
    builds: list[Compared] = []
    who = how.simulators
    bench = Bench(base, choose(base), run.fitted, run.plan, watch=watch, simulators=who)
    try:
        here = search_down(bench, how.seed, say)
        if how.builds and how_far(bench.left(here)) > near_enough(bench, _OTHERWISE):
            # How often it goes on with another change is not known.
            watch.expect(0, 0)
            built, builds = choose_builds(run, base, choose, say, who)
            if built.built != base.built:
                bench.close()
                bench = Bench(
                    built, choose(built), run.fitted, run.plan, watch=watch, simulators=who
                )
                here = search_down(bench, how.seed, say)
        found = search_on(bench, here, generations=how.generations, seed=how.seed, say=say)
    except BaseException:
        bench.close()
        raise
    return Attempt(base, bench, found, builds)
