"""Speed on this machine: the simulator compared with a bare loop, and the whole main job."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.campaign.stored import stored_measurements
from drivelab.store import RunStore
from validation.document import Section

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement

_COMMAND: Final = ("cargo", "bench", "--quiet", "--locked", "-p", "drivelab-sim")


def simulator_speed() -> Section:
    """Run the simulator's benchmark and quote what it prints."""
    section = Section("Speed of the simulator", " ".join(_COMMAND) + " --bench simulator")
    done = subprocess.run(
        [*_COMMAND, "--bench", "simulator"], capture_output=True, text=True, check=True
    )
    section.say(
        "Wall-clock figures of the machine that wrote this document, compared with a bare loop in "
        "the same run (look-up and two timeline updates for each request, nothing else)."
    )
    section.say(f"```\n{done.stdout.strip()}\n```")
    return section


_WORKLOADS: Final = 2000
_HALF_WIDTH_RATIO: Final = 0.01
_LEAST_REACHING: Final = 0.9
_MOST_BYTES: Final = 2**30
_TARGET_SECONDS: Final = 120
# The resource usage of a child has the peak of its parent, from before it became another program.
_MAIN_JOB: Final = """
import sys
from pathlib import Path
from drivelab.cli.main import main
code = main(sys.argv[2:])
Path(sys.argv[1]).write_text(Path("/proc/self/status").read_text())
sys.exit(code)
"""


def main_job_speed() -> Section:
    """Measure 2,000 workloads to 1 %, fit the models and write the report, as one command."""
    words = ["model", "sim:x25m", "--design", f"sobol:{_WORKLOADS}", "--half-width", "1%"]
    words += ["--check", "0", "--no-sweeps"]
    section = Section("Speed of the main job", " ".join(["drivelab", *words]))
    with tempfile.TemporaryDirectory() as folder:
        run, status_file = Path(folder) / "run", Path(folder) / "status"
        start = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-c", _MAIN_JOB, str(status_file), *words, "--out", str(run)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{section.command} ended with {process.returncode}")
        with RunStore.open(run) as store:
            measurements = stored_measurements(store)
        peak = re.search(r"VmHWM:\s+(\d+) kB", status_file.read_text())
    if peak is None:
        raise RuntimeError("the system does not report how much memory a process took")
    peak_bytes = int(peak[1]) * 1024
    reached = [one for one in measurements if one.stopped_by == "half_width"]
    share = len(reached) / len(measurements)
    busy = usage.ru_utime + usage.ru_stime
    section.say(
        f"{seconds:.0f} s for {len(measurements):,} workloads, their models and the report on "
        f"{os.cpu_count()} cores, {busy:.0f} s of processor time, {peak_bytes / 2**20:.0f} MiB of "
        f"memory at most; the target is {_TARGET_SECONDS} s and 1 GiB. "
        f"{100 * share:.1f} % of the workloads reached a half-width of "
        f"{100 * _HALF_WIDTH_RATIO:g} % of the mean latency, after "
        f"{sum(one.requests for one in reached) // len(reached):,} requests on average. The others "
        "are kept and marked with the half-width they had after 400,000 requests."
    )
    section.claim(
        f"at least {100 * _LEAST_REACHING:g} % of {_WORKLOADS:,} workloads reach a half-width of "
        f"{100 * _HALF_WIDTH_RATIO:g} %",
        holds=share >= _LEAST_REACHING
        and all(_known_to(one) <= _HALF_WIDTH_RATIO for one in reached),
    )
    section.claim("the main job stays below 1 GiB of memory", holds=peak_bytes < _MOST_BYTES)
    return section


def _known_to(measurement: Measurement) -> float:
    ratio = measurement.half_width_ratio
    return math.inf if ratio is None else ratio
