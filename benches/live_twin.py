"""A twin of a drive whose values are known: a served one, measured as a block device (root).

    python benches/live_twin.py [--measurements 60] [--check 20] [--seconds 1]

A drive with hidden values is served in real time, and `drivelab twin` measures it like any other
and starts from a preset with other values. The table shows what it finds. The hidden drive is slow,
so that kernel and fio add little to a request; what they add is part of what is measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

Values = dict[str, dict[str, int]]

# Small, so that it is prepared quickly, with erased flash for all that is written meanwhile: a twin
# is made from bursts.
SMALL: Values = {"geometry": {"blocks_per_plane": 320, "user_capacity_bytes": 2_147_483_648}}
# Where the search begins, besides the values of x25m.
BEGUN: Values = {
    "timing": {"program_cell_ns": 2_000_000},
    "host": {"link_bytes_per_second": 100_000_000},
}
HIDDEN: Values = {
    "timing": {
        "read_cell_ns": 330_000,
        "read_register_ns": 60_000,
        "program_cell_ns": 3_100_000,
    },
    "host": {
        "link_bytes_per_second": 45_000_000,
        "read_command_ns": 90_000,
        "write_command_ns": 60_000,
        "write_acknowledge_ns": 170_000,
    },
    "buffer": {"write_buffer_bytes": 1_048_576},
}
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]


def preset(name: str, values: Values) -> str:
    """Return a small x25m with these values as a preset."""
    lines = ['base = "x25m"', f'name = "{name}"', f'summary = "small x25m, {name} values"']
    for table, keys in (SMALL | values).items():
        lines += ["", f"[{table}]", *(f"{key} = {value}  # assumed" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def twin(folder: Path, *words: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Serve the hidden drive and make a twin of it; return what both printed."""
    serve = ("serve", "sim:hidden.toml", "--block", "--socket", "s", "--json", "--late", "1s")
    server = subprocess.Popen(
        [*COMMAND, *serve], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        first = server.stderr.readline() if server.stderr else ""
        devices = [word for word in first.split() if word.startswith(("/dev/nbd", "/dev/loop"))]
        if not devices:
            sys.exit(first)
        (device,) = devices
        asked = (
            "twin",
            device,
            "--base",
            "base.toml",
            "--out",
            "twin",
            "-o",
            "twin.toml",
            "--json",
            *words,
        )
        done = subprocess.run(
            [*COMMAND, *asked, "--allow-destructive", device],
            check=True,
            cwd=folder,
            stdout=subprocess.PIPE,
        )
        found: dict[str, Any] = json.loads(done.stdout)
    finally:
        server.terminate()
        output, _ = server.communicate()
    served: dict[str, Any] = json.loads(output)
    return found, served


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measurements", default="60")
    parser.add_argument("--check", default="20")
    parser.add_argument("--seconds", default="1", help="of each measurement")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "base.toml").write_text(preset("usual", BEGUN))
        (folder / "hidden.toml").write_text(preset("hidden", HIDDEN))
        words = ("--measurements", args.measurements, "--check", args.check)
        found, served = twin(folder, *words, "--seconds", args.seconds)
    show(found, served)


def show(found: dict[str, Any], served: dict[str, Any]) -> None:
    """Print hidden and found values, and how far the twin is off."""
    truth = {
        f"{table}.{key}": value for table, keys in HIDDEN.items() for key, value in keys.items()
    }
    print(f"{'value':<30}{'hidden':>12}{'found':>12}{'ratio':>7}   95 % interval")
    for one in found["values"]:
        hidden = truth.get(one["keys"][0])
        if hidden is None:
            continue
        low, high = (f"{end:,.0f}" if end is not None else "" for end in (one["low"], one["high"]))
        told = f"{low} to {high}" if one["is_told"] else "not determined"
        value = one["value"]
        print(f"{one['name']:<30}{hidden:>12,}{value:>12,}{value / hidden:7.2f}   {told}")
    for name, key in (
        ("preset of --base", "base_error"),
        ("twin", "error"),
        ("drive, measured again", "repeated_error"),
    ):
        error = found[key]
        mean, tail = error["latency_mean_ratio"], error["latency_p99_ratio"]
        print(f"{name:<24}mean latency off by {mean:7.1%}, 99 % latency by {tail:7.1%}")
    late = served["lateness"]
    half, most = late["late_ns_p50"] / 1e3, late["late_ns_p99"] / 1e3
    print(f"lateness: 50 % {half:.1f} us, 99 % {most:.1f} us")


if __name__ == "__main__":
    main()
