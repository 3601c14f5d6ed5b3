"""A campaign on a terminal: a bar, Ctrl-Z between measurements, Ctrl-C that says how to resume."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from killable_campaign import Campaign, asked, stored

SIMULATED = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
COMMAND = "import sys; from drivelab.cli.main import main; sys.exit(main())"


def wait_until_begun(campaign: Campaign, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(asked(campaign.log)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def wait_until_stopped(process: subprocess.Popen[bytes]) -> None:
    # Blocks until the process is stopped or ends; WNOWAIT leaves its end to `Popen`.
    state = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert state is not None
    assert state.si_code == os.CLD_STOPPED


@pytest.mark.parametrize("drive", ["fake:real", SIMULATED], ids=["real", "simulated"])
def test_a_pause_falls_between_real_measurements(tmp_path: Path, drive: str) -> None:
    count = 6 if drive == "fake:real" else 128
    campaign = Campaign(drive, tmp_path, count, delay_seconds=0.2)
    # In a process group of its own, as a shell starts a job.
    with subprocess.Popen(
        campaign.command, process_group=0, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        wait_until_begun(campaign, 2)
        process.send_signal(signal.SIGTSTP)
        wait_until_stopped(process)
        begun = asked(campaign.log)
        if drive == "fake:real":
            # What was in flight is stored, and nothing was begun after it.
            assert sorted(stored(campaign.path)) == sorted(begun)
        assert len(begun) < count or drive != "fake:real"
        time.sleep(0.05)
        assert asked(campaign.log) == begun
        process.send_signal(signal.SIGCONT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 0
    assert (b"`fg` resumes" in said) == (drive == "fake:real")
    assert sorted(stored(campaign.path)) == list(range(count))
    assert len(asked(campaign.log)) == count


def read_until(terminal: int, text: str, so_far: str = "") -> str:
    """Read what a terminal shows until `text` is in it, or until nobody writes any more."""
    # The kernel answers EIO when the last process has closed the terminal.
    with contextlib.suppress(OSError):
        while text not in so_far and (read := os.read(terminal, 4096)):
            so_far += read.decode(errors="replace")
    return so_far


def test_a_terminal_shows_a_bar_and_control_c_says_how_to_go_on(tmp_path: Path) -> None:
    words = ["model", SIMULATED, "--design", "huang2011:500"]
    words += ["--requests", "5000", "--out", str(tmp_path / "run")]
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", COMMAND, *words])  # noqa: S606
    shown = read_until(terminal, " left")
    assert re.search(r"\d+ of \d+ measurements, about \S+ \w+( \S+ \w+)? left", shown)
    os.write(terminal, b"\x03")
    shown = read_until(terminal, "never written", shown)
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert "drivelab: stopped; " in shown
    # The terminal's own line breaks aside, the words can be copied.
    assert f"resume with: drivelab {shlex.join(words)}" in shown.replace("\r\n", "")
    assert "Traceback" not in shown
    assert len(stored(tmp_path / "run")) > 0
