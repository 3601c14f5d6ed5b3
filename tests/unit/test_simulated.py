"""Simulated drives as whoever measures them sees them: stopped, or too large for this machine."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SMALL = f"sim:{Path(__file__).parents[1] / 'small_drive.toml'}"
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]
LONG = "1000000000"  # minutes of computing


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_long_measurement_ends_at_ctrl_c(workers: str) -> None:
    arguments = ["measure", SMALL, "--requests", LONG, "--workers", workers]
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        # By then it computes; were it still preparing, the test would hold as well.
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        try:
            output, complaint = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, output) == (130, "")
    assert complaint.count("\n") == 1
    assert complaint.startswith("drivelab: ")


@pytest.mark.parametrize(
    ("available", "wanted", "workers"),
    [(100, 8, 1), (250, 8, 1), (399, 8, 1), (400, 8, 2), (1000, 8, 6), (1000, 2, 2), (None, 8, 8)],
)
def test_workers_are_as_many_as_fit_into_memory(monkeypatch, available, wanted, workers) -> None:
    from drivelab.drives import simulated
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
