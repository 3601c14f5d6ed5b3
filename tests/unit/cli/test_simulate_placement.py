"""The results of placement handles, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab.cli.main import main
from drivelab.cli.simulate_placement import placement_lines

ROOT = Path(__file__).parents[3]
COUNTS = {
    "host_pages": [0, 1_000, 50],
    "media_pages": [7, 1_250, 50],
    "unit_switches": 4,
    "moved_units": 2,
    "empty_units": 1,
    "invalid_pages": 0,
    "displaced_pages": 0,
}


def test_each_handle_that_was_used_has_a_line() -> None:
    assert list(placement_lines(COUNTS)) == [
        "placement handle 0: 0 host pages, 7 programmed",
        "          handle 1: 1,000 host pages, 1,250 programmed, 1.250 for each",
        "          handle 2: 50 host pages, 50 programmed, 1.000 for each",
        "          reclaim units: 4 opened, 1 collected empty, 2 moved",
    ]


def test_what_went_elsewhere_is_reported() -> None:
    lines = list(placement_lines({**COUNTS, "invalid_pages": 3, "displaced_pages": 4}))
    assert lines[-2:] == [
        "          3 pages with handles or groups that it does not have",
        "          4 pages outside their reclaim group, which was full",
    ]
    assert max(map(len, lines)) <= 80


def test_a_scenario_names_handles_on_any_drive(capsys: pytest.CaptureFixture[str]) -> None:
    def simulated_values(drive: str) -> dict[str, object]:
        asked = ["simulate", drive, "--scenario", "flash-cache", "--requests", "2000"]
        assert main([*asked, "--warmup-requests", "0", "--json"]) == 0
        values: dict[str, object] = json.loads(capsys.readouterr().out)
        return values

    values = simulated_values(f"sim:{ROOT / 'examples' / 'placement.toml'}")
    placement = values["placement"]
    assert isinstance(placement, dict)
    host = placement["host_pages"]
    assert len(host) == 8
    assert [handle for handle, pages in enumerate(host) if pages] == [1, 2]
    streams = values["streams"]
    assert isinstance(streams, list)
    assert [stream["placement"] for stream in streams] == [1, 2]
    assert "placement" not in simulated_values("sim:x25m")
