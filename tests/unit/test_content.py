"""What written data looks like to a simulated drive that compresses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli.main import main

DRIVE = """
base = "x25m"
name = "compressing"
condition = "fresh"
[geometry]
blocks_per_plane = 120
user_capacity_bytes = 536_870_912
[compression]
slot_size_bytes = 1024
deduplicates_zeros = true
"""


@pytest.fixture
def drive(tmp_path: Path) -> str:
    path = tmp_path / "compressing.toml"
    path.write_text(DRIVE)
    return f"sim:{path}"


def simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["simulate", *arguments, "--json"]) == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out)
    return values


WRITES = ("--write-ratio", "1", "--write-random", "0", "--write-size", "128k", "--queue-depth", "8")


def test_content_decides_what_a_write_costs(capsys: pytest.CaptureFixture[str], drive: str) -> None:
    amplification = {}
    for content in ("zero", "database", "random"):
        told = simulated(capsys, drive, *WRITES, "--requests", "2000", "--content", content)
        amplification[content] = told["flash"]["write_amplification_ratio"]
        assert told["streams"][0]["content"] == content
        assert (f"content {content}" in told["streams"][0]["description"]) == (content != "random")
    # Nothing of zeroes; half of 9 pages in 10, up to what waits for its other half.
    assert amplification["zero"] == 0
    assert amplification["database"] == pytest.approx(0.45, rel=0.01)
    assert amplification["random"] == 1


def test_streams_of_a_scenario_have_contents(
    capsys: pytest.CaptureFixture[str], drive: str, tmp_path: Path
) -> None:
    scenario = tmp_path / "two.toml"
    scenario.write_text(
        "requests = 1000\n"
        '[[stream]]\nname = "new"\nqueue_depth = 1\nwrite_ratio = 1.0\ncontent = "zero"\n'
        '[[stream]]\nname = "old"\nrate_iops = 10\nwrite_ratio = 1.0\n'
    )
    told = simulated(capsys, drive, "--scenario", str(scenario))
    assert [stream["content"] for stream in told["streams"]] == ["zero", "random"]
    zero = told["streams"][0]["operations"]["write"]["requests"]
    assert told["flash"]["zero_pages"] == zero
    scenario.write_text(scenario.read_text().replace('"zero"', '"text"'))
    assert main(["simulate", drive, "--scenario", str(scenario)]) == 2
    said = capsys.readouterr().err
    assert 'allowed: "zero" or "database" or "random"' in said
    assert main(["simulate", drive, "--scenario", str(scenario), "--content", "zero"]) == 2
    assert "leave out --content or --scenario" in capsys.readouterr().err
