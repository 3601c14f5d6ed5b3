"""A served drive compared with the simulator, and the connection alone with nbdkit.

    python benches/live_drive.py [--dilate 20] [--block]

For each workload fio measures a served drive through its nbd engine, and the simulator runs the
same. Their mean latencies should agree, except for the time of the connection. Without simulation
the server is compared with nbdkit's memory plugin, if that is installed: as the kernel places them,
and with server and fio on one core, where neither waits for another core to wake up. With --block
fio measures the block device instead (root).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DRIVE = "sim:x25m"
# Write ratio, queue depth, size.
WORKLOADS = [
    (0.0, 1, "4KiB"),
    (0.0, 4, "4KiB"),
    (0.0, 32, "4KiB"),
    (0.3, 4, "4KiB"),
    (0.0, 2, "64KiB"),
]
BARE_SECONDS = 1.5
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]


class Served:
    """A drive that is served while this is a context."""

    def __init__(self, folder: Path, *words: str) -> None:
        socket = folder / "s"
        words = ("serve", DRIVE, "--socket", str(socket), "--memory", "1GiB", "--json", *words)
        self._process = subprocess.Popen(
            [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        first = self._process.stderr.readline() if self._process.stderr else ""
        if not first.startswith("serving"):
            sys.exit(first)
        devices = [word for word in first.split() if word.startswith(("/dev/nbd", "/dev/loop"))]
        #: How fio connects to it.
        self.way = (
            ["--ioengine=libaio", "--direct=1", f"--filename={devices[0]}"]
            if devices
            else nbd(socket)
        )

    def stop(self) -> dict[str, Any]:
        self._process.terminate()
        return json.loads(self._process.communicate()[0])


def nbd(socket: Path) -> list[str]:
    return ["--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}"]


def fio(
    way: list[str], write_ratio: float, depth: int, size: str, seconds: float, *pinned: str
) -> dict[str, Any]:
    words = [
        *(*pinned, "fio", "--name=x", *way, "--rw=randrw", "--norandommap"),
        *(f"--rwmixwrite={100 * write_ratio:g}", f"--bs={size.removesuffix('iB').lower()}"),
        *(f"--iodepth={depth}", f"--runtime={seconds}", "--time_based", "--output-format=json"),
    ]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (job,) = json.loads(printed[printed.index("{") :])["jobs"]
    return job


def simulated(write_ratio: float, depth: int, size: str, requests: int) -> dict[str, Any]:
    words = [
        *("simulate", DRIVE, "--write-ratio", str(write_ratio), "--queue-depth", str(depth)),
        *("--read-size", size, "--write-size", size, "--requests", str(requests), "--json"),
    ]
    printed = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True).stdout
    return json.loads(printed)["streams"][0]["operations"]


def beside_the_simulator(folder: Path, dilation: float, seconds: float, *block: str) -> None:
    what = " as a block device" if block else ""
    print(f"{DRIVE}{what}, slowed {dilation:g} times; latencies in the drive's time, us")
    print("workload              served   fio found  simulated   fio/simulated  p99   late p99")
    for write_ratio, depth, size in WORKLOADS:
        served = Served(folder, "--dilate", str(dilation), *block)
        found = fio(served.way, write_ratio, depth, size, seconds)
        summary = served.stop()
        for name in ("read", "write"):
            if not found[name]["total_ios"]:
                continue
            requests = found["read"]["total_ios"] + found["write"]["total_ios"]
            truth = simulated(write_ratio, depth, size, max(requests, 1000))[name]
            mean = found[name]["clat_ns"]["mean"] / dilation / 1e3
            p99 = found[name]["clat_ns"]["percentile"]["99.000000"] / dilation / 1e3
            print(
                f"{name:<5} {size:>5} depth {depth:<3}"
                f"{summary['operations'][name]['latency_ns_mean'] / 1e3:10.1f} {mean:10.1f} "
                f"{truth['latency_ns_mean'] / 1e3:10.1f} "
                f"{mean / (truth['latency_ns_mean'] / 1e3):13.3f} "
                f"{p99 / (truth['latency_ns_p99'] / 1e3):8.3f} "
                f"{summary['lateness']['late_ns_p99'] / 1e3:8.1f} us"
            )


def beside_nbdkit(folder: Path, core: str | None, *block: str) -> None:
    nbdkit = shutil.which("nbdkit")
    socket = folder / f"nbdkit-{core}"
    pinned = ["taskset", "-c", core] if core else []
    other = None
    if nbdkit:
        other = subprocess.Popen([*pinned, nbdkit, "-f", "-U", str(socket), "memory", "80G"])
    served = Served(folder, "--no-delay", *(["--cpu", core] if core else []), *block)
    where = f"on core {core}" if core else "on any core"
    print(f"\nwithout a drive, {where}: IOPS (p50 us) of random reads of 4 KiB")
    for _ in range(3):
        for depth in (1, 32):
            ways = {"drivelab": served.way}
            if other:
                ways["nbdkit"] = nbd(socket)
            for name, way in ways.items():
                read = fio(way, 0.0, depth, "4KiB", BARE_SECONDS, *pinned)["read"]
                median = read["clat_ns"]["percentile"]["50.000000"] / 1e3
                print(f"  {name:<9} depth {depth:<3} {read['iops']:9,.0f} ({median:.1f})")
    served.stop()
    if other:
        other.terminate()
        other.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dilate", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each workload")
    parser.add_argument("--block", action="store_true", help="through a block device (root)")
    args = parser.parse_args()
    block = ["--block"] if args.block else []
    with tempfile.TemporaryDirectory() as folder:
        beside_the_simulator(Path(folder), args.dilate, args.seconds, *block)
        for core in (None, str(min(os.sched_getaffinity(0)))):
            beside_nbdkit(Path(folder), core, *block)


if __name__ == "__main__":
    main()
