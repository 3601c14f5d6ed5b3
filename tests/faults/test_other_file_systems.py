"""The promises also hold on ext4 and on an overlay, as in containers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults
UNIT = Path(__file__).parents[1] / "unit"
SAFETY = (
    "drives/real/test_ownership",
    "drives/real/test_target_file",
    "drives/real/test_opened_path",
    "test_outputs",
    "test_whole_file",
    "campaign/test_damage",
    "cli/test_interruptions",
    "models/test_model_file",
    "pts/test_shared_states",
)


@pytest.mark.parametrize("name", SAFETY)
def test_files_are_as_safe_there(loop_file_system: Path, name: str) -> None:
    words = ["-q", "-p", "no:cacheprovider", "-rs", f"--basetemp={loop_file_system}/tests"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, str(UNIT / f"{name}.py")],
        cwd=UNIT.parents[1],
        # A test that is skipped there shows nothing.
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
