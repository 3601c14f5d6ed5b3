"""Placing on made-up drives: rounds, forbidden groups, and limits that break at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast

import pytest
from made_placement import behaviour, demand, outcome, plan

from drivelab.errors import RunError
from drivelab.place.measured import Bench, Group
from drivelab.place.model import Model
from drivelab.place.outcome import Outcome
from drivelab.place.placing import place, solved
from drivelab.place.plan import Bounds, Demand, Offer, PlacementPlan
from drivelab.place.trials import behaviours_of
from drivelab.place.words import broken_texts, few_texts, headline, proof_text
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.side_by_side import Part

#: What each of a group does, by how many there are.
Rule = Callable[[int], float]


class MadeBench:
    """A drive of 8 GiB on which the latency of each workload follows from how many share it."""

    capacity_bytes = 8 * 2**30

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.tried: list[Group] = []

    def check(self, group: Group) -> None:
        """Take any."""

    def fit_window(self) -> None:
        """Hold no trace."""

    def try_all(self, groups: Iterable[Group], what: str) -> None:
        self.tried += groups

    def outcomes(self, group: Group) -> dict[int, Outcome]:
        assert group in self.tried
        places, copies = group.places, group.copies
        # Four times the load is still served, more is not.
        if copies > 4:
            slow = outcome(1e9, iops=5000.0)
            return {at: Outcome(1e9, 1e9, 5000.0, slow.bytes_per_second, False) for at in places}
        return {at: outcome(self.rule(len(places)), iops=1000.0 * copies) for at in places}


def placed(rule: Rule, rounds: int = 20, **values: Any) -> tuple[Any, MadeBench]:
    demands = [demand(name, latency_ns_mean=2e5) for name in "abcd"]
    asked: PlacementPlan = plan(demands, [Offer("sim:x", 4, 50.0, 2.0)], **values)
    bench = MadeBench(rule)
    return place(asked, [cast("Bench", bench)], rounds=rounds), bench


def test_all_lie_on_one_drive_where_they_do_not_disturb_each_other() -> None:
    found, bench = placed(lambda count: 1e5 * 1.01**count, utilisation_at_most=0.8)
    assert [each.placed.group for each in found.drives] == [(0, 1, 2, 3)]
    assert (found.value, found.rounds, found.holds) == (50.0, 1, True)
    assert found.behaviours[0].utilisation == dict.fromkeys(range(4), 0.2) or found.drives
    # Alone, at several times the load, in pairs and as they are used.
    assert sum(len(each.places) == 2 for each in bench.tried) == 6
    assert Group((0, 1, 2, 3)) in bench.tried


def test_a_group_that_breaks_a_bound_is_forbidden_in_the_next_round() -> None:
    # Pairs say nothing of what three do.
    found, _ = placed(lambda count: 1e5 if count < 3 else 5e5, utilisation_at_most=1.0)
    assert sorted(len(each.placed.group) for each in found.drives) == [2, 2]
    assert found.holds
    assert found.rounds > 1
    assert all(len(each.group) > 2 for each in found.forbidden)
    assert "rounds" in proof_text(found)
    assert headline(found).endswith(
        "Every limit is met when the workloads of each drive are simulated together."
    )


def test_what_is_broken_after_the_last_round_is_said_first() -> None:
    found, _ = placed(lambda count: 1e5 if count < 3 else 5e5, rounds=1, utilisation_at_most=1.0)
    assert not found.holds
    assert headline(found).startswith("4 limits are not met when the workloads of each drive")
    assert broken_texts(found)[0] == (
        "a on sim:x: the mean latency is 500 µs, and allowed is at most 200 µs."
    )


def test_where_nothing_is_left_the_bound_is_relaxed_as_far_as_was_simulated() -> None:
    found, _ = placed(
        lambda count: 1e5 if count < 3 else 5e5, utilisation_at_most=1.0, cost_at_most=60.0
    )
    assert found.drives == ()
    relaxed = {one.what: one.least for one in found.obstacles}
    assert relaxed["cost"] == pytest.approx(100.0)


def test_the_load_of_a_workload_is_found_by_copies() -> None:
    found, bench = placed(lambda count: 1e5)
    assert found.behaviours[0].utilisation == pytest.approx(dict.fromkeys(range(4), 0.2))
    assert {each.copies for each in bench.tried} == {1, 4, 16}


@pytest.mark.parametrize(
    ("streams", "copies", "used"), [(17, {3}, 0.0), (33, set(), 0.0), (16, {4}, 0.25)]
)
def test_what_has_many_streams_is_tried_at_what_a_drive_runs(
    streams: int, copies: set[int], used: float
) -> None:
    text = "".join(
        f'[[stream]]\nname = "s{at}"\nrate_iops = {1000 / streams}\nrange_bytes = 1048576\n'
        for at in range(streams)
    )
    one = Demand(Part("many", Scenario(text), 2**20), Bounds())
    bench = MadeBench(lambda count: 1e5)
    (found,) = behaviours_of(cast("Bench", bench), 0, Offer("sim:x", 1), [one])
    assert {each.copies for each in bench.tried} - {1} == copies
    assert found.utilisation == {0: pytest.approx(used)}


def test_few_requests_are_reported_wherever_a_figure_uses_them() -> None:
    found, _ = placed(lambda count: 1e5, utilisation_at_most=0.8)
    (drive,) = found.drives
    demands = [demand(name, **({"latency_ns_p99": 1e6} if name == "b" else {})) for name in "abcd"]
    counts = (5000, 999, 38, 500)
    simulated = {at: replace(drive.simulated[at], requests=counts[at]) for at in range(4)}
    few = replace(
        found,
        plan=plan(demands, found.plan.offers),
        drives=(replace(drive, simulated=simulated),),
    )
    assert few_texts(few) == [
        "Few requests were counted (b 999 and c 38). Their 99 % latencies, means and rates are "
        "rough. --seconds makes every measurement longer."
    ]
    simulated[2] = simulated[0]
    assert "Their 99 % latencies are rough." in few_texts(few)[0]
    simulated[1] = simulated[0]
    assert few_texts(few) == []


class Stopped:
    """The program, whose solver is stopped by its time limit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, gap: float, fails: bool) -> None:
        self.asked: list[str] = []
        plain = Model.solve

        def solve(model: Model, objective: str, time_limit: float | None = None) -> Any:
            self.asked.append(objective)
            if fails and len(self.asked) > 1:
                raise RunError("the solver found no placement in time")
            found = plain(model, objective, time_limit)  # type: ignore[arg-type]
            return found if found is None else replace(found, gap=gap)

        monkeypatch.setattr(Model, "solve", solve)


def test_what_was_found_in_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first objective is solved, and of those alike the best is not found in time.
    stopped = Stopped(monkeypatch, gap=0.0, fails=True)
    found, _ = placed(lambda count: 1e5, utilisation_at_most=0.8)
    assert (found.value, found.holds, found.gap) == (50.0, True, 0.0)
    assert stopped.asked == ["cost", "latency"]
    assert headline(found).startswith("The least cost is 50, ")


def test_a_solution_with_a_gap_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = Stopped(monkeypatch, gap=0.4, fails=True)
    found, _ = placed(lambda count: 1e5, utilisation_at_most=0.8)
    assert (found.holds, found.gap, stopped.asked) == (True, 0.4, ["cost"])
    assert headline(found).startswith("The least cost found is 50, ")
    assert "the least may be up to 40 % lower" in proof_text(found)


def writer(name: str, *, in_order: bool) -> Demand:
    """Give writes of 4 KiB, in order or at random."""
    workload = Characteristics(write_ratio=1.0, write_random=float(not in_order))
    return Demand(Part(name, workload, 2**30, rate_iops=1000.0), Bounds())


def test_a_kind_of_drive_behaves_as_the_writes_on_it_leave_it() -> None:
    # Reads, writes in order, writes at random.
    demands = [demand("web"), writer("log", in_order=True), writer("pages", in_order=False)]
    bench = MadeBench(lambda count: 1e5)
    clean, written = behaviours_of(cast("Bench", bench), 3, Offer("sim:x", 1), demands)
    assert (clean.drive, clean.after, sorted(clean.alone)) == (3, None, [0, 1])
    assert (written.drive, written.after, sorted(written.alone)) == (
        3,
        "small at random",
        [0, 1, 2],
    )
    assert written.utilisation == pytest.approx(dict.fromkeys(range(3), 0.2))
    after = [each for each in bench.tried if each.after is not None]
    # Loads of what was tried on a clean drive are known.
    assert [each.places for each in after if each.copies == 1] == [
        *((0,), (1,), (2,)),
        *((0, 1), (0, 2), (1, 2)),
    ]
    assert {each.places for each in after if each.copies > 1} == {(2,)}


def test_a_group_without_random_writes_is_counted_as_on_a_clean_drive() -> None:
    demands = [demand("web"), writer("log", in_order=True), writer("pages", in_order=False)]
    offer = Offer("sim:x", 3, 50.0, 2.0)
    clean = behaviour(offer, 2, {at: outcome(1e5) for at in (0, 1)})
    written = behaviour(offer, 2, {at: outcome(9e5) for at in range(3)})
    solution = solved(plan(demands, [offer]), [clean, written])
    assert solution is not None
    # The drive holds two of the three, and two of them leave it clean.
    assert [(each.group, each.behaviour) for each in solution.placed] == [((0, 1), 0), ((2,), 1)]


def test_all_behaviours_of_a_kind_share_its_drives() -> None:
    demands = [demand("web"), writer("log", in_order=True), writer("pages", in_order=False)]
    offer = Offer("sim:x", 1, 50.0, 2.0)
    clean = behaviour(offer, 2, {at: outcome(1e5) for at in (0, 1)})
    written = behaviour(offer, 2, {at: outcome(9e5) for at in range(3)})
    assert solved(plan(demands, [offer]), [clean, written]) is None
