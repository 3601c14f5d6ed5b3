"""Workloads side by side: each in its place and at its pace, as a scenario would send them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.write_pattern import write_pattern
from drivelab.errors import UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.side_by_side import Part, SideBySide
from drivelab.workloads.trace import Trace

MIB = 2**20
SMALL = (Path(__file__).parents[2] / "small_drive.toml").read_text()
READS = Characteristics(queue_depth=4)
WRITES = Characteristics(write_ratio=1.0, write_size=8192)
LIST = Trace(((0, "write", 0, 4096), (1_000_000, "read", 4096, 8192)))
#: What the parts of `test_it_is_what_a_scenario_says` are as a scenario.
SAME = """duration_ns = 100_000_000
warmup_ns = 10_000_000
[[stream]]
name = "reads"
queue_depth = 4
range_bytes = 4_194_304
[[stream]]
name = "writes"
rate_iops = 1000
write_ratio = 1.0
write_size_bytes = 8192
range_offset_bytes = 4_194_304
range_bytes = 4_194_304
[[stream]]
name = "log"
rate_iops = 500
arrivals = "fixed"
write_ratio = 1.0
write_random = 0.0
range_offset_bytes = 9_437_184
range_bytes = 1_048_576
"""
LOG = """[[stream]]
name = "log"
rate_iops = 500
arrivals = "fixed"
write_ratio = 1.0
write_random = 0.0
range_offset_bytes = 1_048_576
range_bytes = 1_048_576
"""


@pytest.fixture(scope="module")
def drive(tmp_path_factory) -> SimulatedDrive:
    path = tmp_path_factory.mktemp("drive") / "small.toml"
    path.write_text(SMALL)
    return SimulatedDrive.open(f"sim:{path}")


def beside(*parts: Part, **window: Any) -> SideBySide:
    return SideBySide(parts, **({"duration_ns": 10**8, "warmup_ns": 10**7} | window))


def test_it_is_what_a_scenario_says(drive: SimulatedDrive) -> None:
    parts = (
        Part("reads", READS, 4 * MIB),
        Part("writes", WRITES, 4 * MIB, 4 * MIB, rate_iops=1000.0),
        Part("logs", Scenario(LOG), 2 * MIB, 8 * MIB),
    )
    plan = MeasurementPlan(seed=5)
    [one] = drive.measure([(3, beside(*parts))], plan)
    [same] = drive.measure([(3, Scenario(SAME))], plan)
    assert one.streams == same.streams
    assert (one.duration_ns, one.read, one.write) == (same.duration_ns, same.read, same.write)
    found = [(part.name, mine) for part, mine in beside(*parts).shares()]
    assert found == [("reads", slice(0, 1)), ("writes", slice(1, 2)), ("logs", slice(2, 3))]


def test_a_trace_lies_where_it_is_placed(drive: SimulatedDrive) -> None:
    placed = Part("old", LIST, MIB, 3 * MIB)
    [stream] = placed.streams()
    assert stream.described()["range"] == (3 * MIB, MIB)
    # More requests than there are do not end it.
    [one] = drive.measure([(0, beside(placed, warmup_ns=0, requests=9))], MeasurementPlan())
    [found] = one.streams
    assert found.write is not None
    assert found.read is not None
    assert (found.write.requests, found.read.requests) == (1, 1)


def test_copies_are_so_many_times_the_load(drive: SimulatedDrive) -> None:
    one, four = (
        next(
            drive.measure(
                [(0, beside(Part("web", READS, MIB, rate_iops=500.0, is_poisson=False, copies=n)))],
                MeasurementPlan(),
            )
        )
        for n in (1, 4)
    )
    assert (one.requests, four.requests) == (50, 200)
    assert len(four.streams) == 4


def test_writes_find_what_the_worst_of_them_leaves() -> None:
    log = Part("log", Characteristics(write_ratio=1.0, write_random=0.0), MIB)
    pages = Part("pages", WRITES, MIB, MIB)
    assert write_pattern(beside(Part("reads", READS, MIB))) is None
    assert write_pattern(beside(log)) == "in order"
    assert write_pattern(beside(pages, log)) == "small at random"
    # What came before counts where it leaves more behind.
    assert write_pattern(beside(log, after="small at random")) == "small at random"
    assert write_pattern(beside(pages, after="in order")) == "small at random"
    assert SideBySide.from_json(beside(log, after="in order").to_json()).after == "in order"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"size_bytes": 1000}, "size_bytes is 1000; allowed: a multiple of 512 from 512"),
        ({"start_bytes": -512}, "start_bytes is -512; allowed: a multiple of 512 from 0"),
        ({"rate_iops": float("nan")}, "rate_iops is NaN; allowed: 0.001 to 1,000,000,000"),
        ({"copies": 0}, "copies is 0; allowed: 1 to 64"),
        ({"content": "cats"}, "content is 'cats'; allowed: zero, database, random"),
        ({"name": ""}, "name is ''; allowed: a text"),
        ({"workload": LIST, "rate_iops": 5.0}, "a trace already sets when requests arrive"),
        ({"workload": LIST, "size_bytes": 4096}, "it takes 12288 bytes .* its place has 4096"),
        ({"workload": READS, "size_bytes": 512}, "read_size is 4096 bytes; allowed here"),
        (
            {
                "workload": Scenario(
                    '[[stream]]\nname="a"\n[[stream.request]]\nat_ns=0\naction="flush"\n'
                )
            },
            "a scenario with a list of requests cannot be moved",
        ),
    ],
)
def test_an_impossible_part_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Part(**({"name": "a", "workload": READS, "size_bytes": MIB} | values))


@pytest.mark.parametrize(
    ("parts", "window", "said"),
    [
        ((), {}, "parts is empty"),
        ((Part("a", READS, MIB), Part("a", READS, MIB)), {}, "two parts are called 'a'"),
        ((Part("a", READS, MIB),), {"duration_ns": 0}, "duration_ns is 0; allowed"),
        ((Part("a", READS, MIB),), {"requests": 0}, "requests is 0; allowed"),
        ((Part("a", READS, MIB),), {"after": 3}, "after is 3; allowed: a kind of writing"),
    ],
)
def test_impossible_parts_are_refused(
    parts: tuple[Part, ...], window: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        beside(*parts, **window)
