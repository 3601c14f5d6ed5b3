"""Workloads that a model has not seen, against what can be computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from drivelab.errors import RunError, UsageError
from drivelab.firmware.learners import LEARNERS, Linear, Network, NetworkShape
from drivelab.firmware.leave_one_out import RECORDS_FOR_P99, LeftOut, error_of, leave_one_out
from drivelab.firmware.profiled import Dataset, Profiled
from drivelab.firmware.record_logs import RecordColumn, RecordLog

Array = NDArray[np.float64]


def dataset(workloads: int = 5, records: int = 40, *, step: float = 1.0) -> Dataset:
    """Records whose time is 2 a + 30 b + 1000, of workloads that differ in a and b."""
    rng = np.random.default_rng(1)
    inputs = np.vstack(
        [
            rng.uniform(0.9, 1.1, (records, 2))
            * (1000.0 * (1 + step * place), 50.0 * (1 + step * (place % 3)))
            for place in range(workloads)
        ]
    )
    times = 2 * inputs[:, 0] + 30 * inputs[:, 1] + 1000
    groups = np.repeat(np.arange(workloads), records)
    labels = tuple(f"W{place}" for place in range(workloads))
    return Dataset(labels, groups, {"events": inputs}, times)


def test_a_linear_truth_is_found_without_the_workload() -> None:
    left_out = leave_one_out(dataset(), Linear())
    # Least squares is exact but for rounding.
    assert left_out.ratio < 1e-9
    assert [each.workload for each in left_out.errors] == ["W0", "W1", "W2", "W3", "W4"]
    assert left_out.p99_ratio is None


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_learner_predicts_what_lies_between(name: str) -> None:
    data = dataset(8, 12, step=0.1)
    left_out = leave_one_out(data, LEARNERS[name]())
    inner = [each.ratio for each in left_out.errors[1:-1]]
    # Workloads overlap: a tenth is how far the answer of a neighbour alone would be off.
    assert np.mean(inner) < 0.1


def test_the_workload_itself_is_never_learned_from() -> None:
    data = dataset()
    seen: list[int] = []

    class Counting:
        def fit(self, inputs: Array, times: Array, seed: int) -> object:
            seen.append(len(times))
            assert not any(np.isin(inputs[:, 0], data.inputs["events"][self.out, 0]))
            return lambda asked: np.full(len(asked), times.mean())

        @property
        def out(self) -> Array:
            return data.groups == len(seen) - 1

    leave_one_out(data, Counting())  # type: ignore[arg-type]
    assert seen == [160] * 5


def test_errors_are_those_of_the_paper() -> None:
    measured, predicted = np.array([100.0, 300.0]), np.array([150.0, 270.0])
    error = error_of("XX", measured, predicted)
    assert error.ratio == pytest.approx(0.05)
    assert error.record_ratio == pytest.approx((0.5 + 0.1) / 2)
    assert error.absolute_ns == pytest.approx(20.0)
    assert error.p99_ratio is None


def test_what_is_known_makes_an_error_smaller() -> None:
    error = error_of("XX", np.array([100.0, 300.0]), np.array([150.0, 270.0]))
    # 10 ns of 200 are off, of 200 and 300 as many.
    assert error.ratio_with(300.0) == pytest.approx(10 / 500)
    left_out = LeftOut((error, error_of("YY", np.array([10.0]), np.array([10.0]))), {})
    assert left_out.record_ratio == pytest.approx(0.15)
    assert left_out.measured_seconds == pytest.approx((400 + 10) / 1e9)
    assert left_out.absolute_seconds == pytest.approx(20 / 1e9)


def test_the_99th_percentile_needs_records() -> None:
    measured = np.arange(1.0, RECORDS_FOR_P99 + 1)
    error = error_of("XX", measured, 1.1 * measured)
    assert error.p99_ratio == pytest.approx(0.1)
    assert error_of("XX", measured[1:], measured[1:]).p99_ratio is None


def test_a_network_of_one_seed_answers_the_same() -> None:
    data = dataset()
    network = Network(NetworkShape(4, 128, 0.002))
    answers = [
        network.fit(data.inputs["events"], data.target_ns, 3)(data.inputs["events"])
        for _ in range(2)
    ]
    assert np.array_equal(*answers)


def test_two_workloads_are_too_few() -> None:
    with pytest.raises(UsageError, match="3 are needed, and there are 2"):
        leave_one_out(dataset(2), Linear())


def test_records_of_observers_must_be_as_many() -> None:
    def log(records: int) -> RecordLog:
        return RecordLog((RecordColumn("time_ns", "ns", "derived"),), np.ones((records, 1)), {})

    with pytest.raises(RunError, match="the firmware 3, the host 3, the target 2"):
        Profiled("XX", log(3), log(3), log(2))
