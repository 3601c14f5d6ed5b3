"""What tests/conftest.py promises: in CI a skip is a failure, and all runs begin alike."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[2] / "conftest.py"
MISSING_TOOL = """
def test_probe(require_tool):
    require_tool("no-such-tool")
"""
MODULE_SKIP = """
import pytest
pytest.skip("all of it", allow_module_level=True)
"""
# A test, and as a program what a test's programs find.
BEGINNING = """
import json, locale, os, signal, subprocess, sys, time

def found():
    return {
        "hears ctrl-c": signal.getsignal(signal.SIGINT) == signal.default_int_handler,
        "ends at": [
            number.name
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGTSTP)
            if signal.getsignal(number) == signal.SIG_DFL
        ],
        "holds back": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "umask": os.umask(0o022),
        "encoding": locale.getencoding().lower(),
        "zone": time.tzname[0],
        "variables": [name for name in ("COLUMNS", "LC_ALL", "NO_COLOR") if name in os.environ],
        "has a home": os.access(os.environ["HOME"], os.W_OK),
    }

ORDINARY = {
    "hears ctrl-c": True,
    "ends at": ["SIGTERM", "SIGHUP", "SIGCHLD", "SIGTSTP"],
    "holds back": 0,
    "umask": 0o022,
    "encoding": "utf-8",
    "zone": "UTC",
    "variables": [],
    "has a home": True,
}

def test_here():
    # `nohup` stays in force for pytest itself.
    outlives = {**ORDINARY, "ends at": ["SIGTERM", "SIGCHLD", "SIGTSTP"]}
    assert found() == outlives
    assert signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN

def test_in_a_program():
    assert json.loads(subprocess.check_output([sys.executable, __file__])) == ORDINARY

if __name__ == "__main__":
    print(json.dumps(found()))
"""
PRESENT_TOOL = """
def test_probe(require_tool):
    assert require_tool("sh").name == "sh"
"""


@pytest.mark.parametrize(
    ("program", "ci", "processes", "code"),
    [
        (MISSING_TOOL, "true", 0, 1),
        (MISSING_TOOL, "", 0, 0),
        (MISSING_TOOL, "false", 0, 0),
        (MODULE_SKIP, "true", 0, 1),
        (MODULE_SKIP, "true", 1, 1),
        (PRESENT_TOOL, "true", 0, 0),
    ],
)
def test_skip_is_a_failure_in_ci(
    program: str, ci: str, processes: int, code: int, tmp_path: Path
) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_probe.py").write_text(program)
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-n", str(processes), str(tmp_path)],
        env={**os.environ, "CI": ci},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == code, answer.stdout
    assert ("which counts as a failure" in answer.stdout) == (code == 1)
    if program == MISSING_TOOL:
        assert "needs no-such-tool: make system-packages" in answer.stdout


def as_nobody_expects() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR1})
    os.umask(0o077)


@pytest.mark.parametrize("processes", [0, 1])
def test_every_run_begins_alike(processes: int, tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_probe.py").write_text(BEGINNING)
    strange = {"COLUMNS": "20", "LC_ALL": "C", "NO_COLOR": "1", "TZ": "Asia/Tokyo"}
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", str(processes), str(tmp_path)],
        env={**os.environ, **strange, "HOME": "/nowhere"},
        cwd=tmp_path,
        # No terminal to be had, and nothing to read.
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        preexec_fn=as_nobody_expects,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout
    assert "2 passed" in answer.stdout
