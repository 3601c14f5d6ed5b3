"""Tables as lines of a terminal."""

from __future__ import annotations

from drivelab.exhibits import Table
from drivelab.report.terminal import aligned, display_width, table_lines


def test_columns_are_set_below_each_other_names_left_and_numbers_right() -> None:
    rows = [("drive", "", "IOPS"), ("sim:x25m", "warm", "9"), ("a", "cold", "1,200")]
    assert aligned(rows, left=2) == [
        "drive            IOPS",
        "sim:x25m  warm      9",
        "a         cold  1,200",
    ]
    assert aligned([("a", ""), ("bcd", "e")], left=2) == ["a     ", "bcd  e"]
    assert aligned([("a", "b"), ("bcd", "")], left=0) == ["  a  b", "bcd   "]


def test_numbers_have_the_digits_that_they_deserve_and_marked_ones_a_star() -> None:
    table = Table(
        "drives",
        ("drive", "mean (IOPS)", "wins"),
        (("sim:x25m", 12345.678, 3), ("file", 9.5, None)),
        title="IOPS",
        note="* the best",
        marked=frozenset({(0, 1)}),
    )
    assert table_lines(table) == [
        "IOPS",
        "drive     mean (IOPS)    wins",
        "sim:x25m       12,346 *     3",
        "file            9.500       -",
        "* the best",
    ]


def test_long_heads_go_on_in_further_lines() -> None:
    table = Table("t", ("published mean", "ours"), ((1, 2),))
    assert table_lines(table, left=0, head_width=11) == [
        "published",
        "     mean  ours",
        "        1     2",
    ]


def test_wide_letters_take_two_cells() -> None:
    assert display_width("速い") == 4
    assert display_width("e\N{COMBINING ACUTE ACCENT}") == 1
    rows = (("速い", 1), ("sim:x", 22))
    assert table_lines(Table("t", ("drive", "wins"), rows)) == [
        "drive  wins",
        "速い      1",
        "sim:x    22",
    ]
