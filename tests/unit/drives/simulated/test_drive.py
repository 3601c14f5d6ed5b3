"""Simulated drives as their users see them: stopped, or too large for this machine."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import RunError
from drivelab.workloads.characteristics import Characteristics

pytestmark = pytest.mark.usefixtures("models_in_outline")

SMALL = f"sim:{Path(__file__).parents[3] / 'small_drive.toml'}"
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]
LONG = "1000000000"  # minutes of computing


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_long_measurement_ends_at_ctrl_c(workers: str) -> None:
    arguments = ["measure", SMALL, "--requests", LONG, "--workers", workers]
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        _await_second_thread(process.pid)
        process.send_signal(signal.SIGINT)
        try:
            output, complaint = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, output) == (130, "")
    assert complaint.count("\n") == 1
    assert complaint.startswith("drivelab: ")


def _await_second_thread(pid: int) -> None:
    """Wait until a process does not only start: simulated drives have threads of their own."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if len(list(Path(f"/proc/{pid}/task").iterdir())) > 1:
            return
        time.sleep(0.05)
    pytest.fail("no second thread after 30 s")


@pytest.mark.parametrize(
    ("available", "wanted", "workers"),
    [(100, 8, 1), (213, 8, 1), (324, 8, 1), (325, 8, 2), (900, 8, 7), (1000, 2, 2), (None, 8, 8)],
)
def test_workers_are_as_many_as_fit_into_memory(monkeypatch, available, wanted, workers) -> None:
    from drivelab.drives.simulated import drive as simulated
    from drivelab.errors import RunError

    drive = simulated.SimulatedDrive.open(SMALL)
    unit = drive._core.state_bytes
    given = None if available is None else unit * available // 100
    monkeypatch.setattr(simulated, "available_bytes", lambda: given)
    if available == 100:
        with pytest.raises(RunError, match="of memory"):
            drive._workers(wanted)
    else:
        assert drive._workers(wanted) == workers


READ = Characteristics()
LARGE_WRITE = Characteristics(write_ratio=1.0, write_size=2**18, queue_depth=64)


def measured(plan: MeasurementPlan, *workloads: Characteristics) -> list[Measurement]:
    with SimulatedDrive.open(SMALL) as drive:
        return list(drive.measure(list(enumerate(workloads)), plan))


def test_a_half_width_is_reached_or_not() -> None:
    plan = MeasurementPlan.of_kind("simulated", half_width_ratio=0.02, max_requests=20_000)
    mixed = replace(READ, write_ratio=0.5, write_size=16384)
    steady, sure = measured(plan, READ, mixed)
    for reached in (steady, sure):
        assert reached.stopped_by == "half_width"
        assert reached.requests >= 5000
        assert reached.half_width_ratio is not None
        assert reached.half_width_ratio <= 0.02
    assert steady.half_width_ratio == 0
    (unsure,) = measured(replace(plan, half_width_ratio=0.001), mixed)
    assert (unsure.stopped_by, unsure.requests) == ("max_requests", 20_000)
    assert unsure.half_width_ratio is None or unsure.half_width_ratio > 0.001


def test_batches_are_those_of_the_requests() -> None:
    (found,) = measured(MeasurementPlan(requests=4096), replace(READ, queue_depth=8))
    batches = found.batches
    assert batches is not None
    assert len(batches.means_ns) * batches.requests_per_batch == 4096
    mean_ns = sum(batches.means_ns) / len(batches.means_ns)
    assert mean_ns == pytest.approx(found.latency_ns_mean, rel=1e-12)
    assert batches.ends_ns[-1] == found.duration_ns
    assert found.stopped_by == "requests"


def test_simulated_time_opens_and_closes_the_window() -> None:
    seconds = MeasurementPlan(warmup_requests=0, requests=None, seconds=0.1)
    (found,) = measured(seconds, READ)
    assert (found.stopped_by, found.duration_ns) == ("seconds", 100_000_000)
    late = replace(seconds, warmup_seconds=0.05, seconds=0.05)
    (second_half,) = measured(late, READ)
    assert second_half.requests == pytest.approx(found.requests / 2, abs=1)
    (first_half,) = measured(replace(seconds, seconds=0.05), READ)
    assert first_half.requests + second_half.requests == found.requests


def test_what_was_measured_before_a_failure_is_given() -> None:
    plan = MeasurementPlan(warmup_requests=0, requests=None, seconds=0.001)
    with SimulatedDrive.open(SMALL) as drive:
        work = [(0, READ), (1, READ), (2, LARGE_WRITE), (3, READ)]
        answers = drive.measure(work, plan)
        assert [next(answers).index, next(answers).index] == [0, 1]
        with pytest.raises(RunError, match="no request completed in the 1000000 ns"):
            next(answers)
        assert next(answers, None) is None


def test_results_do_not_depend_on_workers_or_on_who_stops_listening() -> None:
    plan = MeasurementPlan(requests=500)
    work = [(index, replace(READ, queue_depth=1 + index % 7)) for index in range(300)]
    with SimulatedDrive.open(SMALL) as drive:
        one = list(drive.measure(work, replace(plan, workers=1)))
        several = drive.measure(work, replace(plan, workers=5))
        assert [next(several) for _ in range(200)] == one[:200]
        # Threads are ahead by now; the drive measures on as if they had not been.
        several.close()
        assert list(drive.measure(work[200:], replace(plan, workers=2))) == one[200:]


def test_the_export_is_the_same_with_one_thread_and_with_two(tmp_path: Path) -> None:
    for workers in ("1", "2"):
        words = ["model", SMALL, "--design", "huang2011:40", "--requests", "300", "--check", "9"]
        words += ["--no-sweeps", "--workers", workers, "--out", str(tmp_path / workers)]
        assert cli.main(words) == 0
    one, two = ((tmp_path / workers / "measurements.csv").read_bytes() for workers in ("1", "2"))
    assert one == two
    assert one.count(b"\n") == 50
