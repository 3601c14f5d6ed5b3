"""Kriging against conditioned normal distributions, and how often its intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from drivelab.serra import kriging
from drivelab.serra.estimate import estimated
from drivelab.serra.kriging import Kriging
from drivelab.serra.sizes import Interval
from drivelab.workloads.whole_pass import KIB, MIB

SIZES = [8 * KIB, 24 * KIB, 64 * KIB, 512 * KIB, 4 * MIB]
OTHERS = [16 * KIB, 24 * KIB, 100 * KIB, MIB]
NOISE = [4e-4, 1e-4, 4e-4, 2e-4, 9e-4]


def line(sizes):
    """A millisecond and 2 ns a byte."""
    return 1e6 + 2.0 * np.asarray(sizes, float)


def bent(sizes):
    return line(sizes) * (1 + 0.05 * np.sin(np.log(np.asarray(sizes, float))))


def joint(model: tuple[float, float, float], fitted: tuple[float, float], sizes, seen):
    """Covariance of the logarithms at sizes, as the module's page says, line and process."""
    amplitude, length, nugget = model
    logs = np.log(np.asarray(sizes, float))
    far = np.sqrt(3) * np.abs(logs[:, None] - logs[None, :]) / length
    total = amplitude**2 * (1 + far) * np.exp(-far) + nugget**2 * (far == 0)
    a, b = fitted
    for part, end in ((np.full(len(sizes), a), min(seen)), (b * np.asarray(sizes, float), 0)):
        of_line = part / (a + b * np.asarray(sizes, float))
        # One where it is largest: a at the smallest size, b at the largest.
        scale = a / (a + b * end) if end else b * max(seen) / (a + b * max(seen))
        if scale > 0:
            of_line = of_line / scale
        total += np.outer(of_line, of_line)
    return total


@pytest.mark.parametrize("model", [(0.03, 0.6, 0.0), (0.1, 1.5, 0.01), (0.003, 4.0, 0.03)])
def test_one_model_is_a_conditioned_normal_distribution(model, monkeypatch) -> None:
    monkeypatch.setattr(kriging, "_PARAMETERS", (model,))
    times = bent(SIZES)
    found = Kriging(SIZES, times, NOISE)
    fitted = tuple(found._line)
    both = [*SIZES, *OTHERS]
    total = joint(model, fitted, both, SIZES)
    known = len(SIZES)
    inside = total[:known, :known] + np.diag(NOISE)
    shared = total[known:, :known]
    on_line = fitted[0] + fitted[1] * np.asarray(both, float)
    rest = np.log(times / on_line[:known])
    means = np.log(on_line[known:]) + shared @ np.linalg.solve(inside, rest)
    spread = total[known:, known:] - shared @ np.linalg.solve(inside, shared.T)
    logs, variances = found.at(OTHERS)
    # What keeps matrices regular is 1e-9.
    assert logs == pytest.approx(means, abs=1e-6)
    assert variances == pytest.approx(np.diagonal(spread), rel=1e-4)
    assert found.covariance(OTHERS) == pytest.approx(spread, rel=1e-3, abs=1e-8)


def test_models_count_by_their_likelihood(monkeypatch) -> None:
    models = ((0.003, 4.0, 0.0), (0.03, 1.5, 0.0), (0.03, 0.6, 0.01))
    times = bent(SIZES)
    alone = []
    for model in models:
        monkeypatch.setattr(kriging, "_PARAMETERS", (model,))
        alone.append(Kriging(SIZES, times, NOISE))
    monkeypatch.setattr(kriging, "_PARAMETERS", models)
    monkeypatch.setattr(kriging, "_LEAST_WEIGHT", 0.0)
    found = Kriging(SIZES, times, NOISE)
    fitted = tuple(found._line)
    rest = np.log(times / (fitted[0] + fitted[1] * np.asarray(SIZES, float)))
    densities = [
        multivariate_normal(cov=joint(model, fitted, SIZES, SIZES) + np.diag(NOISE)).pdf(rest)
        for model in models
    ]
    shares = np.array(densities) / sum(densities)
    assert 0.01 < shares.min() < shares.max() < 0.99
    means = np.stack([each.at(OTHERS)[0] for each in alone])
    variances = np.stack([each.at(OTHERS)[1] for each in alone])
    mean = shares @ means
    logs, spread = found.at(OTHERS)
    assert logs == pytest.approx(mean, abs=1e-5)
    assert spread == pytest.approx(shares @ (variances + (means - mean) ** 2), rel=1e-3)


def test_an_exact_line_is_found_again() -> None:
    for base, slope in ((1e6, 2.0), (0.0, 3.0), (5e6, 0.0)):
        times = base + slope * np.asarray(SIZES, float)
        logs, variances = Kriging(SIZES, times, [0.0] * 5).at(OTHERS)
        expected = base + slope * np.asarray(OTHERS, float)
        assert np.exp(logs) == pytest.approx(expected, rel=2e-3)
        # Between the sizes it may still bend; at one that was measured it does not.
        assert variances[1] < 1e-8 < variances.min(where=np.arange(4) != 1, initial=1)


def test_many_sizes_are_predicted_as_few_are() -> None:
    found = Kriging(SIZES, bent(SIZES), NOISE)
    many = list(range(8 * KIB, 4 * MIB + 1, 512))
    logs, variances = found.at(many)
    assert len(logs) == len(many) == len(variances)
    for place in (0, 5000, len(many) - 1):
        one, its = found.at([many[place]])
        assert (one[0], its[0]) == pytest.approx((logs[place], variances[place]), rel=1e-9)


def test_intervals_hold_curves_as_often_as_they_say() -> None:
    # Curves of a process that is no model's: two waves of random heights on a line.
    interval = Interval(64 * KIB, 4 * MIB, 32 * KIB)
    inside, near, straight = [], [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        heights = rng.normal(0, 0.03, 2)
        logs = np.log(np.asarray(interval.sizes, float))
        shape = heights[0] * np.sin(logs) + heights[1] * np.sin(2.5 * logs + 1)
        truth = dict(zip(interval.sizes, line(interval.sizes) * np.exp(shape), strict=True))
        count = rng.integers(4, 12)
        sizes = sorted({interval.sizes[0], interval.sizes[-1], *rng.choice(interval.sizes, count)})
        times = {size: truth[size] * np.exp(rng.normal(0, 0.02)) for size in sizes}
        curve = estimated([interval], times, "kriged", dict.fromkeys(times, 0.02**2))
        knots = estimated([interval], times, "knots").times_ns
        for size, exact in truth.items():
            error = abs(np.log(curve.times_ns[size] / exact))
            inside.append(error <= 1.96 * curve.variances[size] ** 0.5)
            near.append(error)
            straight.append(abs(np.log(knots[size] / exact)))
    # Errors of one curve go together: 200 curves are some 600 of them, four standard errors 0.035.
    assert np.mean(inside) == pytest.approx(0.95, abs=0.035)
    assert np.mean(near) < 0.9 * np.mean(straight)
