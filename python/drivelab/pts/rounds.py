"""Rounds of the same steps until what is tracked has settled: the loop of most tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from drivelab.pts.journal import Action, Record, Step
from drivelab.pts.settings import MOST_ROUNDS
from drivelab.pts.steady_state import SteadyStateRule, Window, find_joint_steady_state

if TYPE_CHECKING:
    from drivelab.pts.bench import Bench
    from drivelab.workloads.stimulus import Stimulus

Cell = tuple[int, int]


@dataclass(frozen=True)
class Tracked:
    """A value of every round that must settle.

    Attributes
    ----------
    name
        What it is called: ``4 KiB R/W 0/100``.
    unit
        Of the values: ``IOPS``, ``MB/s``, ``ms``.
    of_round
        Gives the value of a round's steps.
    """

    name: str
    unit: str
    of_round: Callable[[Sequence[Step]], float]


@dataclass(frozen=True)
class Settled:
    """What the rounds came to.

    Attributes
    ----------
    rounds
        Every whole round.
    tracked, windows
        What was tracked, and its window; windows are empty where rounds are too few for one.
    is_steady
        Whether all of it settled in the same window.
    """

    rounds: list[list[Step]]
    tracked: tuple[Tracked, ...]
    windows: dict[str, Window]

    @property
    def is_steady(self) -> bool:
        """Whether everything tracked settled in the same rounds."""
        return bool(self.windows) and all(window.is_steady for window in self.windows.values())

    @property
    def window_rounds(self) -> list[list[Step]]:
        """The rounds of the window; all rounds where they are too few for one."""
        if not self.windows:
            return self.rounds
        window = next(iter(self.windows.values()))
        return self.rounds[window.first_round - 1 : window.last_round]

    @property
    def window_words(self) -> str:
        """What the values of the window's rounds are of."""
        if self.windows:
            return "the measurement window"
        count = len(self.rounds)
        return f"{count} round{'' if count == 1 else 's'}, too few for a window"

    @property
    def first_round(self) -> int:
        """The number of the first round of the window."""
        return next(iter(self.windows.values())).first_round if self.windows else 1


def settle(rounds: list[list[Step]], tracked: Sequence[Tracked], rule: SteadyStateRule) -> Settled:
    """Judge rounds that were run."""
    series = {each.name: [each.of_round(steps) for steps in rounds] for each in tracked}
    windows = find_joint_steady_state(series, rule)
    return Settled(rounds, tuple(tracked), windows or {})


def run_rounds(
    bench: Bench,
    round_stimuli: Sequence[tuple[Stimulus, float]],
    tracked: Sequence[Tracked],
    *,
    section: str = "",
    phase: str = "rounds",
    most_rounds: int = MOST_ROUNDS,
    together: bool = False,
    shares: Sequence[float] = (),
) -> Settled:
    """Run rounds until everything tracked is steady, up to a maximum number.

    Parameters
    ----------
    bench
        The drive.
    round_stimuli
        What a round sends, in order, each with its seconds (scaled already).
    tracked
        What must settle.
    section, phase
        Under which the steps are kept.
    most_rounds
        When to give up.
    together
        Whether a round's stimuli, all of the same length, are sent at the same time: one step.
    shares
        Of the requests, that those are to hold.
    """
    rounds: list[list[Step]] = []
    settled = settle(rounds, tracked, bench.applied.settings.steady_rule)
    while len(rounds) < most_rounds and not settled.is_steady:
        number = len(rounds) + 1
        actions = [
            Action("run", phase, section, number, stimulus, seconds)
            for stimulus, seconds in round_stimuli
        ]
        if together:
            others = tuple(stimulus for stimulus, _ in round_stimuli[1:])
            actions = [replace(actions[0], beside=others, shares=tuple(shares))]
        bench.expect((most_rounds - len(rounds)) * len(actions))
        rounds.append([bench.run(action) for action in actions])
        settled = settle(rounds, tracked, bench.applied.settings.steady_rule)
        bench.save_if_due()
    return settled


def recorded(
    record: Record,
    steps_a_round: int,
    tracked: Sequence[Tracked],
    *,
    section: str = "",
    phase: str = "rounds",
) -> Settled:
    """Judge the rounds that a run holds, as `run_rounds` did."""
    rounds = record.rounds(steps_a_round, section, phase)
    return settle(rounds, tracked, record.settings.steady_rule)


def cell_of(step: Step) -> Cell:
    """Return a step's request size in bytes and its share of reads in per cent."""
    return step.stimulus.sizes[0][0], round(100 * step.stimulus.read_ratio)


def step_of_cell(steps: Sequence[Step], cell: Cell) -> Step:
    """Find the step of a cell in a round."""
    return next(step for step in steps if cell_of(step) == cell)
