"""Whether an optimisation pays, by hand."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest

from drivelab.profile.decision import decisions, open_half_width_ratio, spans
from drivelab.profile.estimate import estimated_pair
from drivelab.profile.measured import from_passes
from drivelab.profile.measured_pass import MeasuredPass
from drivelab.profile.optimisation import Cost, becomes
from drivelab.profile.profile import Profile
from drivelab.profile.sizes import Interval
from drivelab.workloads.whole_pass import KIB, MIB, WholePass

SIZES = Interval(8 * KIB, 32 * KIB, 8 * KIB)
# ns of one request: in order 10 us + 1 ns a byte, random 100 us more.
IN_ORDER, MORE = 10_000, 100_000


def profile(spread: float = 0.0) -> Profile:
    passes = []
    for size in (8 * KIB, 32 * KIB):
        for is_random in (False, True):
            for factor in (1 - spread, 1 + spread):
                one = WholePass("read", is_random, size, MIB)
                time = IN_ORDER + size + MORE * is_random
                duration = round(one.requests * time * factor)
                passes.append(MeasuredPass(len(passes), one, duration, None))
    return from_passes(passes, [SIZES])


def test_gains_are_times_before_over_times_after() -> None:
    found = {(one.optimisation, one.request_bytes): one for one in ask(profile(), ratio=2.0)}
    assert len(found) == 3 * 4
    reordering = found["reordering", 8 * KIB]
    assert reordering.gain_ratio == pytest.approx(118_192 / 18_192)
    assert reordering.becomes_bytes == 8 * KIB
    aggregating = found["aggregating", 8 * KIB]
    assert aggregating.becomes_bytes == 32 * KIB
    assert aggregating.gain_ratio == pytest.approx(4 * 118_192 / (110_000 + 32_768))
    scheduling = found["scheduling", 8 * KIB]
    assert scheduling.gain_ratio == pytest.approx(4 * 118_192 / 42_768)
    # 24 KiB has no multiple: nothing to aggregate, and the same gain as by order alone.
    assert found["aggregating", 24 * KIB].gain_ratio == 1
    assert found["aggregating", 24 * KIB].answer == "does not pay"
    assert found["scheduling", 24 * KIB].gain_ratio == (found["reordering", 24 * KIB].gain_ratio)


def test_a_time_is_held_against_what_a_request_takes_afterwards() -> None:
    # Order saves 100 us a request, whatever its size.
    for cost_ns, answer in ((99_000, "pays"), (101_000, "does not pay")):
        answers = {
            one.answer
            for one in ask(profile(), time_ns=cost_ns)
            if one.optimisation == "reordering"
        }
        assert answers == {answer}
    # Of 32 KiB in four requests of 8 KiB: 4 x 118,192 against 142,768, 82.5 us saved each.
    for cost_ns, answer in ((82_000, "pays"), (83_000, "does not pay")):
        found = ask(profile(), time_ns=cost_ns)
        first = next(one for one in found if one.optimisation == "aggregating")
        assert first.answer == answer


def test_what_the_interval_holds_is_unsure() -> None:
    gain = 118_192 / 18_192
    noisy = profile(spread=0.3)
    for needed, answer in ((1.01, "pays"), (gain * 0.98, "unsure"), (gain * 30, "does not pay")):
        first = ask(noisy, ratio=needed)[0]
        assert first.low_ratio < first.gain_ratio < first.high_ratio
        assert first.answer == answer


def test_neighbours_with_one_answer_are_one_span() -> None:
    # In order a request takes 10 us + size: the gain falls from 6.5 at 8 KiB to 3.3 at 32 KiB.
    found = [one for one in ask(profile(), ratio=4.0) if one.optimisation == "reordering"]
    assert spans(found) == [
        ("pays", 8 * KIB, 16 * KIB),
        ("does not pay", 24 * KIB, 32 * KIB),
    ]


def ask(found: Profile, **cost: float):
    return decisions(found, Cost(**cost))


def test_the_gain_of_reordering_is_as_sure_as_the_ratio() -> None:
    # Sizes jump alike in both orders, so that their ratio is surer than either time.
    jumps = dict(zip(SIZES.sizes, (1.0, 1.3, 0.9, 1.2), strict=True))
    passes = []
    for is_random, sizes in ((False, (8 * KIB, 32 * KIB)), (True, SIZES.sizes)):
        for size, factor in itertools.product(sizes, (0.99, 1.01)):
            one = WholePass("read", is_random, size, MIB)
            time = (IN_ORDER + size) * (2 if is_random else 1) * jumps[size] * factor
            passes.append(MeasuredPass(len(passes), one, round(one.requests * time), None))
    found = from_passes(passes, [SIZES], scheme="kriged", centre="robust")
    bounds = found.ratios["read"].bounds
    asked = decisions(found, Cost(ratio=1.2))
    for one in asked:
        if one.optimisation == "reordering":
            assert (one.low_ratio, one.high_ratio) == bounds[one.request_bytes]
    scheduled = [each for each in asked if each.optimisation == "scheduling"]
    # 24 KiB has no multiple.
    assert (scheduled[2].low_ratio, scheduled[2].high_ratio) == bounds[24 * KIB]
    in_order, random = (found.curves["read", order].variances for order in (False, True))
    reach = found.centres["read"].reach()
    low, high = bounds[16 * KIB]
    assert math.log(high / low) < 2 * reach * math.sqrt(in_order[16 * KIB] + random[16 * KIB])


def test_the_gain_of_aggregating_knows_what_both_times_share() -> None:
    # By the weights of the line, every repetition drawn again: the spread of gains is reported.
    rng = np.random.default_rng(1)
    sizes = np.array(SIZES.sizes)
    rows = np.vander(sizes, 2) @ np.linalg.pinv(np.vander([8 * KIB, 32 * KIB], 2))
    times = IN_ORDER + MORE + np.array([8 * KIB, 32 * KIB])
    noisy = times * (1 + 0.02 * rng.normal(size=(20_000, 2)))
    logs = np.log(noisy @ rows.T)
    result = estimated_pair(
        [SIZES],
        ({8 * KIB: 2e4, 32 * KIB: 5e4}, dict(zip((8 * KIB, 32 * KIB), times, strict=True))),
        variances=(dict.fromkeys((8 * KIB, 32 * KIB), 4e-4),) * 2,
    )
    gains = result.gain_variances["aggregating"]
    for place, larger in ((0, 3), (1, 3)):
        expected = np.var(logs[:, place] - logs[:, larger])
        # The variance of a sample has a standard error of 1 %.
        assert gains[int(sizes[place])] == pytest.approx(expected, rel=0.05)
    # Nothing becomes of what has no multiple, surely.
    assert gains[24 * KIB] == gains[32 * KIB] == 0
    apart = result.random.variances
    assert gains[16 * KIB] < 0.8 * (apart[16 * KIB] + apart[32 * KIB])
    both = result.gain_variances["scheduling"]
    assert both[8 * KIB] == pytest.approx(apart[8 * KIB] + result.in_order.variances[32 * KIB])


@pytest.mark.parametrize("some", [[8 * KIB, 16 * KIB, 40 * KIB], range(8 * KIB, 4 * MIB, 8 * KIB)])
def test_neighbours_are_sent_as_the_largest_multiple(some) -> None:
    found = becomes("aggregating", some, list(some))
    assert found == [max(each for each in some if each % size == 0) for size in some]
    assert becomes("scheduling", some, list(some)) == found
    assert becomes("reordering", some, list(some)) == list(some)


def test_how_far_unsure_answers_are_from_being_known() -> None:
    found = ask(profile(spread=0.1), ratio=4.0)
    unsure = [one for one in found if one.answer == "unsure"]
    assert len({one.optimisation for one in unsure}) > 1
    widths = {
        optimisation: statistics.median(
            (one.high_ratio - one.low_ratio) / 2 / one.gain_ratio
            for one in unsure
            if one.optimisation == optimisation
        )
        for optimisation in {one.optimisation for one in unsure}
    }
    assert open_half_width_ratio(found) == max(widths.values())
    assert open_half_width_ratio(ask(profile(), ratio=4.5)) == 0


def test_nobody_knows_whether_it_pays_where_nothing_was_repeated() -> None:
    once = [one for one in profile().measured if one.index % 2]
    for one in ask(from_passes(once, [SIZES]), ratio=1.0):
        # What stays as it is gains nothing, surely.
        if one.optimisation == "aggregating" and one.becomes_bytes == one.request_bytes:
            assert (one.low_ratio, one.high_ratio, one.answer) == (1, 1, "does not pay")
        else:
            assert (one.low_ratio, one.high_ratio, one.answer) == (None, None, "unsure")
            assert one.half_width_ratio == math.inf


def test_what_stays_as_it_is_gains_exactly_nothing() -> None:
    # Times with many digits: 1 is 1, and no more than the 1 that is needed.
    passes = []
    for size, is_random in itertools.product((8 * KIB, 4 * MIB), (False, True)):
        for factor in (0.99, 1.01):
            one = WholePass("read", is_random, size, 40 * MIB)
            duration = round(one.requests * (1e5 / 3 + size / 7) * factor * (1 + is_random))
            passes.append(MeasuredPass(len(passes), one, duration, None))
    found = from_passes(passes, [Interval(8 * KIB, 4 * MIB, 8 * KIB)])
    for cost in (Cost(ratio=1.0), Cost(time_ns=0.0)):
        same = [
            one
            for one in decisions(found, cost)
            if one.optimisation == "aggregating" and one.becomes_bytes == one.request_bytes
        ]
        assert len(same) == 256
        assert {(one.gain_ratio, one.needed_ratio, one.answer) for one in same} == {
            (1.0, 1.0, "does not pay")
        }
