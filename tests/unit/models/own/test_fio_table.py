"""Options of fio's jobs as characteristics, results as columns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from made_table import fio_report

from drivelab.errors import UsageError
from drivelab.models.own.reading import read_files
from drivelab.models.own.table import OwnTable

ASYNCHRONOUS = {"ioengine": "libaio"}


def read(tmp_path: Path, jobs: list[dict[str, Any]], **common: str) -> OwnTable:
    path = tmp_path / "fio.json"
    path.write_text("fio: a line before\n" + fio_report(jobs, **common))
    return read_files([path])


def row(table: OwnTable, place: int = 0) -> dict[str, float]:
    named = table.named([])
    numbers = {
        name: float(named.numbers(name)[place])
        for name in named.names
        if not named.cells(name).is_words and not named.cells(name).is_empty
    }
    return {name: value for name, value in numbers.items() if not math.isnan(value)}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"write_ratio": 0, "queue_depth": 1, "read_size": 4096, "read_random": 0}),
        ({"rw": "randwrite", "bs": "8k"}, {"write_ratio": 1, "write_size": 8192}),
        ({"rw": "randrw"}, {"write_ratio": 0.5, "read_random": 1, "write_random": 1}),
        ({"rw": "randrw", "rwmixwrite": "30"}, {"write_ratio": 0.3}),
        ({"readwrite": "rw", "rwmixread": "70"}, {"write_ratio": 0.3, "read_random": 0}),
        ({"iodepth": "8", "numjobs": "4", **ASYNCHRONOUS}, {"queue_depth": 32}),
        # A synchronous engine keeps one request, whatever depth it is asked for.
        ({"iodepth": "8", "numjobs": "4"}, {"queue_depth": 4}),
        ({"iodepth": "8", "ioengine": "sync"}, {"queue_depth": 1}),
        ({"bs": "4k,64k"}, {"read_size": 4096, "write_size": 65536}),
        ({"bs": ",64k"}, {"read_size": 4096, "write_size": 65536}),
        ({"blocksize": "1M"}, {"read_size": 2**20}),
        ({"bs": "4k", "kb_base": "1000"}, {"read_size": 4000}),
        ({"bs": "4ki"}, {"read_size": 4000}),
        ({"bsrange": "4k-12k"}, {"read_size": 8192, "write_size": 8192}),
        ({"bssplit": "4k/75:20k/25"}, {"read_size": 8192}),
        ({"bssplit": "4k/50:8k/:16k/"}, {"read_size": 8192}),
        ({"rw": "randread", "percentage_random": "50,20"}, {"read_random": 0.5}),
        ({"rw": "randwrite", "percentage_random": "50,20"}, {"write_random": 0.2}),
        # By fio's manual it is of random workloads alone.
        ({"rw": "read", "percentage_random": "50"}, {"read_random": 0}),
        ({"rw": "randread:8"}, {"read_random": 0.125, "read_stride": 0}),
        ({"rw": "write:4k"}, {"write_stride": 4096, "write_random": 0}),
    ],
)
def test_options_become_characteristics(
    tmp_path: Path, options: dict[str, str], expected: dict[str, float]
) -> None:
    table = read(tmp_path, [{"options": options, "read": (100, 1e5), "write": (100, 1e5)}])
    found = row(table)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_options_of_all_jobs_hold_unless_a_job_has_its_own(tmp_path: Path) -> None:
    jobs = [{"read": (9, 1e5)}, {"options": {"bs": "64k"}, "read": (9, 1e5)}]
    table = read(tmp_path, jobs, bs="8k", iodepth="4", ioengine="libaio")
    assert row(table)["read_size"] == 8192
    assert row(table, 1)["read_size"] == 65536
    assert row(table, 1)["queue_depth"] == 4
    assert table.place(1).endswith("fio.json, job 'job1'")


def test_results_are_weighed_by_requests(tmp_path: Path) -> None:
    found = row(
        read(tmp_path, [{"options": {"rw": "rw"}, "read": (300, 1e5), "write": (100, 5e5)}])
    )
    assert found["latency_ns_mean"] == pytest.approx(2e5)
    assert found["iops"] == 400
    assert found["bandwidth_bytes_per_second"] == 400 * 4096
    assert found["read_latency_ns_p99"] == 3e5
    assert found["write_latency_ns_p99"] == 15e5
    # Percentiles of two directions make none of both.
    assert "latency_ns_p99" not in found


def test_percentiles_of_one_direction_are_those_of_all(tmp_path: Path) -> None:
    table = read(tmp_path, [{"read": (300, 1e5)}])
    assert row(table)["latency_ns_p99"] == row(table)["read_latency_ns_p99"] == 3e5
    assert table.usual_targets == (
        *("latency_ns_mean", "iops", "bandwidth_bytes_per_second", "latency_ns_p99"),
    )


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ({"error": 5}, "fio met the error 5"),
        ({"read": (0, 0.0)}, "it completed no request"),
        ({"options": {"rw": "randtrim"}}, "rw=randtrim is neither reads nor writes"),
        ({"options": {"rate_iops": "100"}}, "rate_iops is set"),
        ({"options": {"bs": "big"}}, "'big' is not a size"),
        ({"options": {"bssplit": "4k/0:8k/0"}}, "gives no size a share"),
        ({"options": {"iodepth": "many", **ASYNCHRONOUS}}, "iodepth='many' is not a number"),
        ({"options": {"iodepth": "0", **ASYNCHRONOUS}}, "iodepth=0 is less than 1"),
        ({"options": {"rw": "rw", "rwmixwrite": "101"}}, "rwmixwrite=101 is more than 100"),
        ({"group": 0}, "others ran at the same time"),
    ],
)
def test_jobs_that_cannot_be_read_are_left_out_with_a_line(
    tmp_path: Path, job: dict[str, Any], why: str
) -> None:
    jobs = [{"read": (9, 1e5)}, {"read": (9, 1e5), "name": "odd", **job}, {"read": (9, 1e5)}]
    table = read(tmp_path, jobs)
    assert table.rows == (1 if "group" in job else 2)
    assert why in table.remarks[-1]
    assert "job 'odd'" in table.remarks[-1]
    with pytest.raises(UsageError, match="no job of fio can be read"):
        read(tmp_path, [jobs[1], {**jobs[1], "group": 1}] if "group" not in job else jobs[:2])
