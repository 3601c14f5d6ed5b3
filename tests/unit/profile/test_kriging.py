"""Kriging compared with conditioned normal distributions, and the coverage of its intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from drivelab.profile import kriging
from drivelab.profile.estimate import estimated, estimated_pair
from drivelab.profile.kriging import Kriging, Points
from drivelab.profile.optimisation import becomes
from drivelab.profile.pair_kriging import PairKriging
from drivelab.profile.sizes import Interval
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


def kriged(sizes, times, noise) -> Kriging:
    return Kriging(Points.of(sizes), times, noise)


@pytest.mark.parametrize("model", [(0.03, 0.6, 0.0), (0.1, 1.5, 0.01), (0.003, 4.0, 0.03)])
def test_one_model_is_a_conditioned_normal_distribution(model, monkeypatch) -> None:
    monkeypatch.setattr(kriging, "_PARAMETERS", (model,))
    times = bent(SIZES)
    found = kriged(SIZES, times, NOISE)
    fitted = tuple(found._lines[0])
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
    assert found.covariance(Points.of(OTHERS)) == pytest.approx(spread, rel=1e-3, abs=1e-8)


def test_models_count_by_their_likelihood(monkeypatch) -> None:
    models = ((0.003, 4.0, 0.0), (0.03, 1.5, 0.0), (0.03, 0.6, 0.01))
    times = bent(SIZES)
    alone = []
    for model in models:
        monkeypatch.setattr(kriging, "_PARAMETERS", (model,))
        alone.append(kriged(SIZES, times, NOISE))
    monkeypatch.setattr(kriging, "_PARAMETERS", models)
    monkeypatch.setattr(kriging, "_LEAST_WEIGHT", 0.0)
    found = kriged(SIZES, times, NOISE)
    fitted = tuple(found._lines[0])
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
        logs, variances = kriged(SIZES, times, [0.0] * 5).at(OTHERS)
        expected = base + slope * np.asarray(OTHERS, float)
        assert np.exp(logs) == pytest.approx(expected, rel=2e-3)
        # Between the sizes it may still bend; at one that was measured it does not.
        assert variances[1] < 1e-8 < variances.min(where=np.arange(4) != 1, initial=1)


def test_many_sizes_are_predicted_as_few_are() -> None:
    found = kriged(SIZES, bent(SIZES), NOISE)
    many = list(range(8 * KIB, 4 * MIB + 1, 512))
    logs, variances = found.at(many)
    assert len(logs) == len(many) == len(variances)
    for place in (0, 5000, len(many) - 1):
        one, its = found.at([many[place]])
        assert (one[0], its[0]) == pytest.approx((logs[place], variances[place]), rel=1e-9)


def waves(rng: np.random.Generator, sizes) -> np.ndarray:
    """A process that is not a model's: two waves of random heights."""
    heights = rng.normal(0, 0.03, 2)
    logs = np.log(np.asarray(sizes, float))
    return heights[0] * np.sin(logs) + heights[1] * np.sin(2.5 * logs + 1)


@pytest.mark.parametrize("alike", [False, True])
def test_intervals_hold_curves_as_often_as_they_say(*, alike: bool) -> None:
    interval = Interval(64 * KIB, 4 * MIB, 32 * KIB)
    sizes = np.asarray(interval.sizes)
    inside, inside_ratio, inside_gain, near, straight, of_ratio = [], [], [], [], [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        # Every second pair jumps from size to size besides.
        jumps = rng.normal(0, 0.03 * (seed % 2), (2, len(sizes)))
        shape = waves(rng, sizes) + jumps[0]
        other = shape if alike else waves(rng, sizes) + jumps[1]
        truths = [line(sizes) * np.exp(shape), 3 * line(sizes) * np.exp(other)]
        times = []
        for truth in truths:
            places = {0, len(sizes) - 1, *rng.choice(len(sizes), rng.integers(4, 12))}
            times.append(
                {
                    int(sizes[place]): truth[place] * np.exp(rng.normal(0, 0.02))
                    for place in sorted(places)
                }
            )
        noise = tuple(dict.fromkeys(its, 0.02**2) for its in times)
        found = estimated_pair([interval], tuple(times), "kriged", noise)
        errors = []
        for truth, curve, its in zip(truths, (found.in_order, found.random), times, strict=True):
            error = np.log(np.array(list(curve.times_ns.values())) / truth)
            inside.append(np.abs(error) <= 1.96 * np.sqrt(list(curve.variances.values())))
            knots = estimated([interval], its, "knots").times_ns
            near.append(np.abs(error))
            straight.append(np.abs(np.log(np.array(list(knots.values())) / truth)))
            errors.append(error)
        spread = np.sqrt(list(found.gain_variances["reordering"].values()))
        of_ratio.append(np.abs(errors[1] - errors[0]))
        inside_ratio.append(of_ratio[-1] <= 1.96 * spread)
        # What larger requests gain, where there are any.
        every = list(found.random.times_ns)
        larger = np.searchsorted(every, becomes("aggregating", every, every))
        are_larger = larger > np.arange(len(every))
        for order, optimisation in ((1, "aggregating"), (0, "scheduling")):
            error = np.abs(errors[1] - errors[order][larger])
            spread = np.sqrt(list(found.gain_variances[optimisation].values()))
            inside_gain.append((error <= 1.96 * spread)[are_larger])
    # Errors of one curve go together: 200 curves are some 600 of them, four standard errors 0.035;
    # of ratios there are half as many, and one that does not bend is the smoothest of all.
    assert np.mean(inside) == pytest.approx(0.95, abs=0.035)
    assert np.mean(inside_ratio) >= 0.9
    assert np.mean(inside_gain) >= 0.9
    assert np.mean(near) < 0.9 * np.mean(straight)
    # Errors of two curves apart add up to the root of two; those of curves alike are the same.
    assert (np.mean(of_ratio) < 1.2 * np.mean(near)) == alike


def differences_are_those_of(found: Kriging, means: np.ndarray, spread: np.ndarray) -> None:
    """Hold them against a distribution at OTHERS of the first curve, then of the second."""
    count = len(OTHERS)
    own = np.diagonal(spread)
    # From one size to another, of one curve or two.
    for first, second, step in ((1, 0, 1), (1, 1, 2), (0, 0, -1)):
        rows = np.arange(max(0, -step), count - max(0, step))
        some, others = (np.array(OTHERS)[places] for places in (rows, rows + step))
        logs, variances = found.differences(some, others, (first, second))
        above, below = rows + count * first, rows + step + count * second
        assert logs == pytest.approx(means[above] - means[below], abs=1e-6)
        expected = own[above] + own[below] - 2 * spread[above, below]
        assert variances == pytest.approx(expected, rel=1e-3, abs=1e-8)
    for nothing in found.differences(OTHERS, OTHERS, (1, 1)):
        assert not nothing.any()


def test_two_curves_are_a_conditioned_normal_distribution(monkeypatch) -> None:
    amplitude, length, nugget = model = (0.1, 1.5, 0.01)
    monkeypatch.setattr(kriging, "_PARAMETERS", (model,))
    monkeypatch.setattr(kriging, "_TWO_CURVES", ((0.9, 0.05),))
    seen = (SIZES, SIZES[1:])
    times = [*bent(SIZES), *(2 * line(SIZES[1:]))]
    noise = [*NOISE, *NOISE[1:]]
    found = Kriging(Points.of(*seen), times, noise)
    every = [(size, 0) for size in seen[0]] + [(size, 1) for size in seen[1]]
    every += [(size, curve) for curve in (0, 1) for size in OTHERS]
    lines = found._lines
    total = np.zeros((len(every), len(every)))
    for row, (size, curve) in enumerate(every):
        for column, (other, its) in enumerate(every):
            far = np.sqrt(3) * abs(np.log(size / other)) / length
            smooth = amplitude**2 * (1 + far) * np.exp(-far) * (1.0 if curve == its else 0.9)
            jumps = 0.05**2 + nugget**2 * (curve == its)
            total[row, column] = smooth + jumps * (size == other)
    for curve in (0, 1):
        its = np.array([each == curve for _, each in every])
        sizes = [size for size, each in every if each == curve]
        none = joint((0.0, 1.0, 0.0), tuple(lines[curve]), sizes, seen[curve])
        total[np.ix_(its, its)] += none
    known = len(times)
    inside = total[:known, :known] + np.diag(noise)
    shared = total[known:, :known]
    on_line = np.array([lines[curve][0] + lines[curve][1] * size for size, curve in every])
    rest = np.log(np.array(times) / on_line[:known])
    means = np.log(on_line[known:]) + shared @ np.linalg.solve(inside, rest)
    spread = total[known:, known:] - shared @ np.linalg.solve(inside, shared.T)
    count = len(OTHERS)
    for curve in (0, 1):
        its = slice(curve * count, (curve + 1) * count)
        logs, variances = found.at(OTHERS, curve)
        assert logs == pytest.approx(means[its], abs=1e-6)
        assert variances == pytest.approx(np.diagonal(spread)[its], rel=1e-4, abs=1e-8)
    logs, variances = found.differences(OTHERS, OTHERS, (1, 0))
    own = np.diagonal(spread)
    across = np.diagonal(spread[:count, count:])
    assert logs == pytest.approx(means[count:] - means[:count], abs=1e-6)
    assert variances == pytest.approx(own[:count] + own[count:] - 2 * across, rel=1e-3, abs=1e-8)
    assert found.covariance(Points.of(OTHERS, OTHERS)) == pytest.approx(spread, rel=1e-3, abs=1e-8)
    differences_are_those_of(found, means, spread)
    density = multivariate_normal(cov=inside + 1e-9 * np.eye(known)).logpdf(rest)
    constant = known / 2 * np.log(2 * np.pi)
    assert found.log_evidence == pytest.approx(density + constant, rel=1e-9)


def test_jumps_of_one_order_are_those_of_the_other() -> None:
    sizes = [8 * KIB * number for number in range(1, 33)]
    jumps = dict(zip(sizes, np.random.default_rng(5).normal(0, 0.1, len(sizes)), strict=True))
    truth = {size: float(line(size) * np.exp(jumps[size])) for size in sizes}
    in_order = {size: truth[size] for size in (8 * KIB, 24 * KIB, 64 * KIB, 128 * KIB, 256 * KIB)}
    none = (dict.fromkeys(in_order, 1e-6), dict.fromkeys(truth, 1e-6))
    alike = PairKriging((in_order, truth), none)
    assert alike.share > 0.9
    others = [size for size in sizes if size not in in_order]
    (logs, _), (random, _) = alike.at(others)
    # What was measured in one order only is known of the other, though jumps are 0.1.
    assert np.abs(random - logs).max() < 0.01
    assert np.sqrt(alike.gain_variances(others, others, is_random=False)).max() < 0.01
    own = {size: truth[size] * np.exp(jumps[264 * KIB - size]) for size in in_order}
    apart = PairKriging((own, truth), none)
    assert np.sqrt(apart.gain_variances(others, others, is_random=False)).min() > 0.05


def test_models_left_out_first_are_those_without_a_chance(monkeypatch) -> None:
    # Every second of 95 sizes jumps: at equal ranks these or the others would not be asked.
    sizes = [64 * KIB + 32 * KIB * number for number in range(95)]
    rng = np.random.default_rng(1)
    jumps = np.where(np.arange(95) % 2, rng.normal(0, 0.1, 95), 0.0)
    times = line(sizes) * np.exp(jumps + rng.normal(0, 0.01, 95))
    some = kriged(sizes, times, [1e-4] * 95)
    monkeypatch.setattr(kriging, "_MOST_ASKED", 95)
    every = kriged(sizes, times, [1e-4] * 95)
    assert some.log_evidence == pytest.approx(every.log_evidence, abs=1e-9)
    for found, expected in zip(some.at(sizes), every.at(sizes), strict=True):
        assert found == pytest.approx(expected, rel=1e-9)


def test_a_pair_is_both_models_by_their_evidence() -> None:
    rng = np.random.default_rng(3)
    noise = dict.fromkeys(SIZES, 4e-4)
    wave = waves(rng, SIZES)
    times = tuple(
        dict(zip(SIZES, line(SIZES) * np.exp(wave + rng.normal(0, own, 5)), strict=True))
        for own in (0.02, 0.04)
    )
    pair = PairKriging(times, (noise, noise))
    alone = [kriged(SIZES, list(its.values()), [4e-4] * 5) for its in times]
    both = Kriging(Points.of(SIZES, SIZES), [*times[0].values(), *times[1].values()], [4e-4] * 10)
    odds = np.exp(both.log_evidence - alone[0].log_evidence - alone[1].log_evidence)
    assert pair.share == pytest.approx(odds / (1 + odds))
    assert 0.2 < pair.share < 0.95
    parts = np.array([[1 - pair.share], [pair.share]])

    def mixed(apart, together):
        means, variances = (np.stack(each) for each in zip(apart, together, strict=True))
        mean = (parts * means).sum(axis=0)
        return mean, (parts * (variances + means**2)).sum(axis=0) - mean**2

    for order, found in enumerate(pair.at(OTHERS)):
        expected = mixed(alone[order].at(OTHERS), both.at(OTHERS, order))
        for one, its in zip(found, expected, strict=True):
            assert one == pytest.approx(its, rel=1e-6, abs=1e-9)
    (first, its), (second, others) = (each.at(OTHERS) for each in alone)
    _, spread = mixed((second - first, its + others), both.differences(OTHERS, OTHERS, (1, 0)))
    assert pair.gain_variances(OTHERS, OTHERS, is_random=False) == pytest.approx(spread, rel=1e-6)
    covariance = pair.share * both.covariance(Points.of(OTHERS, OTHERS))
    count = len(OTHERS)
    for order, each in enumerate(alone):
        place = slice(order * count, (order + 1) * count)
        covariance[place, place] += (1 - pair.share) * each.covariance(Points.of(OTHERS))
    assert pair.covariance(OTHERS) == pytest.approx(covariance, rel=1e-9)


def test_the_covariance_is_the_mean_of_the_models(monkeypatch) -> None:
    monkeypatch.setattr(kriging, "_LEAST_WEIGHT", 0.0)
    monkeypatch.setattr(kriging, "_PARAMETERS", ((0.03, 1.5, 0.0), (0.1, 0.6, 0.03)))
    two = kriging._TWO_CURVES
    points, asked = Points.of(SIZES, SIZES[1:]), Points.of(OTHERS, OTHERS)
    times, noise = [*bent(SIZES), *(2 * line(SIZES[1:]))], [*NOISE, *NOISE[1:]]
    found = Kriging(points, times, noise)
    assert len(found._weights) == 2 * len(two)
    expected = np.zeros((len(asked), len(asked)))
    for weight, model in zip(found._weights, found._models, strict=True):
        monkeypatch.setattr(kriging, "_PARAMETERS", (tuple(model[:3]),))
        monkeypatch.setattr(kriging, "_TWO_CURVES", (tuple(model[3:]),))
        expected += weight * Kriging(points, times, noise).covariance(asked)
    assert found.covariance(asked) == pytest.approx(expected, rel=1e-6, abs=1e-12)
