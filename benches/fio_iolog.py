"""CPU time of fio per request: with its own random numbers, from an iolog, with a latency log.

Its engine ``null`` completes requests immediately, so all the time is fio's own. Run with
``python benches/fio_iolog.py``.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from drivelab._core import RequestStream
from drivelab.workloads.characteristics import Characteristics

_REQUESTS: Final = 1_000_000
_RANGE_BYTES: Final = 2**30
_REPEATS: Final = 7
_COMMON: Final = (
    "--name=x",
    "--ioengine=null",
    "--iodepth=16",
    "--thread",
    "--disk_util=0",
    "--output-format=json",
    "--lat_percentiles=1",
    "--clat_percentiles=0",
    "--eta=never",
)
_NATIVE: Final = (
    "--rw=randread",
    "--bs=4096",
    "--norandommap",
    "--filename=x",
    f"--size={_RANGE_BYTES}",
    "--io_size=1T",
    f"--number_ios={_REQUESTS}",
)


def nanoseconds_each(options: list[str], folder: Path) -> float:
    """Return fio's CPU time for a request, ns."""
    command = ["fio", *_COMMON, *options]
    output = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    job = json.loads(output)["jobs"][0]
    busy_ms = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"]
    return float(busy_ms * 1e6 / job["read"]["total_ios"])


def main() -> None:
    """Print the medians; the variants take turns, so that noise affects all in the same way."""
    if shutil.which("fio") is None:
        sys.exit("fio is not installed; `make system-packages` installs one")
    stream = RequestStream(Characteristics(queue_depth=16).as_tuple(), 0, _RANGE_BYTES, 1, 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "iolog").write_bytes(stream.iolog_segment("x", _REQUESTS))
        iolog = ["--read_iolog=iolog", "--replay_no_stall=1", f"--number_ios={_REQUESTS}"]
        log = ["--write_lat_log=x", "--log_offset=1", "--disable_slat=1", "--disable_clat=1"]
        variants = {
            "own random numbers": list(_NATIVE),
            "iolog": iolog,
            "iolog and latency log": iolog + log,
        }
        times: dict[str, list[float]] = {variant: [] for variant in variants}
        for _ in range(_REPEATS):
            for variant, options in variants.items():
                times[variant].append(nanoseconds_each(options, folder))
    for variant, found in times.items():
        sys.stdout.write(f"{variant:22} {statistics.median(found):6.0f} ns CPU a request\n")


if __name__ == "__main__":
    main()
