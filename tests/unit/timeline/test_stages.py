"""Stages from the simulator's operations: what waits for what, and for how long."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from timed_operations import KIB, assert_disjoint, operation, small_preset, table_of

from drivelab._core import ClosedForm
from drivelab.drives.presets.source import read_preset
from drivelab.timeline.stages import duration_ns, stages


@pytest.fixture
def small(tmp_path: Path):
    """Give `small("x25m-yoo2014")`: the path of the preset with little flash."""
    return partial(small_preset, tmp_path)


def lengths(table, stage: str) -> list[int]:
    return [row["end_ns"] - row["start_ns"] for row in table.records(stage=stage)]


def test_write_with_waiting_is_figure_7(small) -> None:
    table = table_of(small("x25m-yoo2014"), "write", 512 * KIB)
    assert Counter(table.column("stage")) == {
        "dispatch": 128,
        "register": 128,
        "cell": 128,
        "wait_unit": 6,
    }
    # t_wait of equation 3, once a cycle: 1055 - 20 x 33 us.
    assert lengths(table, "wait_unit") == [395_000] * 6
    assert set(lengths(table, "dispatch")) == {33_000}
    assert set(lengths(table, "register")) == {82_000}
    assert set(lengths(table, "cell")) == {940_000}
    assert duration_ns(table) == 7_616_000


def test_read_without_waiting_is_figure_9(small) -> None:
    table = table_of(small("x25m-yoo2014"), "read", 512 * KIB)
    assert set(table.column("stage")) == {"dispatch", "cell", "register"}
    for number in range(128):
        steps = [row["stage"] for row in table.records(operation=number)]
        assert steps == ["dispatch", "cell", "register"]
    assert duration_ns(table) == 2_270_000


def test_planes_share_the_channel_and_program_together_as_in_figure_3(small) -> None:
    # Page 20 lies on the other plane of page 0's die.
    table = table_of(small("x25m-yoo2014-planes"), "write", 21 * 4 * KIB)
    first, second = (table.records(channel=0, way=0, plane=plane, stage="cell") for plane in (0, 1))
    assert [row["operation"] for row in (*first, *second)] == [0, 20]
    assert second[0]["start_ns"] < first[0]["end_ns"]
    assert_disjoint(table.records(channel=0, stage="register"))
    # Without plane mode the die does one after the other.
    table = table_of(small("x25m-yoo2014"), "write", 21 * 4 * KIB)
    assert_disjoint(table.records(channel=0, way=0, stage="cell"))


@pytest.mark.parametrize("op", ["read", "write"])
@pytest.mark.parametrize("record", [4 * KIB, 12 * KIB, 80 * KIB, 84 * KIB, 256 * KIB])
def test_stages_end_when_the_closed_form_says(op: str, record: int, small) -> None:
    path = small("x25m-yoo2014")
    source = read_preset(path)
    expected = ClosedForm(source.toml_text, source.base_texts).record(op, record)["record_ns"]
    assert duration_ns(table_of(path, op, record)) == expected


@pytest.mark.parametrize("op", ["read", "write"])
@pytest.mark.parametrize("base", ["x25m-yoo2014-planes", "x25m", "bench-64gib"])
def test_nothing_is_used_twice_and_no_time_is_lost(base: str, op: str, small) -> None:
    table = table_of(small(base), op, 256 * KIB)
    rows = table.records()
    for channel in set(table.column("channel")):
        assert_disjoint(table.records(channel=channel, stage="register"))
    for unit in set(table.column("unit")):
        held = [row for row in rows if row["unit"] == unit and row["stage"] != "wait_unit"]
        assert_disjoint(row for row in held if row["stage"] != "dispatch")
    assert_disjoint(table.records(stage="dispatch"))
    for number in set(table.column("operation")):
        steps = table.records(operation=number)
        for one, other in itertools.pairwise(steps):
            assert one["end_ns"] == other["start_ns"], (number, one, other)
        assert all(step["end_ns"] > step["start_ns"] for step in steps)


def test_channel_that_is_taken_makes_wait(small) -> None:
    # Eight channels, no dispatch time: the ninth page waits for the first one's transfer.
    table = table_of(small("bench-64gib"), "read", 9 * 4 * KIB)
    waits = table.records(stage="wait_channel")
    found = [(row["operation"], row["start_ns"], row["end_ns"]) for row in waits]
    assert found == [(8, 75_000, 87_300)]


def test_unit_with_a_queue_makes_wait_behind_dispatch(small) -> None:
    table = table_of(small("bench-64gib"), "read", 65 * 4 * KIB)
    wait = table.records(operation=64, stage="wait_unit")
    assert [(row["start_ns"], row["end_ns"]) for row in wait] == [(0, 87_300)]


def test_a_wait_for_another_operations_data_is_distinguished_from_one_for_the_channel() -> None:
    read = operation(kind="read", transfer_start_ns=75, transfer_end_ns=87, cell_end_ns=75)
    program = operation(
        channel=1, unit=1, transfer_start_ns=87, transfer_end_ns=99, cell_start_ns=99, cell_end_ns=9
    )
    table = stages([read, program | {"cell_end_ns": 199}])
    assert [row["stage"] for row in table.records(operation=1)] == [
        "wait_operation",
        "register",
        "cell",
    ]
    same_channel = stages([read, program | {"cell_end_ns": 199, "channel": 0}])
    assert same_channel.records(operation=1)[0]["stage"] == "wait_channel"


def test_program_transferred_while_its_die_programs_waits_for_the_die() -> None:
    first = operation(transfer_end_ns=10, cell_start_ns=10, cell_end_ns=310)
    second = operation(transfer_start_ns=10, transfer_end_ns=20, cell_start_ns=310, cell_end_ns=610)
    rows = stages([first, second]).records(operation=1)
    assert [(row["stage"], row["start_ns"], row["end_ns"]) for row in rows] == [
        ("wait_unit", 0, 10),
        ("register", 10, 20),
        ("wait_unit", 20, 310),
        ("cell", 310, 610),
    ]


def test_erase_has_no_transfer() -> None:
    erase = operation(kind="erase", page=None, dispatch_end_ns=5, cell_start_ns=5, cell_end_ns=9)
    assert [row["stage"] for row in stages([erase]).records()] == ["dispatch", "cell"]
