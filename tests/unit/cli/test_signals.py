"""A command that was started with a signal ignored: the signal stays ignored."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]
# Some seconds of computing, and minutes that nobody waits for.
SHORT, LONG = "2000000", "1000000000"


def measure(requests: str) -> list[str]:
    return [*COMMAND, "measure", DRIVE, "--requests", requests, "--json"]


def wait_until_it_measures(number: int) -> None:
    """Wait for a second thread: simulated drives have threads of their own."""
    deadline = time.monotonic() + 60
    while len(list(Path(f"/proc/{number}/task").iterdir())) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ignoring(*numbers: int) -> Callable[[], None]:
    def ignore() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    return ignore


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_ignored_signal_stops_nothing(number: signal.Signals) -> None:
    with subprocess.Popen(
        measure(SHORT),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=ignoring(number),  # noqa: PLW1509
    ) as process:
        wait_until_it_measures(process.pid)
        process.send_signal(number)
        result, complaint = process.communicate()
    assert (process.returncode, complaint) == (0, b"")
    assert json.loads(result)["requests"] == int(SHORT)


@pytest.mark.parametrize(
    ("number", "others", "code"),
    [
        (signal.SIGINT, [signal.SIGTERM, signal.SIGHUP], 130),
        (signal.SIGTERM, [signal.SIGINT, signal.SIGHUP], 143),
        (signal.SIGHUP, [signal.SIGINT, signal.SIGTERM], 129),
    ],
)
def test_a_signal_stops_where_only_others_are_ignored(
    number: signal.Signals, others: list[signal.Signals], code: int
) -> None:
    with subprocess.Popen(
        measure(LONG),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=ignoring(*others),  # noqa: PLW1509
    ) as process:
        wait_until_it_measures(process.pid)
        process.send_signal(number)
        result, complaint = process.communicate()
    assert (process.returncode, result) == (code, b"")
    assert complaint.startswith(b"drivelab: ")
    assert complaint.count(b"\n") == 1


def test_ctrl_c_ends_a_script_and_not_its_job_in_the_background() -> None:
    with subprocess.Popen(
        ["/bin/sh", "-c", '"$@" & echo $!; wait', "sh", *measure(SHORT)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as script:
        assert script.stdout is not None
        wait_until_it_measures(int(script.stdout.readline()))
        os.killpg(script.pid, signal.SIGINT)
        result, complaint = script.communicate()
    assert (script.returncode, complaint) == (-signal.SIGINT, b"")
    assert json.loads(result)["requests"] == int(SHORT)


def test_the_end_of_fio_is_seen_where_ends_of_children_are_ignored(
    require_tool: Callable[[str], Path], drive_folder: Path
) -> None:
    require_tool("fio")
    target = drive_folder / "ignored.bin"
    answer = subprocess.run(
        [*COMMAND, "measure", str(target), "--size", "1MiB", "--requests", "100", "--json"],
        capture_output=True,
        text=True,
        preexec_fn=ignoring(signal.SIGCHLD),
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert json.loads(answer.stdout)["requests"] == 100
