"""The simulator's speed as `drivelab simulate` prints it.

`cargo bench` measures the same from inside. Every case is a separate process. The output has
requests and page programs per second of wall time in the loop, and the peak memory.

    .venv/bin/python benches/simulate_command.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("drivelab"))
CASES = {
    "random reads": ("--requests", "20000000"),
    "70/30 mixed": ("--requests", "20000000", "--write-ratio", "0.3"),
    "random writes, full drive": (
        *("--requests", "20000000", "--write-ratio", "1"),
        *("--warmup-requests", "30000000"),
    ),
}


def main() -> None:
    """Run every case and print one line for each."""
    for name, words in CASES.items():
        command = [COMMAND, "simulate", "sim:bench-64gib", "--queue-depth", "64", *words, "--json"]
        printed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        seconds = printed["loop_wall_seconds"]
        print(
            f"{name:<26} {printed['requests'] / seconds / 1e6:6.2f} M requests/s"
            f" {printed['page_programs'] / seconds / 1e6:6.2f} M page programs/s"
            f" {printed['peak_memory_bytes'] / 2**20:7.0f} MiB"
        )


if __name__ == "__main__":
    main()
