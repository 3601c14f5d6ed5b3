"""A choice between drives from Python: the same as the command's."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import drivelab as dl
from drivelab.cli import main as cli

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
SETTLING = f"sim:{Path(__file__).parents[2] / 'settling_drive.toml'}"
# What both hold is made in a moment; a package drive would be filled anew by every worker.
DRIVES = [SMALL, SETTLING]
BRIEF = {"requests": 200, "progress": False}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = (f"0,{64 * (place % 99)},4096,{'rw'[place % 2]},{place / 1000}" for place in range(300))
    Path("a.spc").write_text("\n".join(lines) + "\n")
    Path("prices.csv").write_text(f"drive,price,watts\n{SMALL},10,2\n{SETTLING},90,5\n")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    capsys.readouterr()
    assert cli.main(["choose", *words, "--drives", ",".join(DRIVES), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    return {
        key: value for key, value in answer.items() if key not in ("report", "tables", "result")
    }


def test_it_is_what_the_command_finds(capsys) -> None:
    choice = dl.choose_drive(
        dl.Characteristics(queue_depth=4, write_ratio=0.3),
        DRIVES,
        by="p99",
        repetitions=2,
        prices="prices.csv",
        rate=5000,
        seed=3,
        **BRIEF,
    )
    words = ("--queue-depth", "4", "--write-ratio", "0.3", "--by", "p99", "--repetitions", "2")
    words += ("--prices", "prices.csv", "--rate", "5000", "--seed", "3", "--requests", "200")
    assert choice.to_json() == printed(capsys, *words)
    assert choice.headline in choice.to_json()["headline"]
    assert [row["rank"] for row in choice.drives] == [1, 2]
    assert choice.costs[0]["drives_for_rate"] >= 1
    assert choice.streams[0]["operation"] == "read"
    with pytest.raises(FrozenInstanceError):
        choice._asked = None


@pytest.mark.parametrize("speed", [1.0, "max"])
def test_a_trace_and_a_scenario(capsys, speed: float | str) -> None:
    choice = dl.choose_drive(dl.trace("a.spc", speed=speed, depth=4), DRIVES, progress=False)
    words = ("--trace", "a.spc", "--depth", "4", "--speed", str(speed))
    assert choice.to_json() == printed(capsys, *words)
    Path("mine.toml").write_text('requests = 300\n[[stream]]\nname = "a"\nqueue_depth = 2\n')
    choice = dl.choose_drive("mine.toml", DRIVES, repetitions=2, progress=False)
    assert choice.to_json() == printed(capsys, "mine.toml", "--repetitions", "2")
    assert choice.workload == "mine"


def test_drives_may_come_one_by_one() -> None:
    asked = {"repetitions": 2, **BRIEF}
    choice = dl.choose_drive(dl.Characteristics(), (each for each in DRIVES), **asked)
    assert choice.to_json() == dl.choose_drive(dl.Characteristics(), DRIVES, **asked).to_json()


def test_a_drive_that_is_open_stays_open_and_a_report_is_written() -> None:
    with dl.drive(SMALL) as one:
        choice = dl.choose_drive(dl.Characteristics(), [one, SETTLING], repetitions=2, **BRIEF)
        assert one.measure(dl.Characteristics(), requests=50).requests == 50
    page = choice.report("found")
    assert page == Path("found/report.html")
    assert json.loads(Path("found/result.json").read_text())["headline"] == choice.headline
    assert choice.report("found") == page
    Path("other").mkdir()
    Path("other/report.html").write_text("mine")
    with pytest.raises(dl.DrivelabError, match=r"other/report\.html"):
        choice.report("other")
    assert repr(choice).startswith("<Choice for 4 KiB random reads, queue depth 1: ")
    assert "<th>99 % latency</th>" in choice._repr_html_()


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"drives": [SMALL]}, "name two drives or more"),
        ({"drives": SMALL}, "give a list of them"),
        ({"drives": 5}, "drives is 5; give a list such as ['sim:x25m', 'sim:low-latency']"),
        ({"drives": None}, "drives is None; give a list such as"),
        ({"drives": [SMALL, SMALL]}, "is named twice"),
        ({"by": "speed"}, "by is 'speed'; allowed: latency, p99"),
        ({"by": "throughput"}, "by throughput does not rank drives under a trace"),
        ({"rate": 5}, "prices='FILE.csv'"),
        ({"repetitions": 3}, "repetitions has no effect on a trace"),
        ({"repetitions": 1}, "repetitions is 1; allowed: 2 to 1000"),
        ({"warmup_requests": 3}, "warmup_requests has no effect on a trace"),
        ({"writes": "sustained"}, "writes='sustained' has no effect on a trace"),
        ({"drives": [SMALL, "analytic:x25m-yoo2014"]}, "is a formula"),
        ({"workload": "tpc-c", "content": "zero"}, "leave out content"),
        ({"workload": "a.spc"}, "not a scenario; read it with drivelab.trace('a.spc')"),
        ({"workload": 5}, "a scenario is named by text"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line(how: dict, says: str) -> None:
    asked = {"workload": dl.trace("a.spc"), "drives": DRIVES, "progress": False} | how
    with pytest.raises(dl.DrivelabError) as refused:
        dl.choose_drive(**asked)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_errors_of_drives_name_arguments() -> None:
    Path("far.spc").write_text("0,0,4096,r,0\n0,1000000000,4096,r,1\n")
    with pytest.raises(dl.DrivelabError, match="to the drive with fit wrap or fit scale, or"):
        dl.choose_drive(dl.trace("far.spc"), DRIVES, progress=False)
