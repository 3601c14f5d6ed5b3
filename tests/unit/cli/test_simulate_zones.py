"""The results of zones, as text and as JSON, and what a drive with zones refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli.main import main
from drivelab.cli.simulate_zones import REASONS, refusal_caution, zone_lines

EXAMPLES = Path(__file__).parents[3] / "examples"
ZONED = f"sim:{EXAMPLES / 'zones.toml'}"
COUNTS = {
    **dict.fromkeys(REASONS, 0),
    "appends": 1_200,
    "resets": 3,
    "finishes": 1,
    "opens": 0,
    "closes": 0,
    "drive_closes": 2,
    "filled_zones": 4,
    "refused_commands": 0,
    "most_open": 4,
    "most_active": 5,
}


def test_zones_have_lines_and_what_did_not_happen_has_none() -> None:
    assert list(zone_lines(COUNTS)) == [
        "zones     4 written to their end, 3 reset, 1 finished",
        "          at most 4 open and 5 active at the same time",
        "          1,200 appends, 2 closed by the drive",
    ]
    assert refusal_caution(COUNTS) is None


def test_refusals_are_reported_by_their_reason() -> None:
    counts = {**COUNTS, "refused_full": 2, "refused_not_at_pointer": 7, "refused_commands": 9}
    lines = list(zone_lines(counts))
    assert lines[-2:] == [
        "          7 refused: writes away from the write pointer of their zone",
        "          2 refused: writes to full zones",
    ]
    every = {**COUNTS, **dict.fromkeys(REASONS, 1_000_000), "refused_commands": 7_000_000}
    assert max(map(len, zone_lines(every))) <= 80
    caution = refusal_caution(counts)
    assert caution is not None
    assert caution.startswith("the drive refused 9 commands: most of them writes away from the")
    one = refusal_caution({**COUNTS, "refused_full": 1, "refused_commands": 1})
    assert one is not None
    assert one.startswith("the drive refused 1 command: a write to a full zone. It moved no data")
    assert list(zone_lines({**COUNTS, "refused_full": 1}))[-1].endswith(
        " 1 refused: a write to a full zone"
    )


def test_the_caution_says_what_to_change_by_the_reason() -> None:
    def caution(reason: str) -> str | None:
        return refusal_caution({**COUNTS, reason: 996, "refused_commands": 996})

    full = caution("refused_full")
    assert full is not None
    assert full.startswith("the drive refused 996 commands: writes to full zones. They moved no")
    assert "a stream with zones does so" in full
    invalid = caution("refused_invalid")
    assert invalid is not None
    assert "whole pages of the drive (geometry.page_size_bytes): set write_size_bytes" in invalid
    assert "a stream with zones does so" not in invalid
    active = caution("refused_too_many_active")
    assert active is not None
    assert active.endswith("Write to fewer zones at the same time (docs/zones.md).")


def answer_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["simulate", *words, "--json"]) == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out)
    return values


def test_one_scenario_runs_with_zones_and_without(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--scenario", str(EXAMPLES / "zoned-logs.toml"), "--requests", "2000")
    asked = (*asked, "--warmup-requests", "0")
    values = answer_of(capsys, ZONED, *asked)
    assert values["zones"]["refused_commands"] == 0
    assert values["zones"]["resets"] > 0
    assert values["flash"]["write_amplification_ratio"] == 1
    assert [stream["zones"] for stream in values["streams"]] == [4, 4, 4]
    without = answer_of(capsys, f"sim:{EXAMPLES / 'zones-off.toml'}", *asked)
    assert "zones" not in without


def test_random_writes_are_refused_and_that_is_said_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("--write-ratio", "1", "--write-size", "16KiB", "--requests", "1000")
    values = answer_of(capsys, ZONED, *asked)
    refused = values["zones"]["refused_commands"]
    assert refused > 900
    operations = values["streams"][0]["operations"]
    assert operations["trim"]["requests"] == refused
    assert operations["trim"]["bytes"] == 0
    assert main(["simulate", ZONED, *asked]) == 0
    assert capsys.readouterr().out.startswith("caution   the drive refused ")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("zones = 4\nqueue_depth = 9\nwrite_ratio = 1.0", "allowed by writes: at most zones, 4"),
        ("zones = 4\nqueue_depth = 1\nwrite_random = 1.0", "write_random has no effect beside"),
        ('writes_as = "append"\nqueue_depth = 1', "allowed beside zones"),
        ('zones = 4\nqueue_depth = 1\nwrites_as = "trim"', 'allowed beside zones: "write"'),
        ("zone_bytes = 4096\nqueue_depth = 1", "zones is missing"),
    ],
)
def test_bad_streams_are_refused_in_a_line(
    lines: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "mine.toml"
    scenario.write_text(f'requests = 100\n[[stream]]\nname = "log"\n{lines}\n')
    assert main(["simulate", ZONED, "--scenario", str(scenario)]) == 2
    message = capsys.readouterr().err
    assert said in message
    assert message.count("\n") == 1
