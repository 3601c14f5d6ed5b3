"""The rows of all workloads, compared with numbers computed by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_run import made_run, measurement, operation, run_of

from drivelab.campaign.exhibits import workloads
from drivelab.workloads.characteristics import Characteristics

READS = Characteristics()
WRITES = Characteristics(write_ratio=1.0, write_size=65536, write_random=0.0, write_stride=1024)


def test_workloads_blank_percentiles_of_too_few_requests() -> None:
    run = run_of([measurement(0, READS, requests=600)])
    (row,) = workloads.workloads(run).records()
    # 6 of 600 requests are slower than 99 %, hardly one is slower than 99.9 %.
    assert row["read_latency_ns_p99"] is not None
    assert row["read_latency_ns_p99.9"] is None


def test_workloads_blank_what_has_no_effect() -> None:
    run = run_of([measurement(0, READS), measurement(1, WRITES)])
    reads, writes = workloads.workloads(run).records()
    assert reads["write_ratio"] == 0
    assert reads["read_size_bytes"] == 4096
    # Every read is random, so that a stride has no effect; nothing is written.
    assert reads["read_stride_bytes"] is None
    assert reads["write_size_bytes"] is None
    assert reads["write_latency_ns_mean"] is None
    assert reads["write_amplification_ratio"] is None
    assert writes["write_stride_bytes"] == 1024
    assert writes["read_latency_ns_p99"] is None
    assert writes["write_amplification_ratio"] == 1.25
    # (90 us + 14 ns * 65536) at queue depth 1, by the formula of the made run.
    assert writes["latency_ns_mean"] == pytest.approx(90e3 + 14 * 65536)
    assert writes["iops"] == pytest.approx(1e9 / (90e3 + 14 * 65536), rel=1e-6)
    assert writes["bandwidth_bytes_per_second"] == pytest.approx(65536 * writes["iops"])


def test_workloads_say_what_each_is_for_and_how_sure_its_mean_is() -> None:
    run = made_run(2, reserved=1, check=1, sweeps=True)
    table = workloads.workloads(run)
    parts = table.column("part")
    assert parts[:4] == ["training", "training", "calibration", "check"]
    assert set(parts[4:]) == {"sweeps"}
    assert table.column("half_width_ratio")[0] is None
    assert table.column("stopped_by")[0] == "requests"


def test_repeatability_is_the_mean_relative_difference_from_the_mean() -> None:
    def taking(index: int, workload: Characteristics, mean_ns: float) -> object:
        made = measurement(index, workload)
        return replace(made, read=operation(mean_ns, 1000, 4096))

    alone = taking(0, Characteristics(queue_depth=64), 5e6)
    # A stride means nothing where all is random: three runs of one workload.
    same = [
        taking(1, READS, 100e3),
        taking(2, replace(READS, read_stride=4096), 200e3),
        taking(3, replace(READS, write_size=512), 300e3),
    ]
    found = workloads.repeatability([alone, *same], "latency_ns_mean")  # type: ignore[list-item]
    assert found is not None
    assert (found.groups, found.measurements) == (1, 3)
    expected = (100 / 100 + 0 / 200 + 100 / 300) / 3
    assert found.mean_relative_difference == pytest.approx(expected, rel=0.01)
    assert workloads.repeatability([alone], "latency_ns_mean") is None  # type: ignore[list-item]
