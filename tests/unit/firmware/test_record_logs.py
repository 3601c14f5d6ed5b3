"""Records of firmware and its observers: read as they were written, refused where damaged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from drivelab.errors import RunError
from drivelab.firmware.record_logs import read_counted, read_observed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = {
    "format": "drivelab-processor-records",
    "version": 1,
    "model": "host",
    "parameters": {"frequency_hz": 2_200_000_000},
    "columns": [
        {"name": "instructions", "unit": "count", "how": "counted", "meaning": "executed"},
        {"name": "time_ns", "unit": "ns", "how": "derived", "meaning": "as time"},
    ],
}
END = {"end": "mark", "records": 2}


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: Any) -> Path:
        path = tmp_path / "records.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return path

    return write


def test_what_a_processor_wrote_is_read(written: Callable[..., Path]) -> None:
    log = read_observed(written(HEAD, [0, 5000, 700], [1, 5100, 710], END))
    assert [each.name for each in log.columns] == ["instructions", "time_ns"]
    assert log.columns[1].how == "derived"
    assert log.column("time_ns").tolist() == [700, 710]
    assert log.parameters == {"frequency_hz": 2_200_000_000}
    with pytest.raises(KeyError, match="branches"):
        log.column("branches")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([HEAD, [0, 5000, 700]], "no end: the program stopped early"),
        ([HEAD, [0, 1, 2], {"end": "exit", "records": 1}], "no end: the program stopped early"),
        ([HEAD, [0, 1, 2], END], "has 1 records and says 2"),
        ([HEAD, [0, 1, 2], [2, 1, 2], END], "out of place"),
        ([HEAD, [0, 1, 2], [1, 2], END], "out of place"),
        ([HEAD, [0, 1, 2], "1", END], "out of place"),
        ([{**HEAD, "version": 2}, [0, 1, 2], END], "written by version 2"),
        ([{**HEAD, "columns": [{"name": "x"}]}, END], "does not say what its numbers are"),
        ([{"format": "other"}, END], "contains no records of a processor"),
        ([[0, 1, 2], END], "contains no records of a processor"),
        ([], "is empty"),
    ],
)
def test_what_is_missing_is_said(written: Callable[..., Path], lines: list[Any], said: str) -> None:
    with pytest.raises(RunError, match=said) as raised:
        read_observed(written(*lines))
    assert "\n" not in str(raised.value)


def test_lines_that_are_no_json_are_named(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(HEAD) + "\n[0, 1,\n")
    with pytest.raises(RunError, match=r"line 2"):
        read_observed(path)
    with pytest.raises(RunError, match="cannot be read"):
        read_observed(tmp_path / "none.jsonl")


def test_the_firmwares_own_counts_are_read(written: Callable[..., Path]) -> None:
    log = read_counted(
        written(
            {"record": 0, "requests": 1000, "copied_bytes": 4096, "wall_ns": 9},
            {"record": 1, "requests": 1000, "copied_bytes": 8192, "wall_ns": 8},
        )
    )
    assert [(each.name, each.unit, each.how) for each in log.columns] == [
        ("requests", "count", "counted"),
        ("copied_bytes", "bytes", "counted"),
        ("wall_ns", "ns", "counted"),
    ]
    assert log.column("copied_bytes").tolist() == [4096, 8192]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([[0, 1]], "contains no counts"),
        ([{"record": 0, "a": 1}, {"record": 1, "b": 1}], "other counts than the first"),
        ([{"record": 1, "a": 1}], "out of place"),
    ],
)
def test_counts_that_are_not_alike_are_refused(
    written: Callable[..., Path], lines: list[Any], said: str
) -> None:
    with pytest.raises(RunError, match=said):
        read_counted(written(*lines))
