"""`drivelab place`: workloads tried, placed, simulated together, saved, resumed."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli import main as cli
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.place import measured
from drivelab.place.measured import Bench
from drivelab.place.plan_file import example_text, read_plan
from drivelab.workloads.side_by_side import SideBySide

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
SETTLING = f"sim:{Path(__file__).parents[2] / 'settling_drive.toml'}"
#: Four workloads that one small drive serves, and two kinds of drives.
PLAN = f"""
cost_at_most = 200
[[workload]]
name = "web"
rate_iops = 2000
size = "256MiB"
latency_ms_mean_at_most = 2
[[workload]]
name = "mail"
rate_iops = 1000
read_size = "16KiB"
size = "256MiB"
[[workload]]
name = "scan"
rate_mb_per_second = 20
read_random = 0.0
read_size = "64KiB"
size = "256MiB"
latency_ms_p99_at_most = 20
[[workload]]
name = "log"
rate_iops = 20
write_ratio = 1.0
write_random = 0.0
size = "64MiB"
[[drive]]
name = "{SMALL}"
at_most = 2
price = 60
watts = 3
[[drive]]
name = "{SETTLING}"
price = 100
watts = 5
"""
SHORT = ("--seconds", "0.5")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN)


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert cli.main(["place", "plan.toml", *SHORT, *words, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["place", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_the_example_is_a_plan(capsys) -> None:
    assert cli.main(["place", "--example"]) == 0
    Path("example.toml").write_text(capsys.readouterr().out)
    assert len(read_plan(Path("example.toml")).demands) == 5


def test_four_workloads_share_a_drive_and_do_what_was_predicted(capsys) -> None:
    found = answer(capsys)
    assert (found["is_placed"], found["holds"]) == (True, True)
    assert (found["cost"], found["watts"], found["objective"]) == (60.0, 3.0, "cost")
    assert [each["drive"] for each in found["drives"]] == [SMALL]
    assert found["drives"][0]["workloads"] == "web, mail, scan, log"
    assert {each["workload"] for each in found["workloads"]} == {"web", "mail", "scan", "log"}
    for each in found["workloads"]:
        # Pairs predict the mean latency of four; in 0.5 s few requests of the log are counted.
        ratio = each["predicted_latency_ns_mean"] / each["simulated_latency_ns_mean"]
        assert 0.7 < ratio < 1.4, each
        assert each["simulated_iops"] == pytest.approx(each["rate_iops"], rel=0.4)
        assert each["holds"]


def test_seeds_and_threads(capsys) -> None:
    first = answer(capsys, "--workers", "1")
    assert answer(capsys) == first
    assert answer(capsys, "--seed", "1")["workloads"] != first["workloads"]


def test_it_goes_on_and_another_bound_measures_only_what_is_new(
    capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answer(capsys, "--out", "out")
    assert len(list(Path("out/drives").iterdir())) == 2
    page = Path("out/report.html").read_text()
    assert "Where the workloads of plan.toml go" in page
    result = json.loads(Path("out/result.json").read_text())
    assert {key: result.get(key, first[key]) for key in first} == first
    with Path("out/data/workloads.csv").open() as file:
        assert [row["workload"] for row in csv.DictReader(file)] == ["web", "mail", "scan", "log"]

    def nothing(*_: Any, **__: Any) -> None:
        raise AssertionError("all of it was measured")

    monkeypatch.setattr(SimulatedDrive, "measure", nothing)
    Path("plan.toml").write_text(PLAN.replace("cost_at_most = 200", 'objective = "watts"'))
    again = answer(capsys, "--out", "out")
    assert again["workloads"] == first["workloads"]
    assert Path("out/report.html").read_text() != page
    assert cli.main(["runs", "list", "out/drives", "--json"]) == 0
    parsed = json.loads(capsys.readouterr().out)["runs"]
    assert {one["state"] for one in parsed} == {"complete"}


def test_a_scenario_with_another_comment_is_measured_once(
    capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = """[[stream]]
name = "log"
rate_iops = 200
write_ratio = 1.0
range_bytes = 1_048_576
"""
    Path("log.toml").write_text(scenario)
    entry = 'name = "log"\nrate_iops = 20\nwrite_ratio = 1.0\nwrite_random = 0.0\nsize = "64MiB"\n'
    assert entry in PLAN
    Path("plan.toml").write_text(PLAN.replace(entry, 'name = "log"\nscenario = "log.toml"\n'))
    fresh = answer(capsys, "--out", "fresh")

    def of_text(workload: SideBySide) -> int:
        """Return the key as earlier releases made it."""
        text = json.dumps(workload.to_json(), sort_keys=True)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:5], "big")

    with monkeypatch.context() as earlier:
        earlier.setattr(measured, "_index", of_text)
        first = answer(capsys, "--out", "old")
    Path("log.toml").write_text(f"# of the server\n{scenario.replace('1_048_576', '1048576')}")
    assert answer(capsys)["workloads"] == fresh["workloads"]
    monkeypatch.setattr(SimulatedDrive, "measure", None)
    assert answer(capsys, "--out", "fresh")["workloads"] == fresh["workloads"]
    assert answer(capsys, "--out", "old")["workloads"] == first["workloads"]


def test_no_placement_names_the_bound(capsys) -> None:
    Path("plan.toml").write_text(PLAN.replace("cost_at_most = 200", "cost_at_most = 30"))
    assert cli.main(["place", "plan.toml", *SHORT, "--out", "out"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("No placement meets every limit.\n")
    assert "cost_at_most = 30: the cheapest placement costs 60." in text
    assert "No placement" in Path("out/report.html").read_text()
    found = answer(capsys, "--out", "out", code=1)
    assert found["is_placed"] is False
    assert found["obstacles"][0]["what"] == "cost"
    assert found["obstacles"][0]["least"] == pytest.approx(60.0)


def test_the_terminal_says_what_goes_where(capsys) -> None:
    assert cli.main(["place", "plan.toml", *SHORT]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0].split() == [
        "workload",
        "mean",
        "predicted",
        "99",
        "%",
        "predicted",
        *("IOPS", "limits"),
    ]
    assert lines[1] in (SMALL, SETTLING)
    assert lines[2].startswith("  web ")
    assert lines[2].endswith("  mean at most 2.00 ms")
    # A terminal of 80 columns shows the rows whole.
    assert max(map(len, lines[2:6])) <= 80
    assert "1 drive, price 60, 3 W" in text
    assert "The least cost is 60, with 1 " in text


def test_mistakes_are_one_line(capsys) -> None:
    assert "name a plan, as `drivelab place plan.toml`" in refused(capsys)
    assert "leave out the plan's name" in refused(capsys, "plan.toml", "--example")
    assert "there is no file none.toml; `drivelab place --example" in refused(capsys, "none.toml")
    assert "1 to 1000" in refused(capsys, "plan.toml", "--rounds", "0")
    Path("plan.toml").write_text("cost = 3\n" + PLAN)
    assert "plan.toml: unknown key 'cost'; allowed: obj" in refused(capsys, "plan.toml")
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("mine")
    Path("plan.toml").write_text(PLAN)
    assert "letter.txt, which no report made" in refused(capsys, "plan.toml", "--out", "mine")


def test_a_workload_larger_than_any_drive(capsys) -> None:
    Path("plan.toml").write_text(PLAN.replace('size = "64MiB"', 'size = "1TB"'))
    found = answer(capsys, code=1)
    assert [one["what"] for one in found["obstacles"]] == ["size"]
    assert found["headline"] == "No placement meets every limit."
    assert "log takes 931.3 GiB of a drive" in found["obstacles"][0]["text"]


def test_a_fresh_drive_has_nothing_to_read(capsys) -> None:
    Path("plan.toml").write_text(PLAN.replace(SETTLING, "sim:x25m-fob"))
    assert "workload 'web': sim:x25m-fob is fresh" in refused(capsys, "plan.toml")


def test_a_trace_and_a_scenario_have_their_places_too(capsys) -> None:
    lines = (f"0,{8 * at},4096,{'w' if at % 3 else 'r'},{at / 500}\n" for at in range(600))
    Path("mail.spc").write_text("".join(lines))
    Path("logs.toml").write_text(
        '[[stream]]\nname = "a"\nrate_iops = 200\nwrite_ratio = 1.0\nrange_bytes = 1048576\n'
        '[[stream]]\nname = "b"\nqueue_depth = 1\nrange_offset_bytes = 1048576\n'
        "range_bytes = 1048576\n"
    )
    Path("plan.toml").write_text(
        'objective = "latency"\n'
        '[[workload]]\nname = "mail"\ntrace = "mail.spc"\nlatency_ms_p99_at_most = 50\n'
        '[[workload]]\nname = "logs"\nscenario = "logs.toml"\niops_at_least = 300\n'
        f'[[drive]]\nname = "{SMALL}"\n'
    )
    found = answer(capsys)
    mail, logs = found["workloads"]
    assert (mail["rate_iops"], logs["rate_iops"]) == (pytest.approx(500, rel=0.01), None)
    assert (mail["size_bytes"], logs["size_bytes"]) == (599 * 4096 + 4096, 2 * 2**20)
    assert mail["simulated_iops"] == pytest.approx(500, rel=0.05)
    assert logs["simulated_iops"] > 300
    assert found["cost"] is None
    assert found["latency_ns_mean"] > 0


def test_drives_whose_names_differ_in_punctuation_have_folders_of_their_own(capsys) -> None:
    source = Path(SMALL.removeprefix("sim:")).read_text()
    Path("my_drive.toml").write_text(source)
    Path("my-drive.toml").write_text(source)
    pool = '[[drive]]\nname = "sim:my_drive.toml"\n[[drive]]\nname = "sim:my-drive.toml"\n'
    Path("plan.toml").write_text(
        'objective = "latency"\n[[workload]]\nname = "web"\nrate_iops = 2000\n'
        f'size = "64MiB"\n{pool}'
    )
    answer(capsys, "--out", "out")
    names = sorted(each.name for each in Path("out/drives").iterdir())
    assert len(names) == 2
    assert all(each.startswith("sim-my-drive-toml-") for each in names)
    Path("plan.toml").write_text(
        Path("plan.toml").read_text().replace("sim:my_drive.toml", "sim:x25m")
    )
    answer(capsys, "--out", "out")
    assert Path("out/drives/sim-x25m").is_dir()


def two(first: str, second: str) -> None:
    """Write a plan of two workloads on one small drive."""
    Path("plan.toml").write_text(
        f'objective = "latency"\n[[workload]]\n{first}\n[[workload]]\n{second}\n'
        f'[[drive]]\nname = "{SMALL}"\n'
    )


def mail(count: int = 600) -> None:
    """Write a trace."""
    lines = (f"0,{8 * at},4096,r,{at / 500}\n" for at in range(count))
    Path("mail.spc").write_text("".join(lines))


MAIL = 'name = "mail"\ntrace = "mail.spc"\nspeed = "max"\ndepth = 4'


def test_a_trace_as_fast_as_the_drive_answers(capsys) -> None:
    mail()
    web = 'name = "web"\nrate_iops = 2000\nsize = "64MiB"'
    two(MAIL, web)
    assert cli.main(["place", "plan.toml", "--out", "out", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    fast, other = found["workloads"]
    # All that is counted lies within the trace, and neighbours see it to the end.
    assert 400 < fast["requests"] < 600
    assert fast["rate_iops"] is None
    assert found["seconds"] == pytest.approx(fast["requests"] / fast["simulated_iops"], rel=0.05)
    # It goes on with the window that was found.
    assert cli.main(["place", "plan.toml", "--out", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found
    seconds = fast["requests"] / fast["simulated_iops"]
    assert other["requests"] == pytest.approx(2000 * seconds, rel=0.5)
    assert other["simulated_iops"] == pytest.approx(2000, rel=0.5)
    two(MAIL, web.replace("2000", "0.5"))
    said = refused(capsys, "plan.toml")
    assert "workload 'web' sends about 0" in said
    assert "because the trace of workload 'mail' is over by then on this drive" in said


def test_a_workload_that_sends_nothing_next_to_another_is_not_judged(capsys) -> None:
    slow = 'name = "slow"\nrate_iops = 0.01\narrivals = "fixed"\nsize = "64MiB"'
    scan = 'name = "scan"\nqueue_depth = 16\nsize = "64MiB"'
    two(slow, scan)
    said = refused(capsys, "plan.toml")
    assert "workload 'slow' cannot be judged: it sent no request next to scan on " in said
    assert "where 400,000 requests are counted within " in said
    assert said.endswith("; give --seconds 2000 or more\n")
    # A time that is asked for is kept to.
    two(slow.replace("0.01", "0.3"), scan)
    assert cli.main(["place", "plan.toml", "--seconds", "10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["workloads"]
    assert found[0]["requests"] == 3


def test_no_time_is_no_window(capsys) -> None:
    assert "--seconds is 0; allowed: more than 0" in refused(capsys, "plan.toml", "--seconds", "0s")
    said = refused(capsys, "plan.toml", "--seconds", "1ms")
    assert said.startswith("drivelab: plan.toml: workload 'web' sends about 2 requests in the ")


def test_a_stopped_placement_goes_on(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Bench.try_all

    def stopped(self: Bench, groups: Any, what: str) -> None:
        if what == "pairs of workloads":
            raise KeyboardInterrupt
        plain(self, groups, what)

    monkeypatch.setattr(Bench, "try_all", stopped)
    assert cli.main(["place", "plan.toml", *SHORT, "--out", "out"]) == 130
    assert "resume with: drivelab place plan.toml" in capsys.readouterr().err
    monkeypatch.setattr(Bench, "try_all", plain)
    assert answer(capsys, "--out", "out")["holds"]


def test_the_page_of_documentation_shows_what_is_printed(capsys) -> None:
    page = (Path(__file__).parents[3] / "docs" / "place.md").read_text()
    placed, refused_alone, dear = re.findall(r"```text\n(.*?)```", page, re.S)
    for text, change, code in (
        (placed, ("", ""), 0),
        (refused_alone, ("latency_ms_p99_at_most = 3\n", "latency_ms_p99_at_most = 0.1\n"), 1),
        (dear, ("cost_at_most = 400 ", "cost_at_most = 150 "), 1),
    ):
        Path("plan.toml").write_text(example_text().replace(*change))
        assert cli.main(["place", "plan.toml", "--out", "out"]) == code
        assert capsys.readouterr().out.partition("\nwrote ")[0] == text
