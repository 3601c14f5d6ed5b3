"""What the name of a column says."""

from __future__ import annotations

import pytest

from drivelab.models.own.names import characteristic_of, is_result, unit_of


@pytest.mark.parametrize(
    ("name", "kind", "text", "factor"),
    [
        ("latency_us", "time", "µs", 1e3),
        ("p99_ms", "time", "ms", 1e6),
        ("latency_ns_p99.9", "time", "ns", 1.0),
        ("size_kib", "size", "KiB", 1024.0),
        ("Block Size (KiB)", "size", "KiB", 1024.0),
        ("bandwidth_mb_per_second", "rate", "MB/s", 1e6),
        ("bandwidth_bytes_per_second", "rate", "B/s", 1.0),
        ("bw_mib_s", "rate", "MiB/s", 2.0**20),
        ("write_percent", "share", "%", 0.01),
        ("queue_depth", "", "", 1.0),
        ("iops", "", "", 1.0),
        ("s", "", "", 1.0),
    ],
)
def test_units_stand_in_names(name: str, kind: str, text: str, factor: float) -> None:
    unit = unit_of(name)[1]
    assert (unit.kind, unit.text, unit.factor) == (kind, text, factor)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("queue_depth", ("queue_depth", 1.0)),
        ("Queue Depth", ("queue_depth", 1.0)),
        ("read_size", ("read_size", 1.0)),
        ("read_size_bytes", ("read_size", 1.0)),
        ("read_size_kib", ("read_size", 1024.0)),
        ("write_ratio", ("write_ratio", 1.0)),
        ("write_percent", ("write_ratio", 0.01)),
        ("write_random_percent", ("write_random", 0.01)),
        ("queue_depth_ms", None),
        ("read_size_ms", None),
        ("block_size", None),
        ("latency_us", None),
    ],
)
def test_characteristics_are_known_in_any_unit(name: str, found: tuple[str, float] | None) -> None:
    assert characteristic_of(name) == found


def test_results_are_known_by_their_words() -> None:
    results = ["latency_us", "clat_p99", "IOPS", "bw_mib", "p99_ms", "read p99.9", "throughput"]
    settings = ["queue_depth", "engine", "block_size", "plate", "temperature", "write_random"]
    assert [name for name in results if not is_result(name)] == []
    assert [name for name in settings if is_result(name)] == []
