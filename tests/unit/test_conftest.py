"""The rule of tests/conftest.py: a skip fails the whole run in CI, and only there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
MISSING_TOOL = """
def test_probe(require_tool):
    require_tool("no-such-tool")
"""
MODULE_SKIP = """
import pytest
pytest.skip("all of it", allow_module_level=True)
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
