"""A performance test on a served drive, compared with the same test on the simulator (root).

    python benches/live_pts.py [--test latency] [--scale 0.01] [--dilate 10]

The drive is served as a block device and tested like any other. The results should agree with those
of the simulator, except for the time that the kernel and fio add to each request. The write cache
is on in both (the client edition), because it cannot be switched off through the block device.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# Small, so that it is written in seconds: a test preconditions the whole drive, here in real time.
PRESET = """\
base = "x25m"
name = "little"
summary = "x25m with a fiftieth of its flash"

[geometry]
blocks_per_plane = 40              # assumed: little
user_capacity_bytes = 805_306_368  # assumed: about half of what the blocks hold

[collection]
reserve_blocks_per_plane = 2       # assumed: all spare blocks are used
"""
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]


def tested(folder: Path, drive: str, out: str, *words: str) -> dict[str, Any]:
    """Run a performance test, and return its result."""
    words = ("pts", "run", words[0], drive, "--client", "--out", out, *words[1:])
    subprocess.run([*COMMAND, *words], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads((folder / out / "result.json").read_text())
    return found


def tested_live(folder: Path, dilation: float, *words: str) -> dict[str, Any]:
    """Run it on the served drive."""
    serve = ("serve", "sim:little.toml", "--block", "--socket", "s", "--json")
    server = subprocess.Popen(
        [*COMMAND, *serve, "--dilate", str(dilation), "--late", "10s"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        first = server.stderr.readline() if server.stderr else ""
        devices = [word for word in first.split() if word.startswith(("/dev/nbd", "/dev/loop"))]
        if not devices:
            sys.exit(first)
        return tested(folder, devices[0], "live", *words, "--allow-destructive", devices[0])
    finally:
        server.terminate()
        server.communicate()


def cells(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what was measured, by block size and mix."""
    return {
        f"{cell['block_bytes']:>7} B, {cell['read_ratio']:4.0%} reads": cell
        for cell in found["sections"][0]["cells"]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--test", default="latency")
    parser.add_argument("--scale", default="0.01", help="of the test's times")
    parser.add_argument("--dilate", type=float, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "little.toml").write_text(PRESET)
        live = tested_live(folder, args.dilate, args.test, "--scale", args.scale)
        alone = tested(folder, "sim:little.toml", "alone", args.test, "--scale", args.scale)
    print(
        f"{args.test}, rounds {live['sections'][0]['rounds']} and {alone['sections'][0]['rounds']}"
    )
    print("mean latency, us, in the drive's time    live  simulated  ratio")
    simulated = cells(alone)
    for what, cell in cells(live).items():
        found = cell["latency_ns_mean"] / args.dilate / 1e3
        truth = simulated[what]["latency_ns_mean"] / 1e3
        print(f"{what:<32}{found:12.1f}{truth:11.1f}{found / truth:7.3f}")


if __name__ == "__main__":
    main()
