"""Several drives at the same time, each in its own process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from drivelab.cli.main import guarded
from drivelab.cli.side_by_side import Finished, run_side_by_side, said_of
from drivelab.errors import RunError

SCRIPT = """
import os, sys, time
from pathlib import Path
from drivelab.cli.main import guarded
from drivelab.cli.side_by_side import run_side_by_side

def work(name):
    Path(sys.argv[1], name).write_text(str(os.getpid()))
    while True:
        print("a step", file=sys.stderr, flush=True)
        time.sleep(0.02)

run_side_by_side(["a", "b"], work, guarded, at_once=2)
"""


def test_each_result_is_printed_in_the_order_of_the_names() -> None:
    def work(name: str) -> list[dict[str, str]]:
        if name == "b":
            raise RunError("b is broken")
        return [{"drive": name}]

    assert run_side_by_side(["c", "b", "a"], work, guarded, at_once=2) == [
        Finished("c", answers=[{"drive": "c"}]),
        Finished("b", code=1, complaint="b is broken"),
        Finished("a", answers=[{"drive": "a"}]),
    ]


def test_what_a_drive_says_begins_with_its_name() -> None:
    assert said_of("a.bin", "it went away") == "a.bin: it went away"
    assert said_of("a.bin", "a.bin cannot be read") == "a.bin cannot be read"
    assert said_of("a.bin", "a.bin: too short") == "a.bin: too short"
    assert said_of("a", "ab is another") == "a: ab is another"


def test_processes_end_with_one_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.02)
        time.sleep(0.1)
        children = [int(path.read_text()) for path in tmp_path.iterdir()]
        process.send_signal(signal.SIGKILL)
    assert len(children) == 2
    deadline = time.monotonic() + 60
    while any(map(_runs, children)) and time.monotonic() < deadline:
        time.sleep(0.02)
    left = [child for child in children if _runs(child)]
    for child in left:
        os.kill(child, signal.SIGKILL)
    assert not left


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
