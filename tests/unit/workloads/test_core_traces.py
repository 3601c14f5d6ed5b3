"""Traces in the core: requests as columns, checks as dictionaries, what is written."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from drivelab import _core
from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

SPC = "0,100,3584,w,0.000000\n1,200, 4096, R,0.026214,more\n0,107,512,r,0.026214\n"
TYPES = {
    "arrival_ns": np.uint64,
    "device": np.uint32,
    "operation": np.uint8,
    "offset_bytes": np.uint64,
    "size_bytes": np.uint64,
    "response_ns": np.uint64,
    "queue_ns": np.uint64,
    "device_ns": np.uint64,
    "process": np.uint32,
    "file": np.uint32,
    "position": np.uint64,
}


def arrays(batch: dict[str, bytes]) -> dict[str, Any]:
    assert list(batch) == list(TYPES)
    return {name: np.frombuffer(batch[name], kind) for name, kind in TYPES.items()}


def read(reader: _core.TraceReader) -> dict[str, Any]:
    batches = []
    while (batch := reader.next_batch(1)) is not None:
        batches.append(arrays(batch))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in TYPES}


@pytest.fixture
def spc(tmp_path: Path) -> Path:
    path = tmp_path / "a trace.gz"
    path.write_bytes(gzip.compress(SPC.encode()))
    return path


def test_requests_are_columns(spc: Path) -> None:
    reader = _core.TraceReader([spc])
    assert reader.format == "spc"
    columns = read(reader)
    assert columns["arrival_ns"].tolist() == [0, 26_214_000, 26_214_000]
    assert columns["device"].tolist() == [0, 1, 0]
    assert [_core.TRACE_OPERATIONS[each] for each in columns["operation"]] == [
        "write",
        "read",
        "read",
    ]
    assert columns["offset_bytes"].tolist() == [51_200, 102_400, 54_784]
    assert columns["size_bytes"].tolist() == [3584, 4096, 512]
    assert columns["position"].tolist() == [1, 2, 3]
    for unknown in ("response_ns", "queue_ns", "device_ns"):
        assert columns[unknown].tolist() == [_core.UNKNOWN_NS] * 3
    assert columns["process"].tolist() == [_core.UNKNOWN_PROCESS] * 3
    assert reader.devices == [("0", 2), ("1", 1)]
    assert reader.next_batch() is None


def test_checks_are_a_dictionary(spc: Path) -> None:
    reader = _core.TraceReader([spc], devices=["0", "7"])
    read(reader)
    checks = reader.checks()
    assert checks["operations"]["read"] == (1, 512)
    assert checks["operations"]["trim"] == (0, 0)
    expected = {
        "format": "spc",
        "place": "line",
        "files": [str(spc)],
        "origin_ns": 0,
        "lines": 3,
        "requests": 2,
        "skipped": 0,
        "filtered": 1,
        "missing_devices": ["7"],
        "span_ns": 26_214_000,
        "ties": 0,
        "smallest_step_ns": 26_214_000,
        "responses": 0,
        "least_response_ns": None,
        "most_response_ns": None,
        "most_end_bytes": 55_296,
        "most_size_bytes": 3584,
        "findings": {},
        "cautions": [],
    }
    assert {key: checks[key] for key in expected} == expected
    assert set(checks) == set(expected) | {"operations"}


def test_bad_lines_are_refused_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text("0,1,512,r,1\n0,1,512,r,2\nodd\n0,1,512,r,3\n0,1,512,r,3\n")
    with pytest.raises(UsageError, match=r"trace, line 3: the ASU is not a whole number: \"odd\""):
        read(_core.TraceReader([path]))
    reader = _core.TraceReader([str(path)], skip_bad_lines=True)
    assert len(read(reader)["device"]) == 4
    found = reader.checks()["findings"]
    assert found == {"malformed": {"count": 1, "is_bad": True, "places": [(0, 3)]}}
    assert [name for name, _ in reader.checks()["cautions"]] == ["coarse_clock"]


def test_what_cannot_be_read_is_said(tmp_path: Path, spc: Path) -> None:
    with pytest.raises(UsageError, match="cannot be opened"):
        _core.TraceReader([tmp_path / "none"])
    cut = tmp_path / "cut"
    cut.write_bytes(spc.read_bytes()[:-9])
    with pytest.raises(UsageError, match="cut off or damaged"):
        read(_core.TraceReader([cut]))
    for options, says in [
        ({"format": "spx"}, "there is no trace format"),
        ({"time_unit_ns": 0}, "--time-unit is 0"),
        ({"columns": [("when", "a")]}, "what a column holds is"),
    ]:
        with pytest.raises(UsageError, match=says):
            _core.TraceReader([spc], **options)


def test_columns_are_written_and_mapped(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    writer = _core.TraceWriter(path, format="parquet")
    batch = {
        "arrival_ns": np.array([0, 5, 9], np.uint64),
        "device": np.array([0, 1, 0], np.uint32),
        "operation": np.array([0, 1, 3], np.uint8),
        "offset_bytes": np.array([0, 4096, 0], np.uint64),
        "size_bytes": np.array([512, 4096, 0], np.uint64),
        "response_ns": np.array([7, _core.UNKNOWN_NS, 1], np.uint64),
    }
    writer.write(batch, ["a", "b"])
    assert writer.finish()["requests"] == 3
    with pytest.raises(UsageError, match="has ended"):
        writer.finish()
    reader = _core.TraceReader([path])
    columns = read(reader)
    for name, values in batch.items():
        assert columns[name].tolist() == values.tolist()
    assert [name for name, _ in reader.devices] == ["a", "b"]
    mapped = [("arrival", "offset_bytes"), ("offset", "arrival_ns")]
    columns = read(_core.TraceReader([path], columns=mapped, sort_window=8))
    assert columns["arrival_ns"].tolist() == [0, 0, 4096]
    assert columns["offset_bytes"].tolist() == [0, 9, 5]
    for name, wrong, says in [
        ("operation", np.array([0, 5, 0], np.uint8), "operation 5; allowed: 0 to 4"),
        ("device", np.array([0], np.uint32), "different lengths"),
    ]:
        writer = _core.TraceWriter(tmp_path / "other", format="parquet")
        with pytest.raises(UsageError, match=says):
            writer.write(batch | {name: wrong}, ["a", "b"])


def test_traces_are_copied(tmp_path: Path, spc: Path) -> None:
    path = tmp_path / "out"
    writer = _core.TraceWriter(path, format="mqsim", compression="zstd", leave_out=True)
    reader = _core.TraceReader([spc])
    assert (writer.copy(reader, 2), writer.copy(reader)) == (3, 0)
    written = writer.finish()
    assert (written["requests"], written["left_out"]["write"]) == (3, 0)
    assert read(_core.TraceReader([path]))["size_bytes"].tolist() == [3584, 4096, 512]
    with pytest.raises(UsageError, match="no compression"):
        _core.TraceWriter(path, format="spc", compression="xz")
    with pytest.raises(RunError, match="cannot be written"):
        _core.TraceWriter(tmp_path / "none" / "out", format="spc")


def test_formats_are_recognised() -> None:
    formats = {each["name"]: each for each in _core.trace_formats()}
    assert {"spc", "msr", "blktrace", "vscsi", "parquet"} <= set(formats)
    assert formats["blkparse"]["queue_events"]
    assert not formats["msr"]["has_address_unit"]
    assert {name for name, each in formats.items() if each["has_address_unit"]} == {
        *("spc", "tencent", "fiu", "disksim", "mqsim", "vscsi", "vscsi-text", "parquet")
    }
    assert [name for name, each in formats.items() if each["is_written"]] == [
        "spc",
        "fio-iolog",
        "mqsim",
        "parquet",
    ]
