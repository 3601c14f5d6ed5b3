"""Which shape of network predicts a workload best that nobody has seen: chosen without that one.

A network that was trained without five workloads says how its shape does on each of them, and what
it says of four of them may choose the shape for the fifth, which it has not seen either. So three
networks, each without another third of the workloads, judge a shape for all, and shapes race::

    round 1    every shape              without one third each     300 steps
    round 2    the best 12 of each      other thirds              1000 steps
    round 3    the best 4 of each       other thirds again        3000 steps
    at last    the best one of each     without that workload     3000 steps

A shape's score is the mean of its errors in all fits of the same length. Each fit is a
step of a run, so a search that was stopped goes on with the next fit. The paper tries all 48 shapes
on all fifteen folds and reports the best of them on the same folds (Lee et al. 2021, section 3);
here nothing of a workload is used to choose the shape that predicts it. How long networks learn
(`learners.py`) was chosen on all fifteen.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.errors import RunError
from drivelab.firmware.learners import NETWORK_SHAPES, Network, NetworkShape
from drivelab.firmware.leave_one_out import LeftOut, check_workloads, error_of
from drivelab.firmware.search_kind import FIRMWARE_SEARCH
from drivelab.runs.header import run_of, this_start
from drivelab.runs.progress import Progress
from drivelab.runs.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from drivelab.firmware.profiled import Dataset

    Array = NDArray[np.float64]

#: For each round: how many shapes of each workload take part, and steps of a fit.
ROUNDS: Final = ((len(NETWORK_SHAPES), 300), (12, 1000), (4, 3000))
#: Parts into which workloads are dealt for a round.
_PARTS: Final = 3


@dataclass(frozen=True)
class NetworkSearch:
    """A search for networks, kept in a folder.

    Attributes
    ----------
    path
        The run's folder; ``None`` keeps nothing.
    profile
        The header of the profile whose workloads are predicted.
    command
        The command line that resumes it, printed when it stops.
    progress
        Show progress on standard error.
    rounds
        As `ROUNDS`.
    shapes
        The shapes to search.
    """

    path: Path | None = None
    profile: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None
    progress: bool = False
    rounds: tuple[tuple[int, int], ...] = ROUNDS
    shapes: tuple[NetworkShape, ...] = NETWORK_SHAPES

    def left_out(self, data: Dataset, inputs: str, seed: int) -> LeftOut:
        """Predict each workload with a network whose shape was chosen without it.

        Parameters
        ----------
        data
            Records of three workloads or more.
        inputs
            Inputs of the networks (`drivelab.firmware.profiled.INPUTS`).
        seed
            Key of all random numbers.

        Raises
        ------
        UsageError
            If there are too few workloads, or the folder contains another search.
        """
        check_workloads(len(data.workloads))
        origin = this_start(self.command)
        header = {
            "kind": FIRMWARE_SEARCH.command,
            "drive": dict(self.profile.get("drive") or {"name": "firmware", "kind": "simulated"}),
            "asked": {
                "profile": run_of(self.profile) if self.profile else None,
                "workloads": list(data.workloads),
                "inputs": inputs,
            },
            "plan": {
                "seed": seed,
                "rounds": [list(each) for each in self.rounds],
                "shapes": [asdict(each) for each in self.shapes],
            },
            "origin": origin,
        }
        with Run(
            FIRMWARE_SEARCH, self.path, header, is_real=False, start=origin, command=self.command
        ) as run:
            return run.carry_out(lambda run: _search(self, run, data, data.inputs[inputs], seed))


@dataclass(frozen=True)
class _Fit:
    """A fit as a step of the run: a shape, learned without some workloads."""

    shape: NetworkShape
    left_out: tuple[int, ...]
    steps: int

    @property
    def weight(self) -> float:
        """Return its relative duration: the number of products of its layers."""
        return self.steps * (20_000 + self.shape.layers * self.shape.neurons**2)

    @property
    def is_last(self) -> bool:
        """It predicts a workload, and chooses nothing."""
        return len(self.left_out) == 1

    def is_same(self, entry: Mapping[str, Any]) -> bool:
        return (entry.get("shape"), entry.get("left_out"), entry.get("steps")) == (
            asdict(self.shape),
            list(self.left_out),
            self.steps,
        )

    def take(self, data: Dataset, rows: Array, seed: int) -> dict[str, Any]:
        training = ~np.isin(data.groups, self.left_out)
        network = Network(self.shape, self.steps)
        predict = network.fit(rows[training], data.target_ns[training], seed)
        predicted = {place: predict(rows[data.groups == place]) for place in self.left_out}
        # Of many only the mean says something for a choice.
        answers: dict[str, Any] = {
            str(place): found.tolist() if self.is_last else [float(found.mean())]
            for place, found in predicted.items()
        }
        return {
            "shape": asdict(self.shape),
            "left_out": list(self.left_out),
            "steps": self.steps,
            "predicted_ns": answers,
        }


@dataclass
class _Bench:
    """Carries fits out, one after the other, and knows how far it is."""

    run: Run
    data: Dataset
    rows: Array
    seed: int
    bar: Progress
    done: int = 0

    def carry_out(self, fits: Sequence[_Fit]) -> list[dict[int, Array]]:
        """Return what each fit predicts, by the place of the workload."""
        found = max(0, min(self.run.stored - self.done, len(fits)))
        self.bar.expect([each.weight for each in fits[found:]], found=found)
        answers = []
        for fit in fits:
            is_new = self.done >= self.run.stored
            take = partial(fit.take, self.data, self.rows, self.seed)
            entry = self.run.step(self.done, fit.is_same, take)
            self.done += 1
            if is_new:
                self.bar.advance(weight=fit.weight)
            answers.append(self._predicted(fit, entry))
        return answers

    def _predicted(self, fit: _Fit, entry: Mapping[str, Any]) -> dict[int, Array]:
        try:
            found = {
                place: np.array(entry["predicted_ns"][str(place)], dtype=np.float64)
                for place in fit.left_out
            }
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"the journal contains a fit without its answers ({error})") from error
        for place, times in found.items():
            if times.shape != (int((self.data.groups == place).sum()) if fit.is_last else 1,):
                raise RunError("the journal contains a fit with too few answers")
        return found


def _search(asked: NetworkSearch, run: Run, data: Dataset, rows: Array, seed: int) -> LeftOut:
    bar = Progress(
        0,
        0,
        "networks trained",
        shown=asked.progress,
        paused_seconds=lambda: run.paused_seconds,
        may_grow=True,
    )
    with bar:
        bench = _Bench(run, data, rows, seed, bar)
        chosen = _race(asked, bench, len(data.workloads))
        last = [_Fit(shape, (place,), asked.rounds[-1][1]) for place, shape in enumerate(chosen)]
        answers = bench.carry_out(last)
    errors = []
    for place, label in enumerate(data.workloads):
        measured = data.target_ns[data.groups == place]
        errors.append(error_of(label, measured, answers[place][place]))
    return LeftOut(tuple(errors), dict(zip(data.workloads, chosen, strict=True)))


def _race(asked: NetworkSearch, bench: _Bench, count: int) -> list[NetworkShape]:
    """Return the shape that was chosen for each workload."""
    measured = [bench.data.target_ns[bench.data.groups == place].mean() for place in range(count)]
    going = [list(asked.shapes) for _ in range(count)]
    scores: list[dict[NetworkShape, list[float]]] = [{} for _ in range(count)]
    before = 0
    done: set[_Fit] = set()
    all_parts = parts_by_round(count, len(asked.rounds))
    for (keep, steps), parts in zip(asked.rounds, all_parts, strict=True):
        going = [of[:keep] for of in going]
        if steps != before:
            # The score of a short fit cannot be compared with that of a full one.
            scores, before = [{} for _ in range(count)], steps
        fits = [
            _Fit(shape, part, steps)
            for part in parts
            for shape in asked.shapes
            if any(shape in going[place] for place in part)
        ]
        # A few workloads would be dealt the same way in each round, with the same result.
        fits = [fit for fit in fits if fit not in done]
        done |= set(fits)
        for fit, predicted in zip(fits, bench.carry_out(fits), strict=True):
            for judged, answer in predicted.items():
                error = abs(float(answer[0] / measured[judged]) - 1)
                for chooser in predicted.keys() - {judged}:
                    scores[chooser].setdefault(fit.shape, []).append(error)
        going = [
            sorted(of, key=lambda shape, told=told: float(np.mean(told[shape])))  # type: ignore[misc]
            for of, told in zip(going, scores, strict=True)
        ]
    return [of[0] for of in going]


def parts_by_round(count: int, rounds: int) -> list[list[tuple[int, ...]]]:
    """Deal workloads into parts that are left out together, in each round into others.

    Parameters
    ----------
    count
        Workloads, three or more. Up to five make pairs, of which each is in two.
    rounds
        How many rounds.
    """
    if count < 2 * _PARTS:
        around = [(at, (at + 1) % count) for at in range(count)]
        return [sorted((min(pair), max(pair)) for pair in around)] * rounds
    found = []
    for number in range(rounds):
        dealt = np.random.default_rng(number).permutation(count)
        parts = [tuple(sorted(map(int, dealt[first::_PARTS]))) for first in range(_PARTS)]
        found.append(sorted(parts))
    return found
