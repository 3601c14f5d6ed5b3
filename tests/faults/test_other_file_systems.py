"""What holds where the tests' files lie holds on ext4 and on an overlay, as containers have it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults
UNIT = Path(__file__).parents[1] / "unit"
SAFETY = (
    "ownership",
    "target_file",
    "opened_path",
    "outputs",
    "whole_file",
    "damage",
    "interruptions",
    "model_file",
    "shared_states",
)


@pytest.mark.parametrize("name", SAFETY)
def test_files_are_as_safe_there(loop_file_system: Path, name: str) -> None:
    words = ["-q", "-p", "no:cacheprovider", "-rs", f"--basetemp={loop_file_system}/tests"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(UNIT / f"test_{name}.py")],
        cwd=UNIT.parents[1],
        # A test that is skipped there shows nothing.
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
