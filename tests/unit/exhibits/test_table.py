"""Tables: what is saved as CSV, and what is taken out of them."""

from __future__ import annotations

import csv
import io

import pytest

from drivelab.exhibits import Table, number, numbers


def test_csv_quotes_what_needs_it_and_leaves_empty_cells_empty() -> None:
    table = Table(
        "t", ("name", "value_ns", "count"), (('a "b", c', 1.5, None), ("d", 0.1 + 0.2, 3))
    )
    assert table.csv() == 'name,value_ns,count\n"a ""b"", c",1.5,\nd,0.3,3\n'


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx"])
def test_csv_text_is_never_a_formula(text: str) -> None:
    read = list(csv.reader(io.StringIO(Table("t", ("a",), ((text,),)).csv())))
    assert read == [["a"], [f"'{text}"]]


def test_digits_are_as_many_as_asked_for() -> None:
    assert Table("t", ("a",), ((1 / 3,), (123456789,)), digits=3).csv() == "a\n0.333\n123456789\n"
    assert Table("t", ("a",), ((1 / 3,),), digits=3).with_leading(b="x").csv() == "b,a\nx,0.333\n"


def test_a_negative_number_stays_a_number() -> None:
    assert Table("t", ("a",), ((-1.5,), (-2,))).csv() == "a\n-1.5\n-2\n"


def test_table_refuses_rows_of_another_length() -> None:
    with pytest.raises(ValueError, match="table t: a row of 1 cells"):
        Table("t", ("a", "b"), ((1,),))


def test_table_selects_records_and_gets_leading_cells() -> None:
    table = Table("t", ("a", "b"), ((1, 2.0), (3, None))).with_leading(drive="x")
    assert table.columns == ("drive", "a", "b")
    assert table.records(a=3) == [{"drive": "x", "a": 3, "b": None}]
    assert numbers(table.column("b")) == [2.0]
    with pytest.raises(TypeError, match="None is not a number"):
        number(None)
