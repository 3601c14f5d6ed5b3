"""Arrays with copies and parity as users have them: simulated, shown, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from validation.array_levels import CASES, TARGET, with_table

from drivelab.cli import main as cli
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

SMALL = Path(__file__).parents[3] / "small_drive.toml"
FIVE = """
name = "five"
kind = "raid"
summary = "four of small, one parity"
level = 5
member = "small"
members = 4
chunk_bytes = 65_536
variability.sigma = 0.0
"""


@pytest.fixture(autouse=True)
def five(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL.read_text())
    Path("five.toml").write_text(FIVE)
    return "sim:five.toml"


def simulated(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert cli.main(["simulate", "sim:five.toml", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_small_writes_cost_two_reads_and_two_writes(five: str, capsys) -> None:
    words = ("--write-ratio", "1", "--write-random", "1", "--queue-depth", "1")
    values = simulated(capsys, *words, "--requests", "100")
    counts = values["array"]
    # Of four members data and parity are as much as the rest of a row: reconstruct-write.
    assert (counts["member_reads"], counts["member_writes"]) == (200, 200)
    assert (counts["reconstruct_writes"], counts["read_modify_writes"]) == (100, 0)
    assert counts["rebuild_left_bytes"] is None
    (stream,) = values["streams"]
    assert "array" in stream["operations"]["write"]["latency_parts"]
    with SimulatedDrive.open(five) as drive:
        workload = Characteristics(write_ratio=1.0, write_random=1.0)
        (measured,) = drive.measure([(0, workload)], MeasurementPlan(requests=100))
    assert measured.extra["reconstruct_writes"] == 100


def test_what_is_missing_or_rebuilt_is_printed(capsys) -> None:
    Path("five.toml").write_text(FIVE + "failed = [1]\n")
    assert (
        simulated(capsys, "--read-random", "1", "--requests", "200")["array"]["degraded_reads"] > 20
    )
    Path("five.toml").write_text(FIVE + "rebuild.member = 0\n")
    assert cli.main(["simulate", "sim:five.toml", "--requests", "50"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "reads and" in text
    assert "rebuilt at" in text
    assert "left:" in text


def test_a_rebuild_goes_on_from_a_saved_state(capsys) -> None:
    Path("five.toml").write_text(
        FIVE + "rebuild.member = 0\nrebuild.min_bytes_per_second = 50_000_000\n"
    )
    first = simulated(capsys, "--requests", "500", "--save-state", "later.state")
    second = simulated(capsys, "--requests", "500", "--from-state", "later.state")
    assert second["array"]["rebuild_left_bytes"] < first["array"]["rebuild_left_bytes"]


def test_unlike_members_are_shown_with_what_is_left_over(capsys) -> None:
    unlike = FIVE.replace('"small"', '["small", "x25m", "small", "small"]')
    Path("five.toml").write_text(unlike.replace("members = 4\n", ""))
    assert cli.main(["drives", "show", "five.toml"]) == 0
    assert "unused_bytes" in capsys.readouterr().out
    values = simulated(capsys, "--requests", "50")
    assert len(values["members"]) == 4


def test_data_of_unlike_members_are_said_without_the_numbers_of_one(capsys) -> None:
    def said(order: str, filled: float) -> str:
        occupancy = f'[occupancy]\nfilled = {filled}\norder = "{order}"\n'
        stream = '[[stream]]\nname = "a"\nqueue_depth = 1\n'
        Path("part.toml").write_text(f"requests = 50\n{occupancy}{stream}")
        return str(simulated(capsys, "--scenario", "part.toml")["occupancy"])

    assert said("in_order", 0.25).endswith(" hold data on each member")
    unlike = FIVE.replace('"small"', '["small", "other", "small", "small"]')
    other = SMALL.read_text().replace("2_147_483_648", "2_281_701_376")
    Path("other.toml").write_text(other)
    Path("five.toml").write_text(unlike.replace("members = 4\n", ""))
    assert said("in_order", 0.25) == "the first 25 % of the pages of each member hold data"
    drawn = "25 % of the pages of each member, drawn at random, hold data"
    assert said("random", 0.25) == drawn
    assert said("random", 1) == "all pages of each member hold data"
    Path("other.toml").write_text(f"{other}[occupancy]\nfilled = 0.5\norder = 'random'\n")
    assert simulated(capsys, "--requests", "50")["occupancy"] == (
        "each member holds data as its own [occupancy] says"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("level = 7", "level = 7 is not possible"),
        ("failed = [0, 1]", "this array has lost data"),
        ("failed = [9]", "different members, 0 to 3"),
        ("members = 2", "at least 3 members"),
        ("chunk_bytes = 5_000", "a power of two from 4096"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(line: str, said: str, capsys) -> None:
    key = line.partition(" ")[0]
    kept = [one for one in FIVE.splitlines() if not one.startswith(f"{key} ")]
    Path("five.toml").write_text("\n".join([*kept[:5], line, *kept[5:]]) + "\n")
    assert cli.main(["simulate", "sim:five.toml", "--requests", "50"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1


def test_the_document_has_a_row_for_every_case() -> None:
    text = TARGET.read_text(encoding="utf-8")
    assert all(f"\n| {case.label} |" in text for case in CASES)
    assert with_table(text, "x").count("| RAID-5 of 6 |") == 0
    with pytest.raises(ValueError, match="no table of levels"):
        with_table("# A page without one\n", "")
