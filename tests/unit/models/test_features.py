"""Basic and extended features."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.errors import UsageError
from drivelab.models.features import (
    FEATURE_SETS,
    UNITS,
    FloatArray,
    workload_table,
)
from drivelab.workloads.characteristics import FIELDS, Characteristics


def basic_features(workloads: Sequence[Characteristics] | FloatArray) -> FloatArray:
    return FEATURE_SETS["basic"].project(workload_table(workloads))


def extended_features(workloads: Sequence[Characteristics] | FloatArray) -> FloatArray:
    return FEATURE_SETS["extended"].project(workload_table(workloads))


MIXED = Characteristics(
    write_ratio=0.25,
    queue_depth=8,
    read_size=4096,
    write_size=65536,
    read_random=0.5,
    write_random=0.0,
    read_stride=1024,
    write_stride=512 * 7,
)

ratios = st.sampled_from([0.0, 0.25, 0.5, 1.0])
sizes = st.integers(1, 512).map(lambda sectors: 512 * sectors)
strides = st.integers(0, 512).map(lambda sectors: 512 * sectors)
workloads = st.builds(
    Characteristics,
    write_ratio=ratios,
    queue_depth=st.integers(1, 128),
    read_size=sizes,
    write_size=sizes,
    read_random=ratios,
    write_random=ratios,
    read_stride=strides,
    write_stride=strides,
)


def test_extended_by_hand() -> None:
    # Strides of 7 and 2 sectors, which all writes and half of the reads follow; request size as
    # in the basic features below. A read of one page at random is one page, after 1 KiB of gap
    # it lies on any multiple of 1 KiB and touches 1.75; 16 pages of writes, on any multiple of
    # 512 bytes, touch 16.875.
    pages = 0.75 * (0.5 * 1 + 0.5 * 1.75) + 0.25 * 16.875
    expected = [0.25, 3, 16, 12, 0.0, 0.5, 3, np.log2(3) / 2, np.log2(19456), np.log2(pages)]
    assert extended_features([MIXED])[0] == pytest.approx(expected, rel=1e-15)


def test_basic_by_hand() -> None:
    # Size 0.75 * 4096 + 0.25 * 65536 = 19456; randomness 0.75 * 0.5.
    expected = [0.25, 3, np.log2(19456), 0.375]
    assert basic_features([MIXED])[0] == pytest.approx(expected, rel=1e-15)


def test_linear_inputs_by_hand() -> None:
    features = FEATURE_SETS["extended"]
    found = dict(
        zip(
            features.linear_inputs, features.project_linear(workload_table([MIXED]))[0], strict=True
        )
    )
    assert found["request_size_log2_bytes"] == np.log2(19456)
    assert found["write_size_log2_bytes_times_share"] == 0.25 * 16
    assert found["read_random_ratio_times_share"] == 0.75 * 0.5
    # Half of the reads follow the one before.
    stride = found["read_stride_log2_sectors_times_in_order_times_share"]
    assert stride == pytest.approx(0.75 * 0.5 * np.log2(3))


def test_names_are_as_many_as_columns() -> None:
    assert set(UNITS) == set(FIELDS)
    table = workload_table([MIXED])
    for features in FEATURE_SETS.values():
        assert features.project(table).shape == (1, len(features.features))
        assert features.project_linear(table).shape == (1, len(features.linear_inputs))


@given(workloads)
def test_table_blanks_what_canonical_blanks(workload: Characteristics) -> None:
    row = workload_table([workload])[0]
    expected = workload.canonical()
    for name, value in zip(FIELDS, row, strict=True):
        if expected[name] is None:
            assert np.isnan(value)
        else:
            assert value == expected[name]


@given(workloads, workloads)
def test_equal_workloads_have_equal_features(one: Characteristics, other: Characteristics) -> None:
    # The same workload with another's values where they have no effect.
    ineffective = {name for name, value in one.canonical().items() if value is None}
    same = dataclasses.replace(one, **{name: getattr(other, name) for name in ineffective})
    assert same.key() == one.key()
    for features in (basic_features, extended_features):
        assert features([same]).tobytes() == features([one]).tobytes()


@given(
    st.integers(1, 64).map(lambda sectors: 512 * sectors),
    st.integers(0, 64).map(lambda sectors: 512 * sectors),
    st.booleans(),
)
def test_pages_are_those_that_requests_touch(size: int, stride: int, random: bool) -> None:
    # All places that such requests have in a long range, counted one by one.
    step = size if random else math.gcd(size, stride)
    offsets = range(0, math.lcm(step, 4096), step)
    touched = [(offset + size - 1) // 4096 - offset // 4096 + 1 for offset in offsets]
    workload = Characteristics(
        write_ratio=1.0, write_size=size, write_random=float(random), write_stride=stride
    )
    found = 2 ** extended_features([workload])[0, -1]
    assert found == pytest.approx(sum(touched) / len(touched), rel=1e-12)


@given(st.lists(workloads, max_size=5))
def test_basic_is_complete_and_arrays_are_workloads(some: list[Characteristics]) -> None:
    assert np.isfinite(basic_features(some)).all()
    assert np.isfinite(FEATURE_SETS["extended"].project_linear(workload_table(some))).all()
    table = np.array([workload.as_tuple() for workload in some]).reshape(-1, 8)
    assert extended_features(table).tobytes() == extended_features(some).tobytes()


def test_what_is_missing_or_out_of_range_is_named() -> None:
    good = np.array([MIXED.as_tuple(), MIXED.as_tuple()])
    for column, value, message in [
        (0, 1.5, "row 1: write_ratio is 1.5; allowed: 0 to 1 ratio"),
        (0, np.nan, "row 1: write_ratio is missing"),
        (1, 0, "row 1: queue_depth is 0; allowed: 1 or more requests"),
        (3, np.nan, "row 1: write_size is missing"),
        (3, 0, "row 1: write_size is 0"),
        (6, -1, "row 1: read_stride is -1"),
        (2, np.inf, "row 1: read_size is inf"),
    ]:
        table = good.copy()
        table[1, column] = value
        with pytest.raises(UsageError, match=message):
            workload_table(table)
    with pytest.raises(UsageError, match="shape"):
        workload_table(good[:, :4])
