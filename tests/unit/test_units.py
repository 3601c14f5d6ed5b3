"""Sizes, durations and rates as people write and read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.errors import UsageError
from drivelab.units import (
    MAX_SIZE_BYTES,
    format_duration_ns,
    format_iops,
    format_rate,
    format_size,
    parse_duration,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("512", 512),
        ("512B", 512),
        ("4k", 4096),
        ("4K", 4096),
        ("4KiB", 4096),
        ("4 KiB", 4096),
        (" 4KiB ", 4096),
        ("4kB", 4000),
        ("4KB", 4000),
        ("4.5KiB", 4608),
        ("1M", 2**20),
        ("1MiB", 2**20),
        ("1MB", 10**6),
        ("1G", 2**30),
        ("1.5GiB", 3 * 2**29),
        ("1GB", 10**9),
        ("2T", 2**41),
        ("2TB", 2 * 10**12),
        (str(MAX_SIZE_BYTES), MAX_SIZE_BYTES),
    ],
)
def test_size_is_read(text: str, expected: int) -> None:
    assert parse_size(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a size"),
        ("KiB", "not a size"),
        ("-4KiB", "not a size"),
        ("4 potatoes", "not a size"),
        ("4Kib", "not a size"),
        ("4m", "not a size"),
        ("1e3", "not a size"),
        ("0x10", "not a size"),
        ("nan", "not a size"),
        ("inf", "not a size"),
        ("٤", "not a size"),
        ("4,5KiB", "not a size"),
        ("1_000", "not a size"),
        ("9" * 5000, "not a size"),
        ("0.3KiB", "not a whole number of bytes"),
        ("0.5", "not a whole number of bytes"),
        ("8388608T", "too large"),
        ("99999999999999999999TiB", "too large"),
    ],
)
def test_wrong_size_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        parse_size(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 90.0),
        ("90s", 90.0),
        ("1.5h", 5400.0),
        ("2m", 120.0),
        ("1d", 86400.0),
        ("200ms", 0.2),
        ("85us", 85e-6),
        ("7ns", 7e-9),
    ],
)
def test_duration_is_read(text: str, expected: float) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize("text", ["", "s", "-1s", "2hours", "1H", "1M", "inf", "nan", "400d"])
def test_wrong_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"not a duration|too long"):
        parse_duration(text)


@given(st.integers(min_value=0, max_value=MAX_SIZE_BYTES))
def test_written_size_is_near_what_is_read_back(size_bytes: int) -> None:
    # One decimal of a value of at least 1 is wrong by at most 5 %.
    read_back = parse_size_of_rounded(format_size(size_bytes))
    assert abs(read_back - size_bytes) <= 0.05 * size_bytes


def parse_size_of_rounded(text: str) -> float:
    """`parse_size` without its demand for whole bytes: 1.1 KiB is not a whole number of bytes."""
    number, unit = text.split(" ")
    return float(number) * parse_size(f"1{unit}")


@given(st.sampled_from(["KiB", "MiB", "GiB", "TiB"]), st.integers(min_value=1, max_value=1023))
def test_whole_binary_size_is_written_exactly(unit: str, count: int) -> None:
    assert format_size(parse_size(f"{count}{unit}")) == f"{count} {unit}"


@pytest.mark.parametrize(
    ("duration_ns", "expected"),
    [
        (0, "0.00 ns"),
        (7, "7.00 ns"),
        (85_000, "85.0 us"),
        (999_700, "1.00 ms"),
        (1_234_000, "1.23 ms"),
        (15_321_000_000, "15.3 s"),
        (119_900_000_000, "120 s"),
        (125_000_000_000, "2 min 5 s"),
        (3_900_000_000_000, "1 h 5 min"),
    ],
)
def test_duration_is_written(duration_ns: float, expected: str) -> None:
    assert format_duration_ns(duration_ns) == expected


def test_rates_are_written() -> None:
    assert format_rate(250_000_000) == "250 MB/s"
    assert format_rate(3_883_000) == "3.88 MB/s"
    assert format_iops(35_000) == "35,000 IOPS"
    assert format_iops(947.9) == "948 IOPS"
    assert format_iops(12.34) == "12.3 IOPS"
