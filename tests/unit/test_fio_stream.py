"""What fio sends, read back and held against the stream that the workload means.

Every rule is applied to the generator's own stream too, over the same window, so that the
rules themselves are known to describe it.
"""

from __future__ import annotations

import itertools
import math
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from drivelab._core import generate
from drivelab.drives.fio import FioDrive, open_real_drive
from drivelab.drives.fio_job import (
    StreamKey,
    Window,
    inexpressible,
    job_options,
    window_of,
)
from drivelab.errors import CannotAnswerError
from drivelab.workloads.characteristics import Characteristics

KIB, MIB = 2**10, 2**20
CAPACITY = 8 * MIB
COUNT = 1500
KEY = StreamKey(3, 5, "measured")
Access = tuple[str, int, int]  # direction, offset, size

EXPRESSIBLE = [
    Characteristics(),
    Characteristics(queue_depth=16, read_size=KIB),
    Characteristics(read_random=0),
    Characteristics(read_random=0, queue_depth=8, read_size=64 * KIB),
    Characteristics(read_random=0.5),
    Characteristics(read_random=0.25, queue_depth=4, read_size=1536),
    Characteristics(read_random=0, read_stride=64 * KIB),
    Characteristics(read_random=0, read_stride=KIB, read_size=16 * KIB, queue_depth=4),
    Characteristics(read_random=0, read_stride=256 * KIB, read_size=256 * KIB),
    Characteristics(read_random=0, read_stride=512, read_size=12 * KIB),
    Characteristics(write_ratio=1),
    Characteristics(write_ratio=1, write_random=0, queue_depth=2),
    Characteristics(write_ratio=1, write_random=0, write_stride=128 * KIB),
    Characteristics(write_ratio=1, write_random=0.5, write_size=16 * KIB),
    Characteristics(write_ratio=0.25, write_size=16 * KIB, queue_depth=4),
    Characteristics(write_ratio=0.5, read_random=0),
    Characteristics(write_ratio=0.75, write_random=0, read_size=16 * KIB),
    Characteristics(write_ratio=0.1, read_random=0.5, write_random=0),
    Characteristics(write_ratio=0.9, read_random=0.5, write_random=0.2, write_size=12 * KIB),
    # A stride means nothing where everything is random.
    Characteristics(read_stride=4096),
    Characteristics(write_ratio=0.5, read_stride=4096, write_stride=KIB),
]


def name_of(workload: Characteristics) -> str:
    return " ".join(f"{value:g}" if value is not None else "-" for value in workload.key())


@pytest.fixture(scope="module")
def drive(require_tool: Callable[[str], Path], drive_folder: Path) -> Iterator[FioDrive]:
    require_tool("fio")
    with open_real_drive(str(drive_folder / "stream.bin"), size_bytes=CAPACITY) as drive:
        yield drive


def sent_by_fio(
    drive: FioDrive,
    workload: Characteristics,
    log: Path,
    key: StreamKey = KEY,
    count: int = COUNT,
) -> list[Access]:
    """Run the very job of a measurement with a log of what it submits, in that order."""
    for seconds in (0.2, 2.0, 20.0):  # a slow machine needs longer for as many requests
        log.unlink(missing_ok=True)  # fio appends
        options = [*drive.job_of(workload, key, seconds=seconds), f"write_iolog={log}"]
        command = ["fio", *(f"--{option}" for option in options)]
        subprocess.run(
            command, check=True, capture_output=True, pass_fds=[drive.target.descriptor], timeout=99
        )
        lines = [line.split() for line in log.read_text().splitlines()]
        # Begun once: fio drains the queue whenever it begins a job again.
        assert sum(words[-1] == "open" for words in lines) == 1
        accesses = [
            (words[-3], int(words[-2]), int(words[-1]))
            for words in lines
            if len(words) >= 4 and words[-3] in ("read", "write")
        ]
        if len(accesses) >= count:
            break
    return accesses


def generated(workload: Characteristics, window: Window, count: int) -> list[Access]:
    directions, offsets, sizes = generate(
        workload.as_tuple(), window.start_bytes, window.size_bytes, KEY.seed, KEY.index, count
    )
    names = ("read", "write")
    return [
        (names[direction], offset, size)
        for direction, offset, size in zip(directions, offsets, sizes, strict=True)
    ]


def close_to_share(hits: int, trials: int, share: float) -> bool:
    # Five standard deviations: one false alarm in two million checks.
    return abs(hits - trials * share) <= 5 * math.sqrt(trials * share * (1 - share)) + 1e-9


def check_stream(accesses: list[Access], workload: Characteristics, window: Window) -> None:
    assert len(accesses) >= COUNT
    writes = sum(direction == "write" for direction, _, _ in accesses)
    assert close_to_share(writes, len(accesses), workload.write_ratio)
    # Drawn anew for every request: what came before says nothing.
    pairs = list(itertools.pairwise(accesses))
    for before in ("read", "write"):
        after = [second[0] == "write" for first, second in pairs if first[0] == before]
        assert close_to_share(sum(after), len(after), workload.write_ratio)
    for direction, size, random, stride in (
        ("read", workload.read_size, workload.read_random, workload.read_stride),
        ("write", workload.write_size, workload.write_random, workload.write_stride),
    ):
        mine = [(offset, length) for name, offset, length in accesses if name == direction]
        if mine:
            assert {length for _, length in mine} == {size}
            offsets = [offset - window.start_bytes for offset, _ in mine]
            check_direction(offsets, size, random, stride if random < 1 else 0, window)


def check_direction(
    offsets: list[int], size: int, random: float, stride: int, window: Window
) -> None:
    assert min(offsets) >= 0
    assert max(offsets) + size <= window.size_bytes
    if stride == 0:
        assert all(offset % size == 0 for offset in offsets)

    def following(offset: int) -> int:
        step = offset + size + stride
        return step if step + size <= window.size_bytes else 0

    pairs = list(itertools.pairwise(offsets))
    followed = sum(second == following(first) for first, second in pairs)
    slots = window.size_bytes // size
    if random == 0:
        assert followed == len(pairs)
    else:
        assert close_to_share(followed, len(pairs), 1 - random + random / slots)
        jumps = [second for first, second in pairs if second != following(first)]
        check_uniform([offset // size for offset in jumps], slots)


def check_uniform(places: list[int], slots: int) -> None:
    """Check mean and spread of uniform draws from 0 to slots - 1, and that they do not repeat."""
    count = len(places)
    if count < 100:
        return
    variance = (slots**2 - 1) / 12
    assert abs(sum(places) / count - (slots - 1) / 2) <= 5 * math.sqrt(variance / count)
    fourth = variance**2 * (9 / 5)  # of a uniform distribution, to first order
    spread = sum((place - (slots - 1) / 2) ** 2 for place in places) / count
    assert abs(spread - variance) <= 5 * math.sqrt((fourth - variance**2) / count) + slots / 6
    # A job that begins again with the same numbers repeats after as many bytes as it holds.
    for period in (slots, slots + 1, slots - 1):
        repeated = sum(a == b for a, b in zip(places, places[period:], strict=False))
        assert repeated <= count / slots + 5 * math.sqrt(count / slots) + 1


@pytest.mark.parametrize("workload", EXPRESSIBLE, ids=name_of)
def test_fio_sends_the_stream_of_the_workload(
    workload: Characteristics, drive: FioDrive, tmp_path: Path
) -> None:
    assert inexpressible(workload) is None
    drive.check(workload)
    window = window_of(workload, CAPACITY, KEY)
    check_stream(sent_by_fio(drive, workload, tmp_path / "log"), workload, window)


@pytest.mark.parametrize("workload", EXPRESSIBLE, ids=name_of)
def test_the_rules_describe_the_generator(workload: Characteristics) -> None:
    window = window_of(workload, CAPACITY, KEY)
    check_stream(generated(workload, window, COUNT), workload, window)


@pytest.mark.parametrize(
    "wrong",
    [
        {"write_ratio": 0.5},
        {"read_random": 0.5},
        {"read_size": 8192},
        {"read_random": 0.0, "read_stride": 4096},
    ],
)
def test_the_rules_notice_another_stream(wrong: dict[str, float]) -> None:
    workload = Characteristics()
    window = window_of(workload, CAPACITY, KEY)
    other = generated(replace(workload, **wrong), window, 4 * COUNT)  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        check_stream(other, workload, window)


def test_the_stream_depends_on_its_key_alone(drive: FioDrive, tmp_path: Path) -> None:
    workload = Characteristics(write_ratio=0.5, read_random=0.5)
    streams = [
        sent_by_fio(drive, workload, tmp_path / f"log{number}", key, 200)[:200]
        for number, key in enumerate(
            (
                KEY,
                KEY,
                StreamKey(4, 5, "measured"),
                StreamKey(3, 6, "measured"),
                StreamKey(3, 5, "warmup"),
            )
        )
    ]
    assert len(streams[0]) == 200
    assert streams[0] == streams[1]
    assert all(stream != streams[0] for stream in streams[2:])


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"write_ratio": 0.5, "read_random": 0, "write_random": 0}, "at the same offset"),
        ({"write_ratio": 0.5, "read_random": 0, "read_stride": 512}, "strides to 0"),
        (
            {"write_ratio": 0.5, "write_random": 0, "write_stride": 512, "read_random": 0},
            "strides to 0",
        ),
        ({"read_random": 0.5, "read_stride": 512}, "set one of them to 0"),
        ({"write_ratio": 0.333}, "no whole percent"),
        ({"write_ratio": 0.09}, "10 to 90 % writes"),
        ({"write_ratio": 0.91}, "10 to 90 % writes"),
        ({"write_ratio": 1e-12}, "no whole percent"),
        ({"write_ratio": 1 - 1e-12}, "no whole percent"),
        ({"read_random": 0.125}, "no whole percent"),
    ],
)
def test_what_fio_cannot_express_is_refused(
    values: dict[str, float], reason: str, drive: FioDrive
) -> None:
    workload = Characteristics(**values)  # type: ignore[arg-type]
    with pytest.raises(CannotAnswerError, match=reason):
        drive.check(workload)


def test_shares_without_effect_are_not_looked_at() -> None:
    assert inexpressible(Characteristics(write_random=0.123, write_stride=512)) is None
    assert inexpressible(Characteristics(write_ratio=0.1 + 0.2)) is None


def test_a_sequential_window_is_half_the_drive_at_a_changing_place() -> None:
    workload = Characteristics(read_random=0, read_size=3 * KIB)
    windows = [
        window_of(workload, CAPACITY, StreamKey(0, index, "measured")) for index in range(99)
    ]
    assert {window.size_bytes for window in windows} == {CAPACITY // 2 // (3 * KIB) * 3 * KIB}
    starts = [window.start_bytes for window in windows]
    assert len(set(starts)) > 80
    assert all(start % (3 * KIB) == 0 for start in starts)
    assert all(window.start_bytes + window.size_bytes <= CAPACITY for window in windows)
    assert min(starts) < CAPACITY // 20
    assert max(starts) > CAPACITY // 2 - CAPACITY // 20


def test_a_strided_window_ends_with_an_access() -> None:
    workload = Characteristics(read_random=0, read_stride=64 * KIB)
    window = window_of(workload, CAPACITY, KEY)
    assert (window.size_bytes - 4 * KIB) % (68 * KIB) == 0
    assert CAPACITY // 2 - 68 * KIB < window.size_bytes <= CAPACITY // 2


@pytest.mark.parametrize(
    "workload",
    [
        Characteristics(read_size=6 * MIB),
        Characteristics(read_size=4 * MIB, read_random=0),
        Characteristics(read_random=0, read_stride=4 * MIB),
        Characteristics(write_ratio=0.5, read_size=4095 * 512, write_size=4 * MIB),
    ],
)
def test_a_drive_that_is_too_small_is_refused(workload: Characteristics) -> None:
    with pytest.raises(CannotAnswerError, match="too few"):
        window_of(workload, CAPACITY, KEY)


def test_options_name_every_number_in_bytes() -> None:
    workload = Characteristics(write_ratio=0.29, read_random=0.5, queue_depth=7, write_size=512)
    options = job_options(workload, Window(0, CAPACITY), KEY)
    assert options[:5] == [
        "bs=4096,512",
        "iodepth=7",
        "rw=randrw",
        "percentage_random=50,100",
        "norandommap",
    ]
    assert "rwmixwrite=29" in options
    assert f"size={CAPACITY}" in options
