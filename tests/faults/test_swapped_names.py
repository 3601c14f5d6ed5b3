"""For a minute another program swaps names while Drivelab measures and writes its outputs."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from swapped_names import swapped

from drivelab.drives.real.target_file import open_target_file
from drivelab.errors import DrivelabError, UsageError
from drivelab.outputs import Output, write_output

pytestmark = pytest.mark.faults
MIB = 2**20
SECONDS = 60
COMMAND_EVERY_SECONDS = 5
DRIVELAB = "import sys; from drivelab.cli.main import main; sys.exit(main())"
WRITES = ["--write-ratio", "1", "--write-random", "1", "--seconds", "0.02"]


def test_another_file_is_never_written(loop_file_system: Path) -> None:
    named, foreign, link = (loop_file_system / name for name in ("named", "foreign", "link"))
    for folder in (named, foreign):
        folder.mkdir()
        (folder / "file").write_bytes(os.urandom(4 * MIB))
    link.symlink_to(foreign)
    path, precious = named / "file", (foreign / "file").read_bytes()
    ours, opened, refused, measured = path.stat().st_ino, 0, 0, 0
    begin = time.monotonic()
    with swapped(named, link):
        while (passed := time.monotonic() - begin) < SECONDS:
            try:
                target = open_target_file(path, allow_destructive=str(path))
            except UsageError:
                refused += 1
            else:
                opened += 1
                assert os.fstat(target.descriptor).st_ino == ours
                target.close()
            if passed > measured * COMMAND_EVERY_SECONDS:
                # The whole command too, fio and all: whatever it says, it never writes elsewhere.
                words = ["measure", str(path), f"--allow-destructive={path}", *WRITES]
                done = subprocess.run(
                    [sys.executable, "-c", DRIVELAB, *words],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode in (0, 1, 2), done.stderr
                assert "Traceback" not in done.stderr
                measured += 1
    # Both outcomes are met, or nothing was tried.
    assert opened > 100
    assert refused > 100
    assert measured > 1
    assert (foreign / "file").read_bytes() == precious


def test_outputs_never_replace_what_comes_meanwhile(loop_file_system: Path) -> None:
    """The name holds the user's file, or ours, from one moment to the next."""
    path, mine = loop_file_system / "made.csv", loop_file_system / "mine.csv"
    output = Output(path, "table", "a test")
    write_output(output, "ours")
    mine.write_text("my work")
    written, end = 0, time.monotonic() + SECONDS / 6
    with swapped(path, mine):
        while time.monotonic() < end:
            with contextlib.suppress(DrivelabError):
                write_output(output, "ours")
                written += 1
    assert written > 100
    assert sorted(file.read_text() for file in loop_file_system.iterdir()) == ["my work", "ours"]
