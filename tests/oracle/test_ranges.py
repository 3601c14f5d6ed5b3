"""The continuous ranges compared with their stated population, computed in another way."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, getcontext
from itertools import islice

import numpy as np
import pytest
from scipy import stats

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.design import parse_design
from drivelab.workloads.ranges import thresholds, workload_at
from drivelab.workloads.sobol_points import SCALE, sobol_points

KIB = 1024
BLOCKS = (512, 4096)


def raw_workloads(count: int, block_bytes: int) -> list[Characteristics]:
    """Give workloads of Sobol points, none of whose characteristics is without effect."""
    found = []
    for point in islice(sobol_points("ranges"), count):
        # Write ratio and randomness in the middle of their ranges leave everything in effect.
        shown = [SCALE // 2, *point[1:4], SCALE // 2, SCALE // 2, *point[6:]]
        found.append(workload_at(shown, block_bytes))
    return found


def calibration(count: int, block_bytes: int) -> list[Characteristics]:
    selection = parse_design(f"sobol:{5 * count}").select(seed=11, block_bytes=block_bytes)
    return [selection.workloads[index] for index in selection.parts.range("calibration")]


def shares_of_numbers(least: int, most: int) -> dict[int, Decimal]:
    """Give the weight of each whole number when the logarithm is even and rounded down."""
    getcontext().prec = 40
    span = (Decimal(most + 1) / least).ln()
    return {number: (Decimal(number + 1) / number).ln() / span for number in range(least, most + 1)}


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("name", ["queue_depth", "read_size", "write_size"])
def test_depths_and_sizes_are_even_in_the_logarithm(name: str, block_bytes: int) -> None:
    """Of 4096 Sobol points each number gets its share to within one point at either end."""
    count = 4096
    workloads = raw_workloads(count, block_bytes)
    unit = 1 if name == "queue_depth" else block_bytes
    least = 1 if name == "queue_depth" else max(1024 // block_bytes, 1)
    most = 64 if name == "queue_depth" else 256 * KIB // block_bytes
    found = Counter(getattr(workload, name) for workload in workloads)
    shares = shares_of_numbers(least, most)
    assert set(found) <= {number * unit for number in shares}
    for number, share in shares.items():
        assert abs(found[number * unit] - count * float(share)) <= 2, (name, number)
    assert max(found) == most * unit
    assert min(found) == least * unit


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_strides_are_0_in_a_quarter_and_otherwise_even(block_bytes: int) -> None:
    workloads = raw_workloads(4096, block_bytes)
    for name in ("read_stride", "write_stride"):
        strides = [getattr(workload, name) for workload in workloads]
        assert strides.count(0) == 1024
        above = np.array([stride for stride in strides if stride])
        assert (above % block_bytes == 0).all()
        assert above.min() == block_bytes
        assert above.max() == 256 * KIB
        # Even: no stretch of the range holds more than a point too much at either end, and what
        # is rounded up to a whole block is less than one.
        assert stats.kstest(above - block_bytes / 2, "uniform", (0, 256 * KIB)).statistic < 0.02


def test_ends_of_ratios_have_a_tenth_each() -> None:
    # Of a net's 4096 points an interval of a tenth holds 409.6, to within one.
    points = islice(sobol_points("ranges"), 4096)
    ratios = [workload_at(point, 512).write_ratio for point in points]
    assert ratios.count(0.0) in (409, 410)
    assert ratios.count(1.0) in (409, 410)
    inner = np.array([ratio for ratio in ratios if 0 < ratio < 1])
    assert (inner.min(), inner.max()) == pytest.approx((0, 1), abs=0.001)
    assert stats.kstest(inner, "uniform").statistic < 0.002
    # In steps of 0.01 %, so that no export has seventeen digits.
    assert all(ratio == round(ratio, 4) for ratio in ratios)


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_calibration_is_drawn_from_the_same_population(block_bytes: int) -> None:
    """Kolmogorov-Smirnov with the population's own distribution, built from its definition.

    With mass points the test's p is too large, never too small; the seed is fixed.
    """
    workloads = calibration(2000, block_bytes)
    values = {
        "write_ratio": [workload.write_ratio for workload in workloads],
        "queue_depth": [workload.queue_depth for workload in workloads],
        "read_size": [each.read_size for each in workloads if each.write_ratio < 1],
        "write_size": [each.write_size for each in workloads if each.write_ratio > 0],
        "read_random": [each.read_random for each in workloads if each.write_ratio < 1],
        "write_random": [each.write_random for each in workloads if each.write_ratio > 0],
        "read_stride": [
            each.read_stride for each in workloads if each.write_ratio < 1 and each.read_random < 1
        ],
        "write_stride": [
            each.write_stride
            for each in workloads
            if each.write_ratio > 0 and each.write_random < 1
        ],
    }
    least = max(1024, block_bytes)

    def below_or_at(name: str, value: float) -> float:
        if name.endswith(("ratio", "random")):
            return 1.0 if value >= 1 else 0.1 + 0.8 * value
        if name.endswith("stride"):
            return 0.25 + 0.75 * value / (256 * KIB)
        low, high, step = (1, 64, 1) if name == "queue_depth" else (least, 256 * KIB, block_bytes)
        return float(np.log((value + step) / low) / np.log((high + step) / low))

    for name, found in values.items():
        distribution = np.vectorize(lambda value, name=name: below_or_at(name, value))
        steps = np.sort(np.unique(found))
        empirical = np.searchsorted(np.sort(found), steps, side="right") / len(found)
        distance = np.abs(empirical - distribution(steps)).max()
        assert distance < stats.kstwo.ppf(0.999, len(found)), name


def test_calibration_draws_are_independent_of_one_another() -> None:
    """No characteristic follows another, nor itself one draw later: rank correlations."""
    workloads = [each for each in calibration(4000, 512) if 0 < each.write_ratio < 1]
    table = np.array([workload.as_tuple()[:6] for workload in workloads])
    both = np.hstack([table[:-1], table[1:]])
    correlations = stats.spearmanr(both).statistic
    others = correlations[~np.eye(12, dtype=bool)]
    # 4.2 sigma: 132 correlations, 0.4 % for the largest of sound draws; the seed is fixed.
    assert np.abs(others).max() < 4.2 / np.sqrt(len(both))


@pytest.mark.parametrize("block_bytes", [512, 1024, 2048, 4096, 8192, 65536])
@pytest.mark.parametrize("most", [64, 256 * KIB])
def test_no_threshold_depends_on_the_last_bit_of_a_logarithm(most: int, block_bytes: int) -> None:
    """What decides a size is a whole number: a library with other last bits gets the same.

    A double near 2**30 has steps of 2.4e-7; the computed quotient is off by a few of them.
    """
    getcontext().prec = 40
    least, most = (1, 64) if most == 64 else (max(1024 // block_bytes, 1), most // block_bytes)
    span = (Decimal(most + 1) / least).ln()
    for number, threshold in enumerate(thresholds(least, most), start=least + 1):
        exact = SCALE * (Decimal(number) / least).ln() / span
        assert threshold == int(exact) + 1
        assert min(exact % 1, 1 - exact % 1) > Decimal("2.4e-4")
