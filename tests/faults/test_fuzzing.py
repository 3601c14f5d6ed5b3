"""Five minutes of fuzzing that follows the coverage: no reader of outside data breaks a promise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

ROOT = Path(__file__).parents[2]
SECONDS = 300
# The least reach twice that: the rest of their source opens, locks, writes or draws.
LEAST_LINES = 0.2
# Opened by its name, this format is refused whatever its bytes are; `trace` recognises it.
REFUSED = "trace-oracle-general"


def test_no_reader_breaks_a_promise(tmp_path: Path) -> None:
    results = tmp_path / "fuzzing.json"
    ran = subprocess.run(
        [sys.executable, "-m", "fuzz", "--seconds", str(SECONDS), "--out", str(results)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for reader in json.loads(results.read_text())["readers"]:
        found = reader["coverage"]
        # Without counters every input looks alike, and nothing but the first is kept.
        assert reader["kept"] > 1, reader
        least = 0 if reader["name"] == REFUSED else LEAST_LINES * found["lines"]
        assert found["lines_met"] > least, reader
