"""A workload's requests as one list: the same each time, in any chunks, whole or a part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_trace import spc_file
from numpy.testing import assert_array_equal

from drivelab.errors import UsageError
from drivelab.firmware.requests import (
    REQUEST,
    RequestPlan,
    request_chunks,
    write_requests,
)
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.recorded import RecordedFiles
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.trace import Trace

TWO = """
requests = 6_000
[[stream]]
name = "reads"
queue_depth = 4
share = 0.75
range_bytes = 1_048_576
[[stream]]
name = "writes"
queue_depth = 1
share = 0.25
burst_requests = 8
write_ratio = 1.0
write_size_bytes = 16_384
write_random = 0.0
range_offset_bytes = 1_048_576
range_bytes = 1_048_576
"""


def listed(workload, plan: RequestPlan | None = None, chunk: int = 1000) -> np.ndarray:
    return np.concatenate(list(request_chunks(workload, plan, chunk=chunk)))


def test_streams_are_one_list_by_their_shares_and_bursts() -> None:
    found = listed(Scenario(TWO))
    assert len(found) == 6000
    writes = found[found["kind"] == 1]
    assert len(writes) == pytest.approx(1500, abs=8)
    assert set(writes["sectors"]) == {32}
    assert set(found[found["kind"] == 0]["sectors"]) == {8}
    assert found["first"][found["kind"] == 0].max() < 2048 <= writes["first"].min()
    # In order, round and round, in runs of eight.
    assert set(np.diff(writes["first"].astype(int))) == {32, 32 - 2048}
    begins = np.flatnonzero(np.diff(found["kind"].astype(int)) == 1)
    ends = np.flatnonzero(np.diff(found["kind"].astype(int)) == -1)
    assert set(ends[: len(begins)] - begins[: len(ends)]) == {8}


def test_the_list_is_the_same_in_any_chunks_and_another_for_another_seed() -> None:
    scenario = Scenario(TWO)
    whole = listed(scenario)
    assert_array_equal(whole, listed(scenario, chunk=77))
    assert not np.array_equal(whole, listed(scenario, RequestPlan(seed=2)))


def test_a_part_is_the_first_requests_in_whole_records() -> None:
    scenario = Scenario(TWO)
    whole = listed(scenario)
    for shorter, expected in [(1, 6000), (2, 3000), (4, 1000), (10, 600), (100_000, 1)]:
        found = listed(scenario, RequestPlan(shorter=shorter))
        assert_array_equal(found, whole[:expected])
    assert len(listed(scenario, RequestPlan(requests=7_500, shorter=3))) == 2000


def test_a_file_holds_sixteen_bytes_a_request(tmp_path: Path) -> None:
    trace = Trace(((0, "write", 512, 1024), (5, "flush", 0, 0), (9, "trim", 4096, 512)))
    path = tmp_path / "requests"
    assert write_requests(path, request_chunks(trace)) == 2
    one = bytes([1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0])
    two = bytes([8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])
    assert path.read_bytes() == one + two
    scenario = Scenario(TWO)
    write_requests(path, request_chunks(scenario))
    assert_array_equal(np.fromfile(path, dtype=REQUEST), listed(scenario))


def test_a_recorded_trace_is_listed_as_it_was_and_fitted_as_asked(tmp_path: Path) -> None:
    lines = [f"0,{8 * at},4096,{'rw'[at % 2]},{at / 1000:.6f}" for at in range(300)]
    path = spc_file(tmp_path, lines)
    trace = Trace.of_files(RecordedFiles((str(path),)), depth=8)
    found = listed(trace)
    assert_array_equal(found["first"], np.arange(300) * 8)
    assert_array_equal(found["kind"], np.arange(300) % 2)
    assert_array_equal(listed(trace, RequestPlan(shorter=3)), found[:100])

    small = RequestPlan(capacity_bytes=100 * 4096)
    with pytest.raises(UsageError, match="have them fitted to the drive: wrap or scale"):
        request_chunks(trace, small)
    wrapped = listed(replace(trace, fit="wrap", _surveyed=None), small)
    assert_array_equal(wrapped["first"], np.arange(300) % 100 * 8)


def test_characteristics_need_a_number_of_requests() -> None:
    workload = Characteristics(write_ratio=0.5)
    assert len(listed(workload, RequestPlan(requests=10))) == 10
    with pytest.raises(UsageError, match="does not say how many requests it has; say requests"):
        request_chunks(workload)


def test_an_order_that_only_a_drive_knows_is_refused() -> None:
    with pytest.raises(UsageError, match=r'stream "writes": how many .* give every stream a share'):
        request_chunks(Scenario(TWO.replace("share = 0.25\nburst_requests = 8\n", "")))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"seed": -1}, "seed is -1; allowed: 0 to"),
        ({"shorter": 0}, "shorter is 0; allowed: 1 or more"),
        ({"requests": 1.5}, "requests is 1.5; allowed: 1 or more"),
        ({"capacity_bytes": None}, "capacity_bytes is None; allowed: 1 or more"),
    ],
)
def test_an_impossible_plan_is_refused(values: dict, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        RequestPlan(**values)
