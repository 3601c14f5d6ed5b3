"""What fio sends, read back from its latency log and held against the generator's stream.

The drive does the same before it believes a number; here it is done again, otherwise, from the
columns of log and generator alone.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drivelab._core import Completions
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio import measurement as fio_measurement
from drivelab.drives.real.fio.drive import FioDrive, open_real_drive
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import RunError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.design import parse_design
from drivelab.workloads.huang2011 import PATTERNS

KIB, MIB = 2**10, 2**20
CAPACITY = 8 * MIB
PLAN = MeasurementPlan(seed=3, warmup_requests=50, requests=400)
Access = tuple[int, int, int]  # direction, offset, size

# Every pair of the paper's access patterns, at queue depths and write ratios in turn.
PATTERN_PAIRS = [
    Characteristics(
        write_ratio=(0.25, 0.5, 0.75)[number % 3],
        queue_depth=(1, 16)[number % 2],
        read_size=(4, 16)[number // 2 % 2] * KIB,
        write_size=(1, 64)[number // 3 % 2] * KIB,
        read_random=read[0],
        read_stride=read[1],
        write_random=write[0],
        write_stride=write[1],
    )
    for number, (read, write) in enumerate(
        itertools.product(PATTERNS[:4] + PATTERNS[-1:], repeat=2)
    )
]
# What fio's own options cannot express, or only in part.
ODD_ONES = [
    Characteristics(write_ratio=0.02, write_random=0.0, queue_depth=4),
    Characteristics(write_ratio=0.98, read_random=0.333, write_random=0.125),
    Characteristics(write_ratio=0.5, read_random=0.0, write_random=0.0),
    Characteristics(read_random=0.5, read_stride=64 * KIB, queue_depth=16),
    Characteristics(
        write_ratio=0.1,
        read_random=0.3,
        write_random=0.7,
        read_stride=512,
        write_stride=128 * KIB,
        read_size=1536,
        queue_depth=64,
    ),
    Characteristics(read_random=0.0, read_size=256 * KIB, read_stride=256 * KIB),
    Characteristics(write_ratio=1.0, write_random=0.0, write_size=256 * KIB, queue_depth=4),
]


def name_of(workload: Characteristics) -> str:
    return " ".join(f"{value:g}" if value is not None else "-" for value in workload.key())


@pytest.fixture(scope="module")
def drive(require_tool: Callable[[str], Path], drive_folder: Path) -> Iterator[FioDrive]:
    require_tool("fio")
    with open_real_drive(str(drive_folder / "stream.bin"), size_bytes=CAPACITY) as drive:
        yield drive


def measure(
    drive: FioDrive, index: int, workload: Characteristics, plan: MeasurementPlan = PLAN
) -> Measurement:
    (measurement,) = drive.measure([(index, workload)], plan)
    return measurement


def accesses_of(fio_logs: list[bytes]) -> list[Access]:
    lines = b"".join(fio_logs).decode().splitlines()
    columns = (list(map(int, line.split(", "))) for line in lines)
    return [(direction, offset, size) for _, _, direction, size, offset, *_ in columns]


def generated(workload: Characteristics, index: int, count: int) -> list[Access]:
    [stream] = workload.streams()
    [columns] = stream.within(CAPACITY).generate(PLAN.seed, index, count)
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("workload", PATTERN_PAIRS + ODD_ONES, ids=name_of)
def test_fio_sends_the_generator_s_stream(
    workload: Characteristics, drive: FioDrive, fio_logs: list[bytes]
) -> None:
    measurement = measure(drive, 5, workload)
    sent = accesses_of(fio_logs)
    depth = workload.queue_depth
    # One segment: the warm-up, what counts, and what kept the queue full until the last of it.
    assert (len(fio_logs), measurement.requests) == (1, 400)
    assert 450 <= len(sent) <= 450 + depth
    stream = generated(workload, 5, len(sent))
    if depth == 1:
        assert sent == stream
    else:
        assert sorted(sent) == sorted(stream)
        # A request completes only after it was sent, and that waits for a place in the queue.
        for number, access in enumerate(sent):
            assert access in stream[: number + depth]


def test_the_first_request_is_anywhere(drive: FioDrive, fio_logs: list[bytes]) -> None:
    workload = Characteristics(read_random=0.0)
    plan = MeasurementPlan(seed=3, warmup_requests=0, requests=1)
    for index in range(4):
        measure(drive, index, workload, plan)
    firsts = [accesses_of([log])[0] for log in fio_logs]
    assert firsts == [generated(workload, index, 1)[0] for index in range(4)]
    assert len({offset for _, offset, _ in firsts}) == 4


def test_segments_continue_one_stream(drive: FioDrive, fio_logs: list[bytes]) -> None:
    workload = Characteristics(write_ratio=0.3, queue_depth=4, read_random=0.5)
    plan = MeasurementPlan(seed=3, warmup_requests=0, warmup_seconds=0.05, requests=3000)
    measurement = measure(drive, 1, workload, plan)
    assert len(fio_logs) == measurement.extra["segments"] == 2
    sent = accesses_of(fio_logs)
    assert sorted(sent) == sorted(generated(workload, 1, len(sent)))
    warmup = accesses_of(fio_logs[:1])
    assert sorted(warmup) == sorted(generated(workload, 1, len(warmup)))
    assert measurement.requests == 3000


def test_a_simulated_drive_of_this_size_gets_the_same_requests(
    require_tool: Callable[[str], Path], drive_folder: Path, tmp_path: Path
) -> None:
    """Which of two directions a request has says which random numbers were drawn before it."""
    require_tool("fio")
    preset = tmp_path / "tiny.toml"
    preset.write_text(
        'base = "x25m"\nname = "tiny"\nsummary = "x25m with next to no flash"\n[geometry]\n'
        "blocks_per_plane = 80  # assumed\nuser_capacity_bytes = 67_108_864  # assumed\n"
    )
    workload = Characteristics(write_ratio=0.3, write_size=16 * KIB, read_random=0.5)
    work = [(index, workload) for index in range(6)]
    with SimulatedDrive.open(f"sim:{preset}") as simulated:
        expected = list(simulated.measure(work, PLAN))
        size = simulated.capacity_bytes
    with open_real_drive(str(drive_folder / "tiny.bin"), size_bytes=size) as real:
        found = list(real.measure(work, PLAN))
    counts = [
        [(one.requests, one.read and one.read.requests, one.bytes) for one in measurements]
        for measurements in (expected, found)
    ]
    assert counts[0] == counts[1]
    assert len(set(counts[0])) > 1


def test_designs_are_sent_as_they_are(drive: FioDrive, fio_logs: list[bytes]) -> None:
    selection = parse_design("sobol:10").select(1, block_bytes=drive.block_bytes)
    small = [
        workload
        for workload in selection.workloads
        if max(workload.read_size, workload.write_size) <= MIB
    ]
    odd = False
    for index, workload in enumerate(small):
        fio_logs.clear()
        measure(drive, index, workload, MeasurementPlan(seed=3, warmup_requests=0, requests=200))
        sent = accesses_of(fio_logs)
        assert sorted(sent) == sorted(generated(workload, index, len(sent)))
        odd = odd or workload.queue_depth & (workload.queue_depth - 1) != 0
    assert len(small) >= 5
    assert odd


def test_only_what_the_stream_writes_changes(
    require_tool: Callable[[str], Path], drive_folder: Path, fio_logs: list[bytes]
) -> None:
    require_tool("fio")
    workload = Characteristics(
        write_ratio=0.4, write_random=0.2, write_size=12 * KIB, write_stride=20 * KIB
    )
    with open_real_drive(str(drive_folder / "written.bin"), size_bytes=CAPACITY) as drive:
        fio_logs.clear()  # of the try at the opening
        before = drive.target.path.read_bytes()
        measure(drive, 0, workload, MeasurementPlan(seed=3, warmup_requests=0, requests=200))
        after = drive.target.path.read_bytes()
    writes = [access for access in generated(workload, 0, len(accesses_of(fio_logs))) if access[0]]
    written = {
        sector
        for _, offset, size in writes
        for sector in range(offset // 512, (offset + size) // 512)
    }
    changed = {
        sector
        for sector in range(CAPACITY // 512)
        if before[512 * sector : 512 * sector + 512] != after[512 * sector : 512 * sector + 512]
    }
    assert changed == written
    # A drive that shares blocks finds nothing to do so with, one that compresses them a tenth.
    for _, offset, _ in writes[:20]:
        assert len(zlib.compress(after[offset : offset + 4096])) > 0.85 * 4096
    blocks = [after[512 * sector : 512 * sector + 512] for sector in sorted(written)]
    assert len(set(blocks)) > 0.99 * len(blocks)


def exchanged(lines: list[bytes]) -> list[bytes]:
    """The first two accesses in each other's place, at the times that stand there."""
    (time, first), (later, second) = (line.split(b",", 1) for line in lines[:2])
    return [time + b"," + second, later + b"," + first, *lines[2:]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda lines: lines[:-1],
            "45. reads sent, 4.. in its latency log",
        ),
        (exchanged, "the stream does not hold there"),
        (lambda lines: [*lines, lines[-1]], "in its latency log"),
        (lambda lines: [b"nonsense\n", *lines[1:]], "line 1 of fio's latency log is .nonsense"),
    ],
)
def test_another_stream_is_no_result(
    drive: FioDrive,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[list[bytes]], list[bytes]],
    message: str,
) -> None:
    monkeypatch.setattr(
        fio_measurement,
        "Completions",
        lambda log: Completions(b"".join(change(log.splitlines(keepends=True)))),
    )
    with pytest.raises(RunError, match=message):
        measure(drive, 0, Characteristics())
