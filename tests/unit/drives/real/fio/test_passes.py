"""Passes over a real file: fio sends the generator's pass, and its time is that of its requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio import measurement as fio_measurement
from drivelab.drives.real.fio import passes as fio_passes
from drivelab.drives.real.fio.drive import FioDrive, open_real_drive
from drivelab.drives.real.fio.program import FioOutput, run_fio
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.workloads.whole_pass import WholePass

KIB, MIB = 2**10, 2**20
CAPACITY = 4 * MIB
PLAN = MeasurementPlan(seed=3)


def generated(one: WholePass, seed: int, index: int) -> tuple[bytes, list[int], list[int]]:
    [stream] = one.streams()
    [columns] = stream.generate(seed, index, one.requests)
    return columns


@pytest.fixture(scope="module")
def drive(require_tool: Callable[[str], Path], drive_folder: Path) -> Iterator[FioDrive]:
    require_tool("fio")
    with open_real_drive(str(drive_folder / "passes.bin"), size_bytes=CAPACITY) as drive:
        yield drive


def rows_of(fio_logs: list[bytes]) -> list[list[int]]:
    lines = b"".join(fio_logs).decode().splitlines()
    return [list(map(int, line.split(", "))) for line in lines]


PASSES = [
    WholePass("read", is_random=False, request_bytes=48 * KIB, file_bytes=2 * MIB),
    WholePass("read", is_random=True, request_bytes=8 * KIB, file_bytes=2 * MIB),
    WholePass("write", is_random=True, request_bytes=24 * KIB, file_bytes=MIB, start_bytes=MIB),
    WholePass("write", is_random=False, request_bytes=CAPACITY, file_bytes=CAPACITY),
]


@pytest.mark.parametrize("one", PASSES)
def test_fio_sends_the_generator_s_pass(
    drive: FioDrive, fio_logs: list[bytes], one: WholePass
) -> None:
    (measured,) = drive.measure([(7, one)], PLAN)
    rows = rows_of(fio_logs)
    sent = [(direction, offset, size) for _, _, direction, size, offset, *_ in rows]
    expected = list(zip(*generated(one, 3, 7), strict=True))
    assert sent == expected
    assert len({offset for _, offset, _ in sent}) == one.requests == len(sent)
    assert measured.duration_ns == sum(row[1] for row in rows)
    assert (measured.index, measured.workload, measured.extra) == (7, one, {})


def test_a_long_pass_goes_on_in_segments(
    drive: FioDrive, fio_logs: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fio_passes, "MOST_REQUESTS", 200)
    one = WholePass("read", is_random=True, request_bytes=4 * KIB, file_bytes=2 * MIB)
    (measured,) = drive.measure([(1, one)], PLAN)
    assert len(fio_logs) == 3
    rows = rows_of(fio_logs)
    assert [row[4] for row in rows] == generated(one, 3, 1)[1]
    assert measured.duration_ns == sum(row[1] for row in rows)


def test_a_pass_ends_where_the_plan_does_if_that_comes_first(drive: FioDrive) -> None:
    one = PASSES[1]
    (part,) = drive.measure([(1, one)], MeasurementPlan(seed=3, requests=100))
    assert (part.requests, part.stopped_by) == (100, "requests")
    with pytest.raises(CannotAnswerError, match="is not counted to a half-width: leave half_width"):
        list(drive.measure([(1, one)], MeasurementPlan(half_width_ratio=0.1)))


def test_passes_come_one_by_one(drive: FioDrive, fio_logs: list[bytes]) -> None:
    answers = drive.measure(list(enumerate(PASSES[:2])), PLAN)
    assert next(answers).index == 0
    assert len(fio_logs) == 1
    assert next(answers).index == 1
    assert list(answers) == []


def test_what_does_not_fit_is_refused(drive: FioDrive) -> None:
    late = WholePass("read", False, 4 * KIB, 2 * MIB, start_bytes=3 * MIB)
    with pytest.raises(UsageError, match=r"ends at byte 5242880, .* at most 1 MiB"):
        list(drive.measure([(0, late)], PLAN))
    with pytest.raises(UsageError, match="multiple of 512"):
        list(drive.measure([(0, WholePass("read", False, 1000, 2 * MIB))], PLAN))


def test_somebody_else_s_file_is_only_read(
    require_tool: Callable[[str], Path], drive_folder: Path
) -> None:
    require_tool("fio")
    path = drive_folder / "mine.img"
    path.write_bytes(b"mine" * (MIB // 4))
    reading, writing = (WholePass(way, False, 64 * KIB, MIB) for way in ("read", "write"))
    with open_real_drive(str(path)) as drive:
        assert len(list(drive.measure([(0, reading)], PLAN))) == 1
        with pytest.raises(CannotAnswerError, match="was not made by Drivelab"):
            list(drive.measure([(0, writing)], PLAN))
    assert path.read_bytes() == b"mine" * (MIB // 4)
    path.unlink()


def test_a_request_that_is_missing_is_an_error(
    drive: FioDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drop_one(*args: object, **options: object) -> FioOutput:
        output = run_fio(*args, **options)  # type: ignore[arg-type]
        output.report["jobs"][0]["read"]["total_ios"] -= 1
        return output

    monkeypatch.setattr(fio_measurement, "run_fio", drop_one)
    with pytest.raises(RunError, match="fio's numbers disagree"):
        list(drive.measure([(0, PASSES[0])], PLAN))
