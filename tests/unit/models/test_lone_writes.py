"""The time of a write that waits for nothing, from closed loops, few of which write little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from synthetic_drive import measurements, spread_workloads

from drivelab._core import histogram_bin
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.models.lone_writes import lone_writes, read_lone_writes


def written(lone: int, waiting: int, *, small: bool = True) -> list[Measurement]:
    """Writes that take 50 us and 10 us for each 4 KiB, or much longer."""
    drawn = np.random.default_rng(5)
    made = measurements(spread_workloads(lone + waiting, 1))
    result = []
    for place, one in enumerate(made):
        pages = int(drawn.integers(1 if small else 8, 64))
        latency = 50e3 + 10e3 * pages
        if place >= lone:
            latency *= 1.5 + 5 * drawn.random()
        characteristics = replace(one.characteristics, write_ratio=0.5, write_size=4096 * pages)
        write = OperationResult(
            requests=100,
            bytes=100 * characteristics.write_size,
            latency_ns_mean=latency,
            latency_ns_min=int(latency),
            latency_ns_max=int(latency) + 1,
            histogram={histogram_bin(int(latency)): 100},
        )
        result.append(replace(one, workload=characteristics, write=write))
    return result


def test_the_line_below_all_writes_is_found() -> None:
    found = lone_writes(written(12, 100))
    assert found is not None
    assert found["ns"] == pytest.approx(50e3, rel=0.02)
    assert found["ns_per_page"] == pytest.approx(10e3, rel=0.02)


def test_it_is_unknown_where_few_writes_met_room() -> None:
    assert lone_writes(written(2, 100)) is None
    assert lone_writes(written(40, 0)[:3]) is None
    # Of small writes nothing is known.
    assert lone_writes(written(12, 100, small=False)) is None
    assert lone_writes([]) is None


@pytest.mark.parametrize(
    "given", [None, {}, {"ns": 1}, {"ns": "1", "ns_per_page": 1}, {"ns": -1, "ns_per_page": 1}]
)
def test_what_a_file_says_is_checked(given: object) -> None:
    assert read_lone_writes(given) is None


def test_what_was_found_is_read() -> None:
    assert read_lone_writes({"ns": 5, "ns_per_page": 0.5}) == (5.0, 0.5)
