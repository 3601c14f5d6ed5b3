"""Jobs in separate processes: in order, and none continues that is no longer needed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drivelab.errors import RunError
from drivelab.reproduce.processes import in_processes

JOBS = 9
SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
from test_processes import JOBS, begun
from drivelab.reproduce.processes import in_processes

if __name__ == "__main__":
    jobs = [({path!r}, number, 5.0) for number in range(JOBS)]
    in_processes(begun, jobs, what="jobs", name=str)
"""


def begun(job: tuple[str, int, float]) -> int:
    """Tell that a job has begun, and take so many seconds; the second fails."""
    folder, number, seconds = job
    (Path(folder) / str(number)).touch()
    time.sleep(seconds)
    if number == 1 and seconds < 1:
        raise RunError("the second job failed")
    return number


def squared(number: int) -> int:
    return number**2


def test_results_come_in_the_order_of_the_jobs() -> None:
    for jobs in ([3], [3, 1, 2, 0]):
        found = in_processes(squared, jobs, what="jobs", name=str)
        assert found == [number**2 for number in jobs]


def test_a_job_that_fails_ends_the_others(tmp_path: Path) -> None:
    # The others would take a minute; there are more than this machine has cores.
    count = JOBS + os.cpu_count()
    jobs = [(str(tmp_path), number, 0.1 if number == 1 else 60.0) for number in range(count)]
    with pytest.raises(RunError, match="the second job failed"):
        in_processes(begun, jobs, what="jobs", name=str)
    assert len(list(tmp_path.iterdir())) < count


def test_an_interrupt_ends_all(tmp_path: Path) -> None:
    folder = tmp_path / "begun"
    folder.mkdir()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parent), path=str(folder)))
    process = subprocess.Popen(
        [sys.executable, str(script)],
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not list(folder.iterdir()):
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=60) != 0
    finally:
        process.kill()
    assert len(list(folder.iterdir())) < JOBS
