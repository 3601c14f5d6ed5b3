"""The example of a drive that refreshes, and what a preset with an empty table is answered."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from drivelab.cli.main import main

if TYPE_CHECKING:
    import pytest

EXAMPLE = f"sim:{Path(__file__).parents[3] / 'examples' / 'refresh.toml'}"
LIMIT = 10_000


def test_the_example_refreshes_at_the_rate_of_its_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    requests = 100_000
    assert main(["simulate", EXAMPLE, "--requests", str(requests), "--json"]) == 0
    flash = json.loads(capsys.readouterr().out)["flash"]
    # Blocks begin with anything up to the limit, so each read is the last that a block takes with a
    # probability of one in the limit. Three standard deviations of such a count.
    mean = requests / LIMIT
    assert abs(flash["refreshed_blocks"] - mean) <= 3 * math.sqrt(mean)
    assert flash["refresh_page_programs"] > 0


def test_data_that_ages_too_fast_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(retention_ns: int) -> str:
        preset = tmp_path / "a.toml"
        preset.write_text(
            f'base = "x25m"\nname = "a"\nrefresh.retention_ns = {retention_ns}\n', encoding="utf-8"
        )
        assert main(["simulate", f"sim:{preset}", "--requests", "2000"]) == 0
        return capsys.readouterr().out

    said = "blocks waited for a refresh when the run was over: their data is older than"
    assert said in printed(50_000_000)
    assert said not in printed(10**15)


def test_an_empty_table_is_refused_with_its_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    preset = tmp_path / "a.toml"
    preset.write_text('base = "x25m"\nname = "a"\n[refresh]\n', encoding="utf-8")
    assert main(["simulate", f"sim:{preset}"]) == 2
    problem = capsys.readouterr().err
    assert "at least one of its keys: read_limit, retention_ns" in problem
    assert problem.count("\n") == 1
