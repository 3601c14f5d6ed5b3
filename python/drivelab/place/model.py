"""The placement as a mixed-integer linear program, solved by HiGHS.

::

    x[w, i] = 1     workload w lies on drive i         each workload on one
    y[i]    = 1     drive i is used                    capacity, price, watts, utilisation
    l[w]            mean latency of w                  at least its tangents, see below

A limit on a mean latency is linear in logarithms: ``log L(w, i) + sum of log growth(w, v) x[v, i]
<= log limit``, where ``x[w, i] = 1``. A limit on a 99 % latency is linear directly, one on a rate
in logarithms. The mean latency itself is the exponential of such a sum, which is convex. If it is
to be minimised, tangents bound it from below, and HiGHS pushes it down onto them.

Drives of one kind are interchangeable, so they are numbered by their first workload.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from drivelab._core import MOST_STREAMS
from drivelab.place.bound import Bound, Forbidden, slack_of
from drivelab.place.program import Program
from drivelab.place.solution import Placed, Solution, request_shares

if TYPE_CHECKING:
    from drivelab.place.interference import Behaviour
    from drivelab.place.plan import PlacementPlan

#: Distance of tangents, in logarithms of the latency: they are at most 0.5 % below it.
_TANGENT_STEP: Final = 0.2
_LONGEST_GROWTH: Final = math.log(1000.0)


class Model:
    """The program of a plan.

    Parameters
    ----------
    plan
        The plan to place.
    behaviours
        Results for the kinds of drives, in the order of the plan.
    forbidden
        Groups that must not be on one drive.
    relaxed
        A bound that may be as far off as is needed; its slack is then the objective.
    without
        Bounds that are left out.
    """

    def __init__(
        self,
        plan: PlacementPlan,
        behaviours: Sequence[Behaviour],
        forbidden: Sequence[Forbidden] = (),
        *,
        relaxed: Bound | None = None,
        without: Sequence[Bound] = (),
    ) -> None:
        self._plan = plan
        self._behaviours = behaviours
        self._relaxed = relaxed
        self._without = set(without)
        self._forbidden = forbidden
        self._program = Program()
        self._latency: dict[int, float] | None = None
        self._slack = None if relaxed is None else self._program.variable(0.0, math.inf)
        #: By behaviour its drives: of each the variable that says whether it is used, and one
        #: for each workload that it may hold.
        self._drives: list[list[tuple[int, dict[int, int]]]] = []
        for behaviour in behaviours:
            self._drives.append(self._drives_of(behaviour))
        self._count_drives()
        self._assign()
        for place, behaviour in enumerate(behaviours):
            for used, holds in self._drives[place]:
                self._constrain(behaviour, used, holds)
        self._limit()
        self._forbid()

    def solve(self, objective: str, time_limit: float | None = None) -> Solution | None:
        """Solve it.

        Parameters
        ----------
        objective
            ``cost``, ``watts``, ``latency``, ``slack`` or ``drives``, how many are used.
        time_limit
            Seconds; what was found by then is given with its gap.

        Returns
        -------
        Solution or None
            Nothing where there is no solution.
        """
        answer = self._program.minimise(self._objective(objective), time_limit)
        if answer is None:
            return None
        placed = [
            self._placed(place, tuple(at for at in sorted(holds) if answer.values[holds[at]] > 0.5))
            for place, drives in enumerate(self._drives)
            for used, holds in drives
            if answer.values[used] > 0.5
        ]
        slack = 0.0 if self._slack is None else float(answer.values[self._slack])
        placed = [each for each in placed if each.group]
        return Solution(tuple(placed), answer.value, answer.gap, slack)

    def keep_at_most(self, objective: str, value: float) -> None:
        """Hold an objective to what was found for it, so that another one can be least."""
        self._program.at_most(self._objective(objective), value)

    def _placed(self, place: int, group: tuple[int, ...]) -> Placed:
        """Return a drive that is used, by the first behaviour that may hold its workloads."""
        drive = self._behaviours[place].drive
        sizes = {at: each.size_bytes for at, each in enumerate(self._plan.demands)}
        first = next(
            number
            for number, each in enumerate(self._behaviours)
            if number == place or (each.drive == drive and each.may_hold(group, sizes))
        )
        return Placed(drive, group, first)

    # --- variables ---------------------------------------------------------------------

    def _drives_of(self, behaviour: Behaviour) -> list[tuple[int, dict[int, int]]]:
        able = sorted(behaviour.alone)
        bound = Bound("drives", behaviour.drive)
        is_endless = bound == self._relaxed or bound in self._without
        count = len(able) if is_endless else min(len(able), behaviour.offer.at_most)
        drives: list[tuple[int, dict[int, int]]] = []
        for number in range(count):
            used = self._program.binary()
            # Drive n begins with the n-th workload or a later one.
            holds = {at: self._program.binary() for at in able[number:]}
            drives.append((used, holds))
            for variable in holds.values():
                self._program.at_most({variable: 1.0, used: -1.0}, 0.0)
            if number:
                before_used, before = drives[number - 1]
                self._program.at_most({used: 1.0, before_used: -1.0}, 0.0)
                for at, variable in holds.items():
                    earlier = {before[each]: -1.0 for each in before if each < at}
                    self._program.at_most({variable: 1.0, **earlier}, 0.0)
        return drives

    def _count_drives(self) -> None:
        """Hold each kind of drive to as many as there are."""
        for place, offer in enumerate(self._plan.offers):
            bound = Bound("drives", place)
            if bound in self._without:
                continue
            row = {
                used: 1.0
                for behaviour, drives in zip(self._behaviours, self._drives, strict=True)
                for used, _ in drives
                if behaviour.drive == place
            }
            if self._relaxed == bound and self._slack is not None:
                row[self._slack] = -1.0
            self._program.at_most(row, float(offer.at_most))

    def _assign(self) -> None:
        for at in range(len(self._plan.demands)):
            places = [holds[at] for drives in self._drives for _, holds in drives if at in holds]
            self._program.equal(dict.fromkeys(places, 1.0), 1.0)

    # --- what holds of each drive ------------------------------------------------------

    def _constrain(self, behaviour: Behaviour, used: int, holds: Mapping[int, int]) -> None:
        demands = self._plan.demands
        program = self._program
        room = {
            variable: demands[at].size_bytes / behaviour.capacity_bytes
            for at, variable in holds.items()
        }
        program.at_most({**room, used: -1.0}, 0.0)
        streams = {
            variable: float(len(demands[at].part.stream_names())) for at, variable in holds.items()
        }
        program.at_most(streams, float(MOST_STREAMS))
        self._limit_utilisation(behaviour, holds)
        for at, variable in holds.items():
            for other, beside in holds.items():
                if other > at and not behaviour.can_share(at, other):
                    program.at_most({variable: 1.0, beside: 1.0}, 1.0)
            self._bound(behaviour, at, holds)

    def _limit_utilisation(self, behaviour: Behaviour, holds: Mapping[int, int]) -> None:
        bound = Bound("utilisation")
        if bound in self._without:
            return
        shares = {variable: behaviour.utilisation[at] for at, variable in holds.items()}
        limit = self._plan.utilisation_at_most
        if self._relaxed == bound and self._slack is not None:
            shares[self._slack] = -limit
        self._program.at_most(shares, limit)

    def _bound(self, behaviour: Behaviour, at: int, holds: Mapping[int, int]) -> None:
        for name, value in self._plan.demands[at].bounds.given().items():
            bound = Bound(name, at)  # type: ignore[arg-type]
            if bound in self._without:
                continue
            own, added = self._terms(behaviour, at, holds, name, value)
            # Where it does not lie here nothing is asked: 0 instead of what is over at most.
            most = max(0.0, own + sum(added.values()))
            row = dict(added)
            row[holds[at]] = row.get(holds[at], 0.0) + most
            if self._relaxed == bound and self._slack is not None:
                row[self._slack] = -1.0
            self._program.at_most(row, most - own)

    def _terms(
        self, behaviour: Behaviour, at: int, holds: Mapping[int, int], name: str, value: float
    ) -> tuple[float, dict[int, float]]:
        """Return by how much a bound is missed alone, and what each neighbour adds to that."""
        own: float = getattr(behaviour.alone[at], name)
        others = {
            other: variable
            for other, variable in holds.items()
            if other != at and behaviour.can_share(at, other)
        }
        if name == "latency_ns_p99":
            return own / value - 1, {
                variable: behaviour.added_ns(at, other) / value
                for other, variable in others.items()
            }
        if name == "latency_ns_mean":
            return math.log(own / value), {
                variable: math.log(behaviour.growth(at, other))
                for other, variable in others.items()
            }
        return math.log(value / max(own, 1e-9)), {
            variable: -math.log(behaviour.kept(at, other, name))
            for other, variable in others.items()
        }

    # --- what holds of all of them -----------------------------------------------------

    def _limit(self) -> None:
        for what, limit in (
            ("cost", self._plan.cost_at_most),
            ("watts", self._plan.watts_at_most),
        ):
            bound = Bound(what)  # type: ignore[arg-type]
            if limit is None or bound in self._without:
                continue
            row = self._sum(what)
            if self._relaxed == bound and self._slack is not None:
                row[self._slack] = -limit
            self._program.at_most(row, limit)

    def _sum(self, what: str) -> dict[int, float]:
        name = "price" if what == "cost" else what
        return {
            used: 1.0 if what == "drives" else float(getattr(behaviour.offer, name) or 0.0)
            for behaviour, drives in zip(self._behaviours, self._drives, strict=True)
            for used, _ in drives
        }

    def _forbid(self) -> None:
        for each in self._forbidden:
            hard = {bound for bound in each.broken if bound not in self._without}
            if not hard:
                continue
            is_soft = hard == {self._relaxed}
            for holds in self._holding(each):
                row = {holds[at]: 1.0 for at in each.group}
                most = float(len(each.group) - 1)
                if is_soft and self._slack is not None and self._relaxed is not None:
                    row[self._slack] = -1.0 / max(
                        slack_of(self._relaxed, each.broken[self._relaxed]), 1e-6
                    )
                self._program.at_most(row, most)

    def _holding(self, one: Forbidden) -> Iterator[dict[int, int]]:
        """Yield the drives of a kind that may hold a whole group."""
        for behaviour, drives in zip(self._behaviours, self._drives, strict=True):
            if behaviour.drive == one.drive:
                yield from (holds for _, holds in drives if all(at in holds for at in one.group))

    # --- objectives --------------------------------------------------------------------

    def _objective(self, name: str) -> dict[int, float]:
        if name == "slack" and self._slack is not None:
            return {self._slack: 1.0}
        if name == "latency":
            if self._latency is None:
                self._latency = self._latencies()
            return self._latency
        return self._sum(name)

    def _latencies(self) -> dict[int, float]:
        """Return the mean latency of all requests in ms, as a sum over the workloads."""
        weights = request_shares(self._plan.demands, self._behaviours)
        found: dict[int, float] = {}
        for at, weight in enumerate(weights):
            latency = self._program.variable(0.0, math.inf)
            found[latency] = weight
            for behaviour, drives in zip(self._behaviours, self._drives, strict=True):
                for _, holds in drives:
                    if at in holds:
                        self._tangents(behaviour, at, holds, latency)
        return found

    def _tangents(
        self, behaviour: Behaviour, at: int, holds: Mapping[int, int], latency: int
    ) -> None:
        alone_ms = behaviour.alone[at].latency_ns_mean / 1e6
        growth = {
            variable: math.log(behaviour.growth(at, other))
            for other, variable in holds.items()
            if other != at and behaviour.can_share(at, other)
        }
        end = min(sum(growth.values()), _LONGEST_GROWTH)
        for step in range(int(end / _TANGENT_STEP) + 2):
            point = step * _TANGENT_STEP
            slope = alone_ms * math.exp(point)
            # l >= slope (1 + sum - point), where it lies here; l >= 0 elsewhere.
            most = slope * max(0.0, 1 - point + sum(growth.values()))
            row = {variable: slope * each for variable, each in growth.items()}
            row[latency] = -1.0
            row[holds[at]] = row.get(holds[at], 0.0) + most
            self._program.at_most(row, most - slope * (1 - point))
