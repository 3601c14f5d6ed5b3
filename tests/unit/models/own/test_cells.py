"""Cells: numbers, sizes, words, and nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from drivelab.errors import UsageError
from drivelab.models.own.cells import CellColumn, cell_number


def column_of(*texts: str) -> CellColumn:
    column = CellColumn("size")
    for text in texts:
        column.add(text)
    return column


def place(row: int) -> str:
    return f"line {row}"


def test_numbers_sizes_and_what_is_missing() -> None:
    column = column_of("1", "-2.5e3", "64KiB", "", "NaN", "n/a", "4k", "0", "+.5")
    assert not column.is_words
    found = column.numbers(place)
    expected = [1, -2500, 65536, math.nan, math.nan, math.nan, 4096, 0, 0.5]
    np.testing.assert_array_equal(found, expected)


def test_a_size_counts_in_the_unit_of_its_column() -> None:
    found = column_of("64", "64KiB").numbers(place, 1024.0)
    np.testing.assert_array_equal(found, [64, 64])


def test_words_stay_words() -> None:
    column = column_of("libaio", "none", "8", "", "none")
    assert column.is_words
    assert column.words() == ["libaio", "none", "8", "", "none"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fast", "line 2: size is 'fast'; a number is expected"),
        ("inf", "line 2: size is 'inf'; numbers are 0, or"),
        ("1e400", "numbers are 0, or"),
        ("1e31", "numbers are 0, or"),
        ("-1e-31", "numbers are 0, or"),
        ("9" * 41, "numbers are 0, or"),
        ("99999999999TiB", "numbers are 0, or"),
        ("1_0", "a number is expected"),
    ],
)
def test_a_cell_that_is_no_number_among_numbers_is_a_mistake(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        column_of("1", "2", text).numbers(place)


def test_numbers_of_programs_are_bounded_too() -> None:
    column = CellColumn("x")
    for value in (1.0, math.nan, math.inf):
        column.add_number(value)
    with pytest.raises(UsageError, match="line 2: x is 'inf'"):
        column.numbers(place)


def test_empty_columns_are_seen() -> None:
    assert column_of("", "nan").is_empty
    assert not column_of("", "0").is_empty
    skipped = CellColumn("x")
    skipped.skip(3)
    assert skipped.is_empty
    assert len(skipped) == 3


def test_one_value_that_is_asked() -> None:
    assert cell_number("depth", " 8 ") == 8
    assert cell_number("size_kib", "64KiB", 1024.0) == 64
    assert math.isnan(cell_number("depth", ""))
    with pytest.raises(UsageError, match="depth is 'eight'; give a number"):
        cell_number("depth", "eight")
    with pytest.raises(UsageError, match="depth is '64KiB'"):
        cell_number("depth", "64KiB", None)
