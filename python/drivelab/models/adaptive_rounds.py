"""What a campaign of the design ``adaptive`` asks for, round by round, until its goal is reached.

Probes come first and find how the drive is built. The first round is spread over the ranges. Each
later round is a fifth of the existing measurements. A fifth of a round is drawn at random, so that
intervals and the expected error stay honest. Of the rest, a quarter is spread out further, and
three quarters are chosen where the model would learn most (docs/models.md has the results of other
shares). On a real drive with sustained writes each round doubles the measurements, because each
round costs the writing before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from drivelab.campaign.forecast import measurement_seconds
from drivelab.campaign.rounds import Asked, Measured, Pool
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.write_pattern import BURST
from drivelab.models import adaptive
from drivelab.models.adaptive import ExpectedError, Judge, Judged
from drivelab.models.features import workload_table
from drivelab.models.goal import FEWEST_FOR_ERROR, FEWEST_MEASUREMENTS, EndedBy, Goal
from drivelab.models.measured import fitted_and_checked
from drivelab.models.probed import may_map_blocks, probed
from drivelab.runs.progress import Bound
from drivelab.workloads.adaptive import START
from drivelab.workloads.calibration import calibration_count
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import FITTED, PartName, Parts
from drivelab.workloads.probes import (
    FILL_SECONDS,
    Fill,
    first_probes,
    is_rewrites,
    page_probes,
)

# A round adds this share of the existing measurements, and at least this many.
_GROWTH: Final = 5
_LEAST_ROUND: Final = 15
# Of what is not drawn, the share that is chosen.
_CHOSEN: Final = 0.75
# Number of pool workloads that a choice looks at, and number that represent the population.
_LOOKED_AT: Final = 1_500
_REFERENCES: Final = 500
# Curves may take this share of a budget.
_SWEEPS_OF_BUDGET: Final = 4
# So may probes, of which there are this many, and five more if random writes are slow.
_PROBES_OF_BUDGET: Final = 8
_PROBES: Final = 24
#: So a budget has room for probes if it is long enough for this many workloads.
FEWEST_AFFORDED_WITH_PROBES: Final = _PROBES_OF_BUDGET * _PROBES
# And so may fills, if each takes as long as it may.
_FILLS_OF_BUDGET: Final = 6
# Parts that a budget does not count.
_BESIDES: Final = ("check", "fills")
# Each measurement counts for so long at least, as one that fails.
_NO_TIME: Final = 1e-9


class AdaptiveRounds:
    """Asks for rounds until a goal is reached; see `drivelab.campaign.rounds.Asking`.

    Parameters
    ----------
    goal
        When there is enough.
    pool
        Workloads that may be measured.
    plan
        How long each measurement is, and the seed.
    is_real
        Whether time passes while the drive measures, and so counts as it passes.
    fills
        What shows how much the drive takes before it slows down, by its place in the pool.

    Attributes
    ----------
    ended_by
        What ended the run, if it has ended.
    """

    def __init__(
        self,
        goal: Goal,
        pool: Pool,
        plan: MeasurementPlan,
        *,
        is_real: bool,
        fills: Sequence[Fill] = (),
    ) -> None:
        self._goal = goal
        self._to_fill = fills
        self._pool = pool
        self._plan = plan
        self._is_real = is_real
        # The drive is written before each kind of writing of each round, so rounds are few and
        # large.
        self._growth = _growth(plan, is_real=is_real)
        self._before: float | None = None
        # As long as none is measured, what the plan says of each.
        self._planned_seconds: float | None = None
        if is_real and plan.seconds is not None:
            self._planned_seconds = plan.warmup_seconds + plan.seconds
        self.ended_by: EndedBy | None = None
        self._judge = Judge(plan.seed)
        self._judged: Judged | None = None
        self._spent_seconds = 0.0
        self._total = 0
        self._bound: Bound = "about"
        self._seconds_left: float | None = None
        self._foresee(Measured([], Parts(), [], 0.0), [])

    @property
    def expected(self) -> ExpectedError | None:
        """How far the model is expected to be off, once that is known."""
        return None if self._judged is None else self._judged.expected

    @property
    def expected_total(self) -> int:
        """Measurements of the whole run, as far as that is known."""
        return self._total

    @property
    def bound(self) -> Bound:
        """How `expected_total` is meant: it is known, or a bound."""
        return self._bound

    @property
    def seconds_left(self) -> float | None:
        """What is left of the budget, if what may still be measured must fit into it.

        On a simulated drive its time is not that of whoever waits.
        """
        return self._seconds_left

    @property
    def note(self) -> str:
        """The error to expect, in words."""
        return "" if self.expected is None else f"error about {self.expected.describe()}"

    @property
    def ending(self) -> dict[str, Any]:
        """What the header keeps of how the run ended."""
        expected = self.expected
        return {
            "goal": self._goal.to_json(),
            "ended_by": self.ended_by,
            "expected_error_ratio": None if expected is None else expected.ratio,
            "expected_error_deviation_ratio": None if expected is None else expected.deviation,
            "spent_seconds": self._spent_seconds,
        }

    def next_round(self, measured: Measured) -> Sequence[Asked]:
        """Return what to measure next; nothing once the goal is reached."""
        self._spent_seconds = self._spent(measured)
        more = self._more(measured)
        self._foresee(measured, more)
        budget = self._goal.budget_seconds
        beside = measured.parts.check < len(self._pool["check"]) or any(
            one.part in _BESIDES for one in more
        )
        self._seconds_left = None
        if budget is not None and self._is_real and not beside:
            self._seconds_left = max(budget - self._spent_seconds, 0.0)
        return more

    def _foresee(self, measured: Measured, more: Sequence[Asked]) -> None:
        """Find how many measurements there will be, as far as that is known.

        Parameters
        ----------
        measured
            What there is.
        more
            What is asked for now, in addition.
        """
        parts = measured.parts
        # Asked for at the end, whatever the goal is.
        beside = len(self._pool["check"]) - parts.check + sum(map(_count, self._fills(measured)))
        self._bound = "about"
        if self.ended_by is not None:
            self._total = parts.total + beside
            return
        to_come = self._goal.most - sum(parts.counts[part] for part in FITTED)
        to_come = max(to_come, 0) + _count(self._probes(measured)) + _count(self._sweeps(measured))
        if self._goal.error_ratio is not None:
            self._bound = "at most"
        if self._goal.budget_seconds is not None:
            each = self._each_seconds(measured)
            if each is None:
                self._bound, to_come = "at least", 0
            else:
                left = max(self._goal.budget_seconds - self._spent_seconds, 0.0)
                to_come = min(to_come, int(left / each))
        asked = sum(_count(one) for one in more if one.part not in _BESIDES)
        self._total = parts.total + max(to_come, asked) + beside

    def _each_seconds(self, measured: Measured) -> float | None:
        """Return how long a measurement that the budget counts takes; None before the first."""
        counted = sum(
            measured.parts.part_of(one.index) not in _BESIDES for one in measured.measurements
        )
        each = self._spent_seconds / counted if counted else self._planned_seconds
        return None if each is None else max(each, _NO_TIME)

    def _more(self, measured: Measured) -> Sequence[Asked]:
        count = sum(measured.parts.counts[part] for part in FITTED)
        held = [one for one in measured.measurements if measured.parts.part_of(one.index) in FITTED]
        begin = self._begin(measured)
        if begin:
            return begin
        if len(held) >= FEWEST_MEASUREMENTS:
            self._learn(held, measured.parts)
        size = self._size(count, len(measured.measurements))
        if size:
            return self._round(size, count, measured)
        done = measured.parts.check
        if done < len(self._pool["check"]):
            return [Asked("check", tuple(range(done, len(self._pool["check"]))))]
        return self._fills(measured)

    def _begin(self, measured: Measured) -> list[Asked]:
        """Return what comes before any choice: probes, the first round, the sweeps.

        Where there is a budget the first round, which is short then, tells what there is room for.
        """
        parts = measured.parts
        started = parts.training > 0
        if self._is_real and self._plan.writes != BURST and (fills := self._fills(measured)):
            # Later the drive is in the state that its writes have reached.
            return fills
        if self._goal.budget_seconds is not None and not started:
            return self._start()
        probes = self._probes(measured)
        if probes is not None:
            return [probes]
        sweeps = self._sweeps(measured)
        begin = [] if started else self._start()
        if begin and self._growth > 1:
            return begin
        return begin if sweeps is None else [*begin, sweeps]

    def _probes(self, measured: Measured) -> Asked | None:
        """Return the probes that come next, None where all that there is room for are measured."""
        pool = self._pool["probes"]
        if not self._goal.has_probes or not pool:
            return None
        asked = [one for one in measured.asked if one.part == "probes"]
        places = {workload.key(): place for place, workload in enumerate(pool)}
        if len(asked) > 1:
            return None
        if not asked:
            if not self._has_room(measured, _PROBES, _PROBES_OF_BUDGET):
                return None
            wanted = first_probes()
        else:
            wanted = self._further_probes(measured)
        probes = tuple(places[each.key()] for each in wanted if each.key() in places)
        return Asked("probes", probes) if probes else None

    def _further_probes(self, measured: Measured) -> list[Characteristics]:
        """Return the probes that depend on the results of the first ones."""
        found = [
            one for one in measured.measurements if measured.parts.part_of(one.index) == "probes"
        ]
        page = probed(found).page_bytes
        wanted = [] if page is None else page_probes(page)
        # A drive that collects garbage writes slowly anywhere, too.
        if self._plan.writes == BURST and may_map_blocks(found):
            wanted += filter(is_rewrites, self._pool["probes"])
        return wanted

    def _fills(self, measured: Measured) -> list[Asked]:
        """Return what shows how much the drive takes before it slows down, if that is missing.

        Nothing is learned from it, and a simulated drive begins each measurement in the same state,
        so it may come last. On a real drive it leaves the writes of a burst what they were.
        """
        fills, budget = self._to_fill, self._goal.budget_seconds
        if not self._goal.has_probes or measured.parts.fills:
            return []
        if budget is not None and budget < _FILLS_OF_BUDGET * len(fills) * FILL_SECONDS:
            return []
        return [Asked("fills", (place,), fill.requests) for place, fill in enumerate(fills)]

    def _has_room(self, measured: Measured, count: int, part: int) -> bool:
        """Return whether so many measurements would take no more than one part of the budget."""
        budget = self._goal.budget_seconds
        if budget is None:
            return True
        return part * count * self._spent_seconds / max(1, len(measured.measurements)) <= budget

    def _start(self) -> list[Asked]:
        count = first_round(self._goal)
        drawn = calibration_count(count)
        return [
            Asked("training", tuple(range(count - drawn))),
            Asked("calibration", tuple(range(drawn))),
        ]

    def _sweeps(self, measured: Measured) -> Asked | None:
        """Return the workloads for curves, where the budget has room for them."""
        sweeps = len(self._pool["sweeps"])
        if measured.parts.sweeps or not sweeps:
            return None
        if not self._has_room(measured, sweeps, _SWEEPS_OF_BUDGET):
            return None
        return Asked("sweeps", tuple(range(sweeps)))

    def _learn(self, held: Sequence[Measurement], parts: Parts) -> None:
        rows, _ = fitted_and_checked(held, parts)
        self._judged = self._judge.judged(rows)

    def _size(self, count: int, measured: int) -> int:
        """Return how many the next round has; 0 when the goal is reached."""
        goal = self._goal
        error = goal.error_ratio
        expected = None if count < FEWEST_FOR_ERROR else self.expected
        if error is not None and expected is not None and expected.ratio <= error:
            self.ended_by = "error"
            return 0
        left = goal.most - count
        if left <= 0:
            self.ended_by = "measurements"
            return 0
        least = START - count if count < START else _LEAST_ROUND
        size = min(max(least, count // self._growth), left)
        if goal.budget_seconds is not None:
            each = max(self._spent_seconds / max(1, measured), _NO_TIME)
            room = int((goal.budget_seconds - self._spent_seconds) / each)
            if room <= 0:
                self.ended_by = "budget"
                return 0
            # At most twice as many: the first few are a poor estimate of the cost.
            size = min(size, room, 2 * count)
        return size

    def _round(self, size: int, count: int, measured: Measured) -> list[Asked]:
        parts = measured.parts
        drawn = calibration_count(count + size) - parts.calibration
        drawn = min(max(drawn, 0), size, len(self._pool["calibration"]) - parts.calibration)
        chosen = 0 if count < START else int(_CHOSEN * (size - drawn))
        taken = _places(measured.asked, ("training", "chosen"))
        picked = self._choose(chosen, measured, taken) if chosen else ()
        free = (
            place
            for place in range(len(self._pool["training"]))
            if place not in taken and place not in picked
        )
        spread = tuple(islice(free, size - drawn - len(picked)))
        first = parts.calibration
        asked = (
            Asked("training", spread),
            Asked("calibration", tuple(range(first, first + drawn))),
            Asked("chosen", picked),
        )
        return [one for one in asked if one.places]

    def _choose(self, count: int, measured: Measured, taken: set[int]) -> tuple[int, ...]:
        """Return the places in the pool of the workloads that a model would learn most from."""
        held = [one for one in measured.measurements if measured.parts.part_of(one.index) in FITTED]
        rows, _ = fitted_and_checked(held, measured.parts)
        if self._judged is None:
            return ()
        learned = adaptive.learn(rows, self._judged.inputs)
        pool = self._pool["training"]
        noisy = adaptive.limited_by_noise(learned)
        again = {key for key, is_noisy in zip(rows.keys, noisy, strict=True) if is_noisy}
        may_be = (
            place for place in range(len(pool)) if place not in taken or pool[place].key() in again
        )
        places = list(islice(may_be, _LOOKED_AT))
        candidates = workload_table([pool[place] for place in places])
        reference = workload_table(pool[-_REFERENCES:])
        chosen = adaptive.choose(learned, candidates, reference, count)
        return tuple(places[place] for place in chosen)

    def _spent(self, measured: Measured) -> float:
        """Return how much of the budget is spent: without what no model is fitted to at its end."""
        counted = [
            measurement_seconds(one, self._plan)
            for one in measured.measurements
            if measured.parts.part_of(one.index) not in _BESIDES
        ]
        if not self._is_real:
            return sum(counted)
        if self._before is None:
            # Of earlier starts only what their measurements took is known.
            self._before = sum(counted)
        return self._before + measured.seconds


def _growth(plan: MeasurementPlan, *, is_real: bool) -> int:
    return 1 if is_real and plan.writes != BURST else _GROWTH


def first_round(goal: Goal) -> int:
    """Return how many workloads are measured before any is chosen."""
    # A budget may hold little: what a measurement costs is known after a few.
    usual = START if goal.budget_seconds is None else FEWEST_MEASUREMENTS
    return min(usual, goal.most)


def most_rounds(goal: Goal, plan: MeasurementPlan, *, is_real: bool, has_check: bool) -> int:
    """Return in how many rounds a run asks for its workloads, where a budget does not end it."""
    has_budget = goal.budget_seconds is not None
    # With a budget the first round is short, and the workloads for curves come by themselves.
    rounds = 1 + 2 * goal.has_probes + has_check + has_budget
    count = first_round(goal)
    while count < goal.most:
        least = START - count if count < START else _LEAST_ROUND
        size = min(max(least, count // _growth(plan, is_real=is_real)), goal.most - count)
        count += min(size, 2 * count) if has_budget else size
        rounds += 1
    return rounds


def _count(asked: Asked | None) -> int:
    return 0 if asked is None else len(asked.places)


def _places(asked: Sequence[Asked], parts: Sequence[PartName]) -> set[int]:
    return {place for one in asked if one.part in parts for place in one.places}
