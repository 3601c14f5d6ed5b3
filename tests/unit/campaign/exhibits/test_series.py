"""What a series shows: made-up series on both sides of every threshold."""

from __future__ import annotations

import random

import pytest

from drivelab.campaign.exhibits.series import (
    DRIFT_SHARE,
    FEWEST_BATCHES,
    KNEE_DEPTHS,
    KNEE_SHARE,
    STEP_EDGE,
    STEP_SHARE,
    drift,
    knee,
    step_down,
)


def level(count: int, mean: float = 100.0, jitter: float = 0.5) -> list[float]:
    """Return batches that alternate around a mean: no drift, and not constant either."""
    return [mean + (jitter if place % 2 else -jitter) for place in range(count)]


def noise(count: int, sigma: float, seed: int, correlation: float = 0.0) -> list[float]:
    """Return batches around 100 whose neighbours depend on each other as asked."""
    draw = random.Random(seed)
    values, last = [], 0.0
    for _ in range(count):
        last = correlation * last + (1 - correlation**2) ** 0.5 * draw.gauss(0, sigma)
        values.append(100 + last)
    return values


def test_a_level_series_does_not_drift() -> None:
    assert drift(level(60)) is None
    assert drift([100.0] * 60) is None


@pytest.mark.parametrize(("rise", "seen"), [(DRIFT_SHARE * 1.1, True), (DRIFT_SHARE * 0.9, False)])
def test_a_drift_counts_from_a_tenth_of_the_mean(rise: float, seen: bool) -> None:
    # The thirds differ by `rise` times the overall mean, which is 100.
    values = level(20, 100 - 50 * rise) + level(20, 100) + level(20, 100 + 50 * rise)
    found = drift(values)
    assert (found is not None) == seen
    if found:
        assert found.ratio == pytest.approx((100 + 50 * rise) / (100 - 50 * rise))


def test_a_falling_latency_drifts_as_well() -> None:
    found = drift([200 - 2 * place for place in range(60)])
    assert found is not None
    assert found.first == pytest.approx(181)
    assert found.last == pytest.approx(101)


@pytest.mark.parametrize(("jitter", "seen"), [(17.0, True), (18.0, False)])
def test_a_drift_lies_beyond_twice_the_half_width_of_the_scatter(jitter: float, seen: bool) -> None:
    # Thirds of 20, deviations of `jitter` either way, neighbours opposed (no widening); the line
    # through each takes 0.15 of the 20 squares: half-width = t(36) * sqrt(2/20 * 39.7/36) * jitter.
    rise = 2 * 2.0281 * 0.3321 * 17.5
    values = level(20, 90, jitter) + level(20, 90 + rise / 2, jitter) + level(20, 90 + rise, jitter)
    assert (drift(values) is not None) == seen


def test_noise_drifts_hardly_ever_even_when_neighbours_depend_on_each_other() -> None:
    for correlation, most in ((0.0, 2), (0.5, 20)):
        seen = sum(drift(noise(60, 30, seed, correlation)) is not None for seed in range(2000))
        assert seen <= most


def test_too_few_batches_say_nothing() -> None:
    rising = [100.0 + 20 * place for place in range(FEWEST_BATCHES)]
    assert drift(rising) is not None
    assert drift(rising[1:]) is None
    falling = [100.0] * (FEWEST_BATCHES // 2 + 1) + [50.0] * (FEWEST_BATCHES // 2)
    assert step_down(falling) is not None
    assert step_down(falling[1:]) is None


@pytest.mark.parametrize(("lost", "seen"), [(STEP_SHARE * 1.1, True), (STEP_SHARE * 0.9, False)])
def test_a_step_counts_from_a_fifth(lost: float, seen: bool) -> None:
    found = step_down(level(40) + level(20, 100 * (1 - lost)))
    assert (found is not None) == seen
    if found:
        assert found.place == 40
        assert found.share_lost == pytest.approx(lost)


@pytest.mark.parametrize(
    ("fast", "seen"),
    [(STEP_EDGE - 0.1, False), (STEP_EDGE, True), (1 - STEP_EDGE, True), (0.9, False)],
)
def test_a_step_is_neither_at_the_start_nor_at_the_end(fast: float, seen: bool) -> None:
    count = round(60 * fast)
    assert (step_down(level(count) + level(60 - count, 60)) is not None) == seen


def test_a_step_lasts_until_the_end() -> None:
    assert step_down(level(30) + level(20, 60) + level(10)) is None
    # Four batches of thirty that are fast again are not lasting, two are an exception.
    slow = level(30, 60)
    assert step_down(level(30) + slow[:26] + level(4)) is None
    assert step_down(level(30) + slow[:14] + level(2) + slow[:14]) is not None


def test_a_step_up_and_a_slow_decline_are_no_step_down() -> None:
    assert step_down(level(30, 60) + level(30)) is None
    assert step_down([100.0 - place for place in range(60)]) is None
    # The decline is a drift all the same.
    assert drift([100.0 - place for place in range(60)]) is not None


def test_noise_takes_no_step() -> None:
    for correlation in (0.0, 0.5):
        assert all(step_down(noise(60, 20, seed, correlation)) is None for seed in range(1000))


DEPTHS = (1, 2, 4, 8, 16, 32, 64)


@pytest.mark.parametrize(("share", "depth"), [(KNEE_SHARE * 1.01, 4), (KNEE_SHARE * 0.99, 8)])
def test_the_knee_is_where_throughput_is_within_a_tenth_of_the_most(
    share: float, depth: int
) -> None:
    iops = [100, 200, 1000 * share, 1000, 1000, 1000, 1000]
    latencies = [1e9 * depth / rate for depth, rate in zip(DEPTHS, iops, strict=True)]
    found = knee(DEPTHS, iops, latencies)
    assert found is not None
    assert (found.depth, found.deepest) == (depth, 64)
    assert found.iops_ratio == pytest.approx(1000 / iops[DEPTHS.index(depth)])
    assert found.latency_ratio == pytest.approx(64 / depth / found.iops_ratio)


def test_throughput_that_falls_again_has_its_knee_before() -> None:
    found = knee(DEPTHS, [100, 500, 900, 950, 900, 800, 600], [1, 1, 1, 2, 3, 4, 5])
    assert found is not None
    assert found.depth == 4
    assert found.iops_ratio == pytest.approx(600 / 900)


@pytest.mark.parametrize(("places", "seen"), [(5, True), (6, False)])
def test_a_knee_needs_a_much_deeper_queue_behind_it(places: int, seen: bool) -> None:
    # Throughput grows up to 16 (the next depth is 64, four times) or up to 32 (two times).
    iops = [min(depth, DEPTHS[places - 1]) * 100 for depth in DEPTHS]
    assert DEPTHS[-1] / DEPTHS[places - 1] == (KNEE_DEPTHS if seen else KNEE_DEPTHS / 2)
    assert (knee(DEPTHS, iops, [1.0] * 7) is not None) == seen
    assert knee([1], [100], [1]) is None
