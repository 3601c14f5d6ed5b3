"""`drivelab choose`: drives measured in the same way, ranked, saved, resumed, priced."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from drivelab.choose import run as choose_run
from drivelab.cli import main as cli
from drivelab.drives.measurement import Measurement
from drivelab.errors import RunError

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
SETTLING = f"sim:{Path(__file__).parents[2] / 'settling_drive.toml'}"
DRIVES = ["--drives", f"{SMALL},{SETTLING}"]
SHORT = ["--requests", "300", "--repetitions", "3"]
# The small drives serve some hundred thousand reads a second at most.
OPEN = """
summary = "more than one of them serves"
duration_ns = 100_000_000
[[stream]]
name = "reader"
rate_iops = {rate}
range_bytes = 1_048_576
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.main(["choose", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["choose", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_each_drive_has_what_measuring_it_alone_gives(capsys) -> None:
    asked = ["--queue-depth", "2", "--requests", "300", "--seed", "7"]
    found = answer(capsys, *DRIVES, *asked, "--repetitions", "2")
    assert {one["drive"] for one in found["drives"]} == {SMALL, SETTLING}
    assert cli.main(["measure", SMALL, *asked, "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    # The first repetition is what the same seed measures; the mean is of two.
    (mine,) = (one for one in found["drives"] if one["drive"] == SMALL)
    assert mine["latency_ns_mean"] == pytest.approx(alone["latency_ns_mean"], rel=0.2)
    assert mine["latency_ns_mean_low"] < mine["latency_ns_mean"] < mine["latency_ns_mean_high"]
    assert found["drives"][0]["rank"] == 1
    assert len(found["statements"]) == 4


def test_seeds_and_repetitions_make_the_same_answer(capsys) -> None:
    words = [*DRIVES, *SHORT, "--queue-depth", "4"]
    first = answer(capsys, *words, "--workers", "1")
    assert answer(capsys, *words) == first
    assert answer(capsys, *words, "--seed", "1")["drives"] != first["drives"]


def test_the_terminal_ranks_and_says_what_is_carried(capsys) -> None:
    assert cli.main(["choose", *DRIVES, *SHORT, "--by", "throughput"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("workload     4 KiB random reads, queue depth 1\n")
    assert "repetitions  3 on each drive, the same random numbers" in text
    assert "rank  drive" in text
    assert "wrote" not in text


def test_writes_are_sustained_unless_a_burst_is_asked_for(capsys) -> None:
    words = [*DRIVES, "--write-ratio", "1", *SHORT]
    sustained = answer(capsys, *words)["drives"]
    assert answer(capsys, *words, "--writes", "sustained")["drives"] == sustained
    assert answer(capsys, *words, "--writes", "burst")["drives"] != sustained


def test_who_cannot_keep_up_is_said_first_and_last(capsys) -> None:
    Path("open.toml").write_text(OPEN.format(rate=900_000))
    found = answer(capsys, "open.toml", *DRIVES, "--repetitions", "2", "--out", "out")
    assert found["workload"] == "open"
    assert "Fewer than two drives keep up" in Path("out/report.html").read_text()
    assert found["headline"].startswith("No drive keeps up")
    assert [one["keeps_up"] for one in found["drives"]] == [False, False]
    assert found["drives"][0]["rank"] is None
    short = found["drives"][0]["shortfalls"][0]
    assert (short["stream"], short["asked_iops"]) == ("reader", 900_000)
    assert short["served_iops"] < 800_000
    assert "cannot keep up with reader (900,000 requests a second arrive, " in found["cautions"][0]
    Path("open.toml").write_text(OPEN.format(rate=2_000))
    slow = answer(capsys, "open.toml", *DRIVES, "--repetitions", "2")
    assert all(one["keeps_up"] for one in slow["drives"])
    assert slow["cautions"] == []


def test_the_folder_holds_a_page_tables_and_a_run_of_each_drive(capsys) -> None:
    Path("prices.csv").write_text(f"drive,price,watts\n{SMALL},10,2\n{SETTLING},40,3\n")
    words = [*DRIVES, *SHORT, "--prices", "prices.csv", "--rate", "100000", "--out", "out"]
    found = answer(capsys, *words)
    assert (found["report"], found["result"]) == ("out/report.html", "out/result.json")
    page = Path("out/report.html").read_text()
    for words_of_page in ("Which drive", "How sure that is", "Where they differ", "What they cost"):
        assert words_of_page in page
    tables = {path.stem for path in Path("out/data").glob("*.csv")}
    assert {"drives", "statements", "repetitions", "percentiles", "streams", "costs"} <= tables
    result = json.loads(Path("out/result.json").read_text())
    assert result["drives"] == found["drives"]
    assert found["cheapest"].startswith("100,000 IOPS cost least with sim:")
    # The same question is answered again, from what is kept.
    before = Path("out/report.html").read_bytes()
    assert answer(capsys, *words) == found
    assert Path("out/report.html").read_bytes() == before
    assert cli.main(["runs", "list", "out"]) == 0
    listed = capsys.readouterr().out
    assert listed.count("choice under 4 KiB random reads") == 2
    (one, _) = sorted(Path("out/drives").iterdir())
    assert cli.main(["runs", "export", str(one), "--csv", "rows.csv"]) == 0
    assert len(Path("rows.csv").read_text().splitlines()) == 4


def test_what_is_kept_is_gone_on_with(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*DRIVES, "--requests", "300", "--out", "out"]
    first = answer(capsys, *words, "--repetitions", "2")
    measured: list[int] = []
    usual = choose_run.DriveExecutor.measure

    def counted(self: Any, work: Any, plan: Any) -> Any:
        measured.extend(index for index, _ in work)
        return usual(self, work, plan)

    monkeypatch.setattr(choose_run.DriveExecutor, "measure", counted)
    more = answer(capsys, *words, "--repetitions", "4")
    assert measured == [2, 3, 2, 3]
    assert more["repetitions"] == 4
    assert answer(capsys, *words, "--repetitions", "2") == first
    said = refused(capsys, *words, "--seed", "1")
    assert "contains another choice: seed: 0 before, 1 now; choose another --out" in said


def test_a_scenario_with_another_comment_is_the_same(
    capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["mine.toml", *DRIVES, "--repetitions", "2", "--out", "out"]
    scenario = OPEN.format(rate="1000").replace("100_000_000", "10_000_000")
    Path("mine.toml").write_text(scenario)
    first = answer(capsys, *words)

    def never(self: Any, work: Any, plan: Any) -> Any:
        raise AssertionError("measured again")

    monkeypatch.setattr(choose_run.DriveExecutor, "measure", never)
    Path("mine.toml").write_text(f"# mine\n{scenario.replace(' = ', '  =')}")
    assert answer(capsys, *words) == first
    Path("mine.toml").write_text(scenario.replace("rate_iops = 1000", "rate_iops = 1001"))
    said = refused(capsys, *words)
    assert "contains another choice: asked workload scenario stream: " in said
    assert '"rate_iops": 1000' in said
    assert '"rate_iops": 1001' in said
    assert "choose another --out" in said


def test_a_partly_filled_drive_is_said(capsys) -> None:
    scenario = OPEN.format(rate="1000").replace("100_000_000", "10_000_000")
    Path("part.toml").write_text(f'{scenario}[occupancy]\nfilled = 0.25\norder = "random"\n')
    found = answer(capsys, "part.toml", *DRIVES, "--repetitions", "2", "--out", "out")
    said = (
        "By [occupancy] of the scenario only 25 % of the drive holds data, at random places. "
        "On SSDs reads elsewhere find nothing and never reach the flash."
    )
    assert found["cautions"] == [said]
    page = Path("out/report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "What is on the drives" in page
    assert "only 25 % of the drive holds data" in page
    assert cli.main(["scenarios", "part.toml", "--json"]) == 0
    [listed] = json.loads(capsys.readouterr().out)["scenarios"]
    assert listed["occupancy"] == "only 25 % of the drive holds data, at random places"


def test_a_stopped_choice_says_what_is_kept(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = choose_run.DriveExecutor.measure

    def failing(self: Any, work: Any, plan: Any) -> Any:
        for answered in usual(self, work, plan):
            assert isinstance(answered, Measurement)
            if answered.index == 1:
                raise RunError("the drive went away")
            yield answered

    with monkeypatch.context() as patched:
        patched.setattr(choose_run.DriveExecutor, "measure", failing)
        assert cli.main(["choose", *DRIVES, *SHORT, "--out", "out"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert "the drive went away; 1 of 3 repetitions are saved in out/drives/" in said
    assert answer(capsys, *DRIVES, *SHORT, "--out", "out")["repetitions"] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--drives", "sim:x25m"], "--drives names sim:x25m alone, and there is nothing to choose"),
        (["--drives", "sim:x25m,sim:x25m"], "sim:x25m is named twice; name each drive once"),
        (["--drives", "sim:x25m,"], "has an empty name; write it as sim:x25m,sim:"),
        (["--drives", "sim:x25m,sim:x25n"], "there is no drive 'sim:x25n'; did you mean sim:x25m"),
        ([], "--drives is missing"),
        (["tpcc", *DRIVES], "there is no scenario 'tpcc'; did you mean tpc-c?"),
        (["tpc-c", *DRIVES, "--queue-depth", "2"], "leave out --queue-depth or tpc-c"),
        (["tpc-c", *DRIVES, "--writes", "burst"], "leave out --writes or tpc-c"),
        (["tpc-c", *DRIVES], "is asked for what ends at 47244640256 bytes"),
        ([*DRIVES, "--by", "price"], "'price' is not allowed"),
        ([*DRIVES, "--repetitions", "1"], "it takes a whole number from 2 to 1000"),
        ([*DRIVES, "--rate", "100"], "--rate is for --prices: name a table of prices"),
        ([*DRIVES, "--prices", "none.csv"], "there is no file none.csv; write one with drive,"),
        ([*DRIVES, "--size", "1GiB"], "--size has no effect on sim:"),
        (["tpc-c", "--drives", "sim:x25m,./a.bin"], "a scenario cannot be sent to ./a.bin, a real"),
    ],
)
def test_mistakes_are_one_line(capsys, words: list[str], said: str) -> None:
    assert said in refused(capsys, *words)


def test_another_drives_folder_is_refused(capsys) -> None:
    Path("out").mkdir()
    Path("out/notes.txt").write_text("mine")
    said = refused(capsys, *DRIVES, *SHORT, "--out", "out")
    assert "out holds notes.txt, which no report made" in said


def test_real_and_simulated_drives_are_distinguished(capsys, monkeypatch) -> None:
    words = ["--drives", "./bench.bin,sim:x25m", "--size", "16MiB", "--requests", "60"]
    found = answer(capsys, *words, "--repetitions", "2", "--out", "out")
    assert {one["kind"] for one in found["drives"]} == {"real", "simulated"}
    page = Path("out/report.html").read_text()
    assert "The numbers of ./bench.bin are measured." in page
    assert "The numbers of sim:x25m are simulated." in page
    assert not Path("bench.bin").exists()


def test_the_page_of_documentation_shows_what_is_printed(capsys) -> None:
    page = (Path(__file__).parents[3] / "docs" / "choose.md").read_text()
    shown = re.findall(
        r"```\ndrivelab (choose \S+ --drives \S+)\n```.*?```text\n(.*?)```", page, re.S
    )
    assert len(shown) == 2
    for command, text in shown:
        assert cli.main(command.split()) == 0
        assert capsys.readouterr().out == text


def test_formulas_answer_what_they_can(capsys) -> None:
    words = ["--drives", "analytic:x25m-yoo2014,sim:x25m-yoo2014", *SHORT]
    found = answer(capsys, *words, "--read-size", "32KiB")
    assert {one["kind"] for one in found["drives"]} == {"closed_form", "simulated"}
    said = refused(capsys, "vector-search", *words[:2])
    assert "is a formula, and answers only workload characteristics" in said
