"""What a trace asks for, compared with numbers computed in another way or known beforehand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_trace import msr_file, spc_file

from drivelab._core import Stream, TraceCharacterizer, TraceReader, TraceWriter
from drivelab.errors import UsageError
from drivelab.traces.characterization import CHARACTERISTICS, characterize
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.recorded import RecordedFiles

S = 10**9


def test_the_eight_characteristics_of_what_the_generator_makes(tmp_path: Path) -> None:
    asked = Characteristics(
        write_ratio=0.25,
        queue_depth=1,
        read_size=8192,
        write_size=16384,
        read_random=0.6,
        write_random=0.0,
        read_stride=65536,
        write_stride=0,
    )
    stream = Stream.of_characteristics(asked.as_tuple()).within(1 << 40)
    count = 20_000
    ((directions, offsets, sizes),) = stream.generate(7, 0, count)
    path = tmp_path / "made.parquet"
    writer = TraceWriter(path, format="parquet")
    batch = {
        "arrival_ns": np.arange(count, dtype=np.uint64) * np.uint64(1000),
        "device": np.zeros(count, np.uint32),
        "operation": np.frombuffer(directions, np.uint8),
        "offset_bytes": np.array(offsets, np.uint64),
        "size_bytes": np.array(sizes, np.uint64),
    }
    writer.write(batch, ["made"])
    writer.finish()
    found = characterize(RecordedFiles((str(path),))).characteristics
    assert tuple(found) == CHARACTERISTICS
    assert found["write_ratio"] == pytest.approx(0.25, abs=0.001)
    assert (found["read_size_bytes"], found["write_size_bytes"]) == (8192, 16384)
    # Of 15,000 reads a share has a standard error of 0.004.
    assert found["read_random"] == pytest.approx(0.6, abs=0.015)
    assert found["read_stride_bytes"] == 65536
    # The first of them goes anywhere.
    assert found["write_random"] == pytest.approx(0.0, abs=0.001)
    assert found["write_stride_bytes"] == 0
    assert found["queue_depth"] is None


def test_what_is_outstanding_is_known_by_completions(tmp_path: Path) -> None:
    trace = characterize(RecordedFiles((str(msr_file(tmp_path)),)), window_ns=10**8)
    # One arrives each ms and takes 2 ms: two are outstanding but in the first ms and the last.
    assert trace.has_depth
    assert trace.characteristics["queue_depth"] == pytest.approx(600 / 301)
    for direction in ("read", "write"):
        times = trace.times(direction, "response")
        assert times is not None
        assert (times["mean"], times["p50"], times["max"]) == (2e6, 2_000_000, 2_000_000)
        assert trace.times(direction, "queue") is None
    columns = trace.windows
    assert columns["begin_ns"].tolist() == [0, 10**8, 2 * 10**8]
    assert columns["duration_ns"].tolist() == [10**8, 10**8, 99 * 10**6]
    assert columns["queue_depth"].tolist() == pytest.approx([1.99, 2, 2])
    assert columns["responses"].tolist() == [100, 100, 100]
    assert columns["response_ns_p99"].tolist() == [2e6] * 3
    assert np.isnan(columns["queue_ns_mean"]).all()


def test_too_few_completions_give_no_depth(tmp_path: Path) -> None:
    columns = ("timestamp", "response", "iotype", "lun", "offset", "size")
    lines = ["Timestamp,Response,IOType,LUN,Offset,Size"]
    lines += [f"{index}.0,{'0.5' if index % 2 else ''},R,1,0,4096" for index in range(50)]
    assert len(columns) == 6
    path = tmp_path / "systor"
    path.write_text("\n".join(lines) + "\n")
    trace = characterize(RecordedFiles((str(path),)), window_ns=S)
    assert trace.known_ratio == 0.5
    assert trace.characteristics["queue_depth"] is None
    assert np.isnan(trace.windows["queue_depth"]).all()
    assert trace.times("read", "response") is not None


def test_windows_add_up_to_the_whole(tmp_path: Path) -> None:
    trace = characterize(RecordedFiles((str(spc_file(tmp_path)),)), window_ns=7 * S)
    columns = trace.windows
    for name in ("read_requests", "write_requests", "read_bytes", "write_bytes"):
        assert columns[name].sum() == trace.found[name]
    assert columns["footprint_so_far_bytes"][-1] == trace.found["footprint"]["bytes"]
    assert columns["duration_ns"][:-1].tolist() == [7 * S] * (len(columns["begin_ns"]) - 1)
    assert columns["begin_ns"][-1] + columns["duration_ns"][-1] == trace.span_ns


def test_two_programs_in_turn_are_in_order(tmp_path: Path) -> None:
    found = characterize(RecordedFiles((str(spc_file(tmp_path)),))).found
    assert found["read_sequential_requests"] == 398
    assert found["read_adjacent_requests"] == 0
    assert found["read"]["ranks"][:3] == [0, 398, 0]
    # Writes go round four places of 4 KiB, half of each: strided, then back to the first.
    assert found["footprint"]["written_bytes"] == 4 * 4096


def test_a_cache_of_what_comes_again_holds_it(tmp_path: Path) -> None:
    lines = [f"0,{8 * (index % 10)},4096,r,{index}" for index in range(100)]
    trace = characterize(RecordedFiles((str(spc_file(tmp_path, lines)),)))
    shares = dict(trace.held_ratio())
    assert shares[8 * 4096] == 0
    assert shares[10 * 4096] == pytest.approx(0.9)


def test_a_heat_map_holds_all_requests(tmp_path: Path) -> None:
    found = characterize(RecordedFiles((str(spc_file(tmp_path)),))).found
    heat = found["heat"]
    read, write = (np.frombuffer(heat[name], np.uint32) for name in ("read", "write"))
    assert (read.sum(), write.sum()) == (400, 200)
    assert len(read) == heat["columns"] * heat["rows"]
    own = [device["heat"] for device in found["devices"]]
    assert [np.frombuffer(one["read"], np.uint32).sum() for one in own] == [400, 0]


def test_many_devices_are_shown_by_the_busiest(tmp_path: Path) -> None:
    lines = [f"{index % 1000},{index * 8},4096,w,{index}" for index in range(5_000)]
    lines += [f"77,0,4096,r,{5_000 + index}" for index in range(100)]
    found = characterize(RecordedFiles((str(spc_file(tmp_path, lines)),))).found
    assert found["device_count"] == 1000
    assert len(found["devices"]) == 64
    assert found["devices"][0]["device"] == 77
    assert found["devices"][0]["read_requests"] == 100
    assert found["other_devices"]["write_requests"] == 5 * 936


def test_a_trace_of_no_request_is_refused(tmp_path: Path) -> None:
    path = spc_file(tmp_path, ["0,1,512,r,1", "0,1,512,r,2", "0,1,512,r,3"])
    with pytest.raises(UsageError, match=r"has no device '4'; its devices are 0"):
        characterize(RecordedFiles((str(path),), devices=("4",)))
    with pytest.raises(
        UsageError, match="contains no request of format spc \\(3 bad lines skipped\\)"
    ):
        characterize(RecordedFiles((str(path),), device_bytes=512, skip_bad_lines=True))


def test_progress_is_shown(tmp_path: Path) -> None:
    shown: list[int] = []
    characterize(RecordedFiles((str(spc_file(tmp_path)),)), progress=shown.append)
    assert shown == [600]


def test_the_core_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="window is 0"):
        TraceCharacterizer(window_ns=0)
    characterizer = TraceCharacterizer()
    assert characterizer.add(TraceReader([spc_file(tmp_path)])) == 600
    assert characterizer.finish()["read_requests"] == 400
    with pytest.raises(UsageError, match="has ended"):
        characterizer.finish()
    lines = [f"0,0,512,r,{index}" for index in range(100_002)]
    with pytest.raises(UsageError, match="more than 100000 windows of 1 s hold requests"):
        characterize(RecordedFiles((str(spc_file(tmp_path, lines)),)), window_ns=S)
