"""A campaign in its own process, for tests that end it at any moment.

``python killable_campaign.py DRIVE RUN WORKLOADS LOG DELAY_SECONDS`` measures that many
workloads on DRIVE: ``fake:simulated`` and ``fake:real`` (`fake_drive`, which takes the delay for
each), or whatever Drivelab knows. Each index is written into LOG, a line each, before its
measurement begins: what no run may ask for again.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from fake_drive import FakeDrive, workloads

from drivelab.campaign.campaign import run_campaign
from drivelab.cli.main import _on_terminate
from drivelab.drives.measurement import Measurement
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.errors import RunError, UsageError
from drivelab.store import RunStore
from drivelab.workloads.characteristics import Characteristics

# As long as the tests need it: a file of 1 MiB, a fraction of a second, a few requests.
PLANS = {
    "fake": MeasurementPlan(requests=10),
    "sim": MeasurementPlan(requests=1000, warmup_requests=200),
    # Not by time, which a shared disk may let pass without a request.
    "real": MeasurementPlan(warmup_requests=0, requests=300),
}


class LoggedDrive:
    """A drive that writes down what it is asked for, one index after the other."""

    def __init__(self, drive: Drive, log: Path, ahead: int) -> None:
        self._drive = drive
        self._ahead = ahead
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._drive, name)

    def measure(
        self, work: Sequence[tuple[int, Characteristics]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        left = iter(work)
        while batch := list(itertools.islice(left, self._ahead)):
            os.write(self._log, "".join(f"{index}\n" for index, _ in batch).encode())
            with closing(self._drive.measure(batch, plan)) as answers:
                yield from answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_unused: object) -> None:
        self._drive.close()


def asked(log: Path) -> list[int]:
    """Give every index that was ever begun, in order."""
    return [int(line) for line in log.read_text().splitlines()] if log.exists() else []


def stored(path: Path) -> dict[int, dict[str, Any]]:
    """Give what a run holds by index, nothing where there is no run yet."""
    try:
        with RunStore.open(path) as store:
            return {entry["index"]: entry for entry in store.measurements()}
    except (UsageError, RunError):
        return {}


class Campaign:
    """One run, started as often as it takes."""

    def __init__(self, drive: str, folder: Path, count: int, delay_seconds: float = 0.002) -> None:
        self.path = folder / "run"
        self.log = folder / "asked.log"
        words = (__file__, drive, str(self.path), str(count), str(self.log), str(delay_seconds))
        self.command = (sys.executable, *words)

    def finish(self) -> None:
        """Run it to its end."""
        subprocess.run(self.command, check=True, timeout=300)

    def kill(self, moments: random.Random, most_begun: int) -> bool:
        """Start it, kill it somewhere after it began at most so many; say whether it was alive.

        The moment is counted in its own steps, so that it falls into the campaign however fast
        the machine is. Some fall before the first, while the run is made or opened.
        """
        before = len(asked(self.log))
        begun = moments.randint(0, most_begun)
        with subprocess.Popen(self.command) as process:
            deadline = time.monotonic() + 120
            while process.poll() is None and time.monotonic() < deadline:
                if begun == 0 and self.path.exists():
                    break
                if begun and len(asked(self.log)) >= before + begun:
                    break
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.01))
            alive = process.poll() is None
            process.kill()
        return alive


def main(drive_name: str, run: str, count: str, log: str, delay_seconds: str) -> None:
    signal.signal(signal.SIGTERM, _on_terminate)
    scheme, _, kind = drive_name.partition(":")
    drive: Any
    if scheme == "fake":
        assert kind in ("simulated", "real")
        drive, plan = FakeDrive(kind=kind, delay_seconds=float(delay_seconds)), PLANS["fake"]
    elif scheme == "sim":
        drive, plan = open_drive(drive_name), PLANS["sim"]
    else:
        drive, plan = open_drive(drive_name, size_bytes=2**20), PLANS["real"]
    # As many at once as a drive of this kind takes, so that the log runs no further ahead.
    with LoggedDrive(drive, Path(log), ahead=64 if scheme == "sim" else 1) as logged:
        run_campaign(
            logged, workloads(int(count)), plan, Path(run), design_name="killed", progress=False
        ).close()


if __name__ == "__main__":
    main(*sys.argv[1:])
