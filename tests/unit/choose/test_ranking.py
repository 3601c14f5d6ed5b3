"""Ranks and statements, against ratios and scatter that are known beforehand."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_choice import candidate

from drivelab.choose.candidate import QUALITIES
from drivelab.choose.ranking import UNRANKED, choose, statement
from drivelab.choose.words import headline, lacking_texts, ratio_text, statement_text, where_text
from drivelab.student import Interval, mean_interval, ratio_interval

LATENCY = QUALITIES["latency"]


def test_what_repetitions_have_in_common_cancels() -> None:
    # Both scatter by a factor of three, and always together.
    shared = [1e5, 2e5, 3e5, 1.5e5, 2.5e5]
    slow = [1.1 * each for each in shared]
    found = statement(LATENCY, candidate("sim:slow", slow), candidate("sim:fast", shared))
    assert (found.better, found.worse) == ("sim:fast", "sim:slow")
    assert found.ratio.mean == pytest.approx(1.1, rel=1e-9)
    assert found.ratio.low == pytest.approx(1.1, rel=1e-6)
    assert found.is_carried


def test_the_interval_is_students_of_the_logarithms() -> None:
    one, other = [1e5, 1.2e5, 1.1e5], [1.3e5, 1.25e5, 1.5e5]
    found = statement(LATENCY, candidate("sim:a", one), candidate("sim:b", other))
    expected = mean_interval([math.log(b / a) for a, b in zip(one, other, strict=True)])
    assert found.ratio.mean == pytest.approx(math.exp(expected.mean), rel=1e-4)
    assert found.ratio.low == pytest.approx(math.exp(expected.low or 0), rel=1e-4)
    assert found.ratio.high == pytest.approx(math.exp(expected.high or 0), rel=1e-4)


def test_drives_that_vary_by_themselves_are_compared_mean_by_mean() -> None:
    # In pairs the factors that both draw would cancel.
    shared = [1e5, 2e5, 3e5, 1.5e5, 2.5e5]
    one, other = (
        replace(candidate(name, latencies), varies=True)
        for name, latencies in (("sim:slow", [1.1 * each for each in shared]), ("sim:fast", shared))
    )
    found = statement(LATENCY, one, other)
    expected = ratio_interval([1.1 * each for each in shared], shared)
    assert found.ratio.mean == pytest.approx(1.1, rel=1e-9)
    assert found.ratio.low == pytest.approx(expected.low or 0, rel=1e-4)
    assert not found.is_carried
    # One that does not vary shares nothing with it but the requests.
    paired = statement(LATENCY, one, replace(other, varies=False))
    assert paired.is_carried


def test_higher_rates_are_better_and_longer_latencies_worse() -> None:
    quick, slow = candidate("sim:quick", [1e5, 1.1e5]), candidate("sim:slow", [2e5, 2.1e5])
    for quality in QUALITIES.values():
        found = statement(quality, slow, quick)
        assert (found.better, found.worse) == ("sim:quick", "sim:slow"), quality.name


def test_drives_that_never_differ_are_compared_exactly() -> None:
    quick, slow = (
        replace(candidate(name, [latency]), is_exact=True)
        for name, latency in (("sim:quick", 1e5), ("sim:slow", 1.001e5))
    )
    found = statement(LATENCY, slow, quick)
    assert (found.better, found.is_carried) == ("sim:quick", True)
    assert found.ratio.low == found.ratio.mean == found.ratio.high == pytest.approx(1.001)
    assert quick.interval(LATENCY) == Interval(1e5, 1e5, 1e5)
    alike = choose([quick, replace(quick, drive="sim:twin")], LATENCY)
    assert alike.ranks == ("1", "1")
    assert headline(alike) == "sim:quick and sim:twin share the best mean latency, 100 µs."
    assert statement_text(alike.steps()[0]) == "sim:quick and sim:twin have the same mean latency"


def test_one_answer_stands_for_every_repetition_of_another_drive() -> None:
    fixed = replace(candidate("sim:fixed", [1e5]), is_exact=True)
    latencies = [1.2e5, 1.3e5, 1.25e5]
    found = statement(LATENCY, candidate("sim:varies", latencies), fixed)
    expected = mean_interval([math.log(each / 1e5) for each in latencies])
    assert found.ratio.mean == pytest.approx(math.exp(expected.mean), rel=1e-4)
    assert found.ratio.low == pytest.approx(math.exp(expected.low or 0), rel=1e-4)


def carried(seeds: Sequence[int], ratio: float) -> float:
    """Give how often five noisy repetitions carry that drives of this ratio differ."""
    count = 0
    for seed in seeds:
        draw = random.Random(seed)
        pairs = [
            (1e6 * draw.lognormvariate(0, 0.05), 1e6 * ratio * draw.lognormvariate(0, 0.05))
            for _ in range(5)
        ]
        one, other = zip(*pairs, strict=True)
        found = statement(LATENCY, candidate("sim:a", one), candidate("sim:b", other))
        count += found.is_carried
    return count / len(seeds)


def test_drives_that_are_alike_are_parted_one_time_in_twenty() -> None:
    # Of 400 the share of a fair interval scatters by 1.1 %.
    assert carried(range(400), 1.0) == pytest.approx(0.05, abs=0.035)
    assert carried(range(60), 1.5) == 1.0


def test_a_rank_is_one_and_the_drives_that_are_better_for_sure() -> None:
    drives = [
        candidate("sim:c", [3e5, 3.01e5, 2.99e5]),
        candidate("sim:a", [1e5, 1.4e5, 1.2e5]),
        candidate("sim:b", [1.3e5, 1.1e5, 1.25e5]),
    ]
    choice = choose(drives, LATENCY)
    assert [one.drive for one in choice.candidates] == ["sim:a", "sim:b", "sim:c"]
    assert choice.ranks == ("1", "1", "3")
    assert [one.is_carried for one in choice.steps()] == [False, True]
    assert headline(choice).startswith("sim:a and sim:b share the best mean latency, about 120")
    assert "sim:a and sim:b cannot be told apart by mean latency" in statement_text(
        choice.steps()[0]
    )


def test_who_cannot_keep_up_comes_last_and_has_no_rank() -> None:
    # Fast answers to what it serves help a drive nothing that is not served all.
    behind = candidate("sim:behind", [1e5, 1e5], rate_iops=1000, served_iops=700)
    further = candidate("sim:further", [1e5, 1e5], rate_iops=1000, served_iops=300)
    able = candidate("sim:able", [9e5, 9e5], rate_iops=1000, served_iops=1003)
    choice = choose([further, behind, able], LATENCY)
    assert [one.drive for one in choice.candidates] == ["sim:able", "sim:behind", "sim:further"]
    assert choice.ranks == ("1", UNRANKED, UNRANKED)
    assert choice.statements == ()
    assert headline(choice) == ("sim:able alone keeps up with what arrives; the others do not.")
    first, _ = lacking_texts(choice)
    assert first.startswith(
        "sim:behind cannot keep up with load (1,000 requests a second arrive, 700 are served): "
    )
    assert headline(choose([behind, further], LATENCY)).startswith("No drive keeps up")


def test_a_queue_that_grows_slowly_is_seen_too() -> None:
    growing = [1e5 * place for place in range(1, 33)]
    steady = [1e5 + 1e3 * (place % 2) for place in range(32)]
    for batches, lacks in ((growing, True), (steady, False)):
        one = candidate(
            "sim:a", [1e5, 1e5], rate_iops=1000, served_iops=995, batches=tuple(batches)
        )
        assert bool(one.shortfalls) is lacks


def test_a_loop_that_waits_for_the_drive_asks_for_no_rate() -> None:
    one = candidate("sim:a", [1e5, 1e5])
    assert one.asked_iops is None
    assert one.shortfalls == ()
    assert candidate("sim:a", [1e5, 1e5], rate_iops=50, served_iops=50).asked_iops == 50


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (1.12, 1.1, 1.14, "12 % (10 % to 14 %)"),
        (1.02, 0.99, 1.05, "2.0 % (-1.0 % to 5.0 %)"),
        (3.2, 3.1, 3.3, "3.20 times (3.10 to 3.30)"),
        (3.2, 3.2, 3.2, "3.20 times"),
        (1234.5, 999.7, 1500.2, "1,234 times (1,000 to 1,500)"),
        (2.9, 0.0000341, 245_614.0, "2.90 times (<0.01 to 245,614)"),
        (1.0001, 0.9999, 1.0003, "less than 0.1 %"),
        (1.5, None, None, "50 %"),
    ],
)
def test_ratios_in_words(mean: float, low: float | None, high: float | None, text: str) -> None:
    assert ratio_text(Interval(mean, low, high)) == text


def test_statements_in_words_say_what_is_longer_and_what_is_higher() -> None:
    quick, slow = candidate("sim:quick", [1e5, 1e5]), candidate("sim:slow", [1.5e5, 1.5e5])
    assert statement_text(statement(LATENCY, quick, slow)) == (
        "the mean latency of sim:slow is 50 % longer than that of sim:quick"
    )
    assert statement_text(statement(QUALITIES["throughput"], quick, slow)) == (
        "the throughput of sim:quick is 50 % higher than that of sim:slow"
    )
    slower = candidate("sim:slow", [4e5, 4e5])
    assert statement_text(statement(LATENCY, quick, slower)) == (
        "the mean latency of sim:slow is 4.00 times that of sim:quick"
    )
    alike = candidate("sim:twin", [1e5, 1e5])
    assert statement_text(statement(LATENCY, quick, alike)) == (
        "sim:quick and sim:twin have the same mean latency"
    )


def test_one_kind_of_request_has_no_part_in_which_drives_differ_most() -> None:
    drives = [candidate("sim:a", [1e5, 1e5]), candidate("sim:b", [2e5, 2e5])]
    assert where_text(choose(drives, LATENCY)) is None
