"""Arrow streams compared with pyarrow: every kind of cell, and memory that is freed."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.api import arrow_stream

EVERY_KIND: dict[str, tuple[arrow_stream.Kind, list[Any]]] = {
    "text": ("text", ["sim:x25m", None, "", "ü\0", "x" * 1000]),
    "integer": ("integer", [0, None, -1, 2**63 - 1, -(2**63)]),
    "real": ("real", [0.5, None, -0.0, math.inf, 5e-324]),
    "flag": ("flag", [True, None, False, True, False]),
    "empty": ("real", [None] * 5),
}


class Stream:
    def __init__(self, columns: dict[str, tuple[arrow_stream.Kind, list[Any]]]) -> None:
        self.columns = columns

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return arrow_stream.arrow_stream(self.columns)


def test_pyarrow_reads_every_kind_of_cell() -> None:
    table = pa.table(Stream(EVERY_KIND))
    table.validate(full=True)
    assert table.to_pydict() == {name: cells for name, (_, cells) in EVERY_KIND.items()}
    assert [str(each.type) for each in table.schema] == [
        "string",
        "int64",
        "double",
        "bool",
        "double",
    ]
    assert all(each.nullable for each in table.schema)


@pytest.mark.parametrize(
    "columns", [{}, {name: (kind, []) for name, (kind, _) in EVERY_KIND.items()}]
)
def test_what_has_no_rows_is_a_table_too(columns: Any) -> None:
    table = pa.table(Stream(columns))
    table.validate(full=True)
    assert (table.num_rows, table.column_names) == (0, [*columns])


CELLS = st.sampled_from(["text", "integer", "real", "flag"]).flatmap(
    lambda kind: st.tuples(
        st.just(kind),
        st.lists(
            st.none()
            | {
                # What is half a character is no text.
                "text": st.text(st.characters(exclude_categories=["Cs"])),
                "integer": st.integers(-(2**63), 2**63 - 1),
                "real": st.floats(allow_nan=False),
                "flag": st.booleans(),
            }[kind],
            max_size=40,
        ),
    )
)


@given(column=CELLS)
def test_any_column_comes_back_as_it_is(column: tuple[arrow_stream.Kind, list[Any]]) -> None:
    table = pa.table(Stream({"one": column}))
    table.validate(full=True)
    assert table.column("one").to_pylist() == column[1]


def held() -> tuple[int, int]:
    gc.collect()
    return len(arrow_stream._kept), len(arrow_stream._capsules)


def test_memory_is_held_as_long_as_something_points_to_it() -> None:
    before = held()
    table = pa.table(Stream(EVERY_KIND))
    assert held()[0] > before[0]
    column = table.column("text")
    del table
    # A column outlives its table.
    assert column.to_pylist() == EVERY_KIND["text"][1]
    del column
    assert held() == before


def test_a_stream_that_nobody_reads_holds_nothing() -> None:
    before = held()
    capsule = arrow_stream.arrow_stream(EVERY_KIND)
    assert held() != before
    del capsule
    assert held() == before


def test_a_stream_is_read_once() -> None:
    reader = pa.RecordBatchReader.from_stream(Stream(EVERY_KIND))
    assert [batch.num_rows for batch in reader] == [5]
    assert list(reader) == []


def test_a_table_may_live_until_the_process_ends() -> None:
    code = (
        "import pyarrow, drivelab.api.arrow_stream as made\n"
        "class Stream:\n"
        "    def __arrow_c_stream__(self, requested_schema=None):\n"
        "        return made.arrow_stream({'x': ('text', ['a', None])})\n"
        "pyarrow.kept = pyarrow.table(Stream())\n"
        "kept = made.arrow_stream({'x': ('real', [1.0])})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
