"""Real measurements with the real fio, on a small file."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drivelab._core import histogram_bin
from drivelab.cli import main as cli
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real import made_file
from drivelab.drives.real.fio import measurement as fio_measurement
from drivelab.drives.real.fio import pace as fio_pace
from drivelab.drives.real.fio.drive import FioDrive, open_real_drive
from drivelab.drives.real.fio.program import FioOutput, run_fio
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.workloads.characteristics import Characteristics

MIB = 2**20
# Not by time, which a shared disk may let pass without a request.
PLAN = MeasurementPlan(seed=1, warmup_requests=0, requests=300)


@pytest.fixture(scope="module")
def drive(require_tool: Callable[[str], Path], drive_folder: Path) -> Iterator[FioDrive]:
    require_tool("fio")
    # A name that fio's own option parser would take apart.
    with open_real_drive(str(drive_folder / "a:b $x,c.bin"), size_bytes=8 * MIB) as drive:
        yield drive


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[FioOutput]:
    """What fio printed in the measurements of the test."""
    kept: list[FioOutput] = []

    def keep(*args: object, **options: object) -> FioOutput:
        kept.append(run_fio(*args, **options))  # type: ignore[arg-type]
        return kept[-1]

    monkeypatch.setattr(fio_measurement, "run_fio", keep)
    return kept


def measure(drive: FioDrive, *workloads: Characteristics) -> list[Measurement]:
    return list(drive.measure(list(enumerate(workloads)), PLAN))


def test_counts_and_percentiles_are_those_of_fio(drive: FioDrive, outputs: list[FioOutput]) -> None:
    workload = Characteristics(write_ratio=0.3, write_size=16384)
    plan = MeasurementPlan(seed=1, warmup_requests=0, requests=2000)
    (measurement,) = drive.measure([(0, workload)], plan)
    (job,) = outputs[0].report["jobs"]
    assert job["job options"]["ioengine"] == drive.identity()["io_engine"]
    for name, result in (("read", measurement.read), ("write", measurement.write)):
        assert result is not None
        latency = job[name]["lat_ns"]
        assert sum(result.histogram.values()) == result.requests == job[name]["total_ios"]
        assert result.bytes == job[name]["io_bytes"]
        assert result.latency_ns_mean == pytest.approx(latency["mean"])
        assert (result.latency_ns_min, result.latency_ns_max) == (latency["min"], latency["max"])
        assert len(latency["percentile"]) > 10
        for percent, value in latency["percentile"].items():
            ours = histogram_bin(result.percentile_ns(float(percent)))
            # The very bin, or the one that holds the exact maximum or minimum.
            assert abs(ours - histogram_bin(value)) <= 1, (name, percent)
    assert measurement.requests == 2000
    # fio rounds to whole milliseconds.
    ran = max(job["read"]["runtime"], job["write"]["runtime"])
    assert measurement.duration_ns / 1e6 == pytest.approx(ran, abs=2)


@pytest.mark.parametrize("queue_depth", [1, 3, 16, 100])
def test_the_queue_is_as_deep_as_asked(drive: FioDrive, queue_depth: int) -> None:
    """Little's law: requests a second times seconds a request is requests in flight."""
    plan = MeasurementPlan(warmup_requests=500, requests=4000)
    (measurement,) = drive.measure([(0, Characteristics(queue_depth=queue_depth))], plan)
    in_flight = measurement.iops * measurement.latency_ns_mean / 1e9
    # Below it by what fio needs between a completion and the next request, and above it never,
    # but for the rounding of times.
    assert 0.75 * queue_depth < in_flight < 1.05 * queue_depth


def test_time_ends_a_measurement_in_one_segment(drive: FioDrive, outputs: list[FioOutput]) -> None:
    # Long enough that a disk that stands for seconds completes something.
    plan = MeasurementPlan.of_kind("real", seed=1, seconds=4.0, warmup_seconds=0.0)
    (measurement,) = drive.measure([(0, Characteristics(queue_depth=4))], plan)
    (job,) = outputs[0].report["jobs"]
    sent = job["read"]["total_ios"]
    assert (measurement.stopped_by, measurement.duration_ns) == ("seconds", 4_000_000_000)
    assert 0 < measurement.requests < sent
    assert measurement.batches is not None
    assert measurement.batches.ends_ns[-1] <= 4_000_000_000
    assert measurement.extra == {"segments": 1}


def test_a_long_measurement_goes_on_in_segments(
    drive: FioDrive, outputs: list[FioOutput], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fio_pace, "MOST_REQUESTS", 1000)
    workload = Characteristics(queue_depth=4, write_ratio=0.5)
    plan = MeasurementPlan(seed=1, warmup_requests=100, requests=2500)
    (measurement,) = drive.measure([(0, workload)], plan)
    sent = sum(
        job[name]["total_ios"]
        for output in outputs
        for job in output.report["jobs"]
        for name in ("read", "write")
    )
    assert len(outputs) == measurement.extra["segments"] == 3
    # At each of the two seams four requests fill and three drain; three drain at the end.
    assert (measurement.requests, sent) == (2500, 100 + 2500 + 2 * 7 + 3)


@pytest.mark.parametrize("requests", [1025, 3073])
def test_the_log_holds_what_completes_while_the_queue_drains(
    drive: FioDrive, requests: int
) -> None:
    # A log that grows is full at 1024 and at 3072, here while the queue drains.
    plan = MeasurementPlan(warmup_requests=0, requests=requests)
    (measurement,) = drive.measure([(0, Characteristics(queue_depth=64))], plan)
    assert measurement.requests == requests


def test_measurements_come_one_by_one(drive: FioDrive, outputs: list[FioOutput]) -> None:
    answers = drive.measure([(3, Characteristics()), (9, Characteristics(queue_depth=4))], PLAN)
    assert next(answers).index == 3
    assert len(outputs) == 1
    assert next(answers).index == 9
    assert list(answers) == []


def test_the_page_cache_is_dropped_and_passed_by(
    drive: FioDrive, require_tool: Callable[[str], Path]
) -> None:
    fincore = [require_tool("fincore"), "--bytes", "--noheadings", "--output", "RES"]

    def resident() -> int:
        words = [*fincore, drive.target.path]
        result = subprocess.run(words, capture_output=True, text=True, check=True)
        return int(result.stdout)

    drive.target.path.read_bytes()
    assert resident() == 8 * MIB
    measure(drive, Characteristics(read_size=65536), Characteristics(write_ratio=1))
    assert resident() == 0


def test_what_cannot_be_written_out_is_an_error(
    drive: FioDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(RunError, match="does not take what was written to it: Input/output error"):
        measure(drive, Characteristics())


def test_the_identity_is_plain_and_steady(drive: FioDrive) -> None:
    identity = drive.identity()
    assert json.loads(json.dumps(identity)) == identity == drive.identity()
    assert identity["target"] == "file"
    assert identity["made_by_drivelab"] is True
    assert identity["size_bytes"] == drive.capacity_bytes == 8 * MIB
    assert identity["fio_version"].startswith("fio-")
    assert identity["volatile"]["kernel_release"] == os.uname().release
    assert {"file_system", "mount_options", "device", "direct_block_bytes"} <= set(identity)


def test_blocks_of_the_drive_are_respected(
    drive: FioDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "_block_bytes", 4096)
    drive.check(Characteristics(write_size=512))  # never written, so without effect
    for workload in (
        Characteristics(read_size=1024),
        Characteristics(write_ratio=1, write_size=512),
        Characteristics(read_random=0, read_stride=1024),
    ):
        with pytest.raises(CannotAnswerError, match="not a multiple of 4096 bytes"):
            drive.check(workload)


def test_absurd_workloads_are_refused(drive: FioDrive) -> None:
    for workload, reason in (
        (Characteristics(read_size=16 * MIB), "at most"),
        (Characteristics(queue_depth=0), "queue_depth"),
        (Characteristics(queue_depth=1023, read_size=2 * MIB), "memory"),
        (Characteristics(queue_depth=1024), "at most 1023"),
        (Characteristics(read_size=1000), "multiple of 512"),
    ):
        with pytest.raises(UsageError, match=reason):
            drive.check(workload)
        with pytest.raises(UsageError, match=reason):
            measure(drive, workload)


def test_an_existing_file_is_read_and_stays_as_it_was(
    require_tool: Callable[[str], Path], drive_folder: Path
) -> None:
    require_tool("fio")
    path = drive_folder / "mine.img"
    content = os.urandom(2 * MIB)
    path.write_bytes(content)
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
    with open_real_drive(str(path)) as drive:
        measure(drive, Characteristics(), Characteristics(read_random=0))
        with pytest.raises(UsageError, match="was not made by Drivelab"):
            measure(drive, Characteristics(write_ratio=0.1))
    assert path.read_bytes() == content
    with open_real_drive(str(path), allow_destructive=str(path)) as drive:
        measure(drive, Characteristics(write_ratio=1))
    assert path.read_bytes() != content
    path.unlink()


def test_a_file_that_shrinks_while_fio_fails_is_the_reason(
    require_tool: Callable[[str], Path], drive_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_tool("fio")
    with open_real_drive(str(drive_folder / "shrunk.bin"), size_bytes=2 * MIB) as drive:

        def fail(*_args: object, **_options: object) -> FioOutput:
            os.truncate(drive.target.path, MIB)
            raise RunError("fio failed with exit code 2")

        monkeypatch.setattr(fio_measurement, "run_fio", fail)
        with pytest.raises(RunError, match="shrank"):
            measure(drive, Characteristics())


def test_a_file_that_shrinks_is_an_error(
    require_tool: Callable[[str], Path], drive_folder: Path
) -> None:
    require_tool("fio")
    with open_real_drive(str(drive_folder / "shrinking.bin"), size_bytes=2 * MIB) as drive:
        os.truncate(drive.target.path, MIB)
        with pytest.raises(RunError, match="shrank"):
            measure(drive, Characteristics())


def test_a_request_beyond_the_end_is_no_result(
    require_tool: Callable[[str], Path],
    drive_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_tool("fio")
    with open_real_drive(str(drive_folder / "short.bin"), size_bytes=2 * MIB) as drive:
        # The file shrinks after it was looked at: fio then sends nothing and reports no error.
        monkeypatch.setattr(drive.target, "check_present", lambda: None)
        os.truncate(drive.target.path, 0)
        with pytest.raises(RunError):
            measure(drive, Characteristics())


def test_a_file_system_without_direct_requests_is_refused(
    drive_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def refuse(path: str, flags: int, *args: int, **options: int) -> int:
        if flags & os.O_DIRECT:
            raise OSError(22, "Invalid argument")
        return opened(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", refuse)
    path = drive_folder / "buffered.bin"
    with pytest.raises(CannotAnswerError, match="refuses direct I/O"):
        open_real_drive(str(path), size_bytes=2 * MIB)
    assert not path.exists()


def test_a_hung_drive_ends_at_the_deadline(
    drive: FioDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "slack_seconds", -85.0)
    plan = MeasurementPlan.of_kind("real", seconds=70.0)
    with pytest.raises(RunError, match="was killed: the drive does not answer"):
        list(drive.measure([(0, Characteristics())], plan))


def test_no_file_is_made_for_a_workload_that_it_could_not_run(
    require_tool: Callable[[str], Path],
    drive_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    require_tool("fio")

    def fill(*_: object) -> None:
        pytest.fail("a file is filled")

    monkeypatch.setattr(made_file.MadeFile, "fill", fill)
    path = drive_folder / "refused.bin"
    for words, said in (
        (["--queue-depth", "1024"], "at most 1023"),
        (["--read-size", "2MiB", "--queue-depth", "1000"], "bytes of memory"),
        (["--read-size", "4MiB"], "the range has 2097152"),
    ):
        assert cli.main(["measure", str(path), "--size", "2MiB", *words]) == 2
        assert said in capsys.readouterr().err
        assert not path.exists()
