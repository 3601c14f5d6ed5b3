"""`drivelab choose --trace`: late drives, drives that vary, what is said once, what is refused."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drivelab.choose import run as choose_run
from drivelab.cli import main as cli

ROOT = Path(__file__).parents[2]
SMALL = f"sim:{ROOT / 'small_drive.toml'}"
SETTLING = f"sim:{ROOT / 'settling_drive.toml'}"
DRIVES = ["--drives", f"{SMALL},{SETTLING}"]
TRACE = ["--trace", "a.spc", *DRIVES]


def spc(count: int, *, gap_us: int = 1000, device: int = 0, size: int = 4096) -> str:
    return "".join(
        f"{device},{at * 977 % 400 * 8},{size},{'rw'[at % 2]},{at * gap_us / 1e6:.6f}\n"
        for at in range(count)
    )


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.spc").write_text(spc(400))


@pytest.fixture
def varying() -> str:
    """Name the small drive, whose runs vary by a tenth."""
    text = (ROOT / "small_drive.toml").read_text()
    Path("varying.toml").write_text(f"{text}\n[variability]\nsigma = 0.1\n")
    return "sim:varying.toml"


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.main(["choose", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["choose", *words]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["choose", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    return said.err


@pytest.mark.parametrize("name", ["a.spc", "a.spc.gz", "without-suffix"])
def test_a_trace_is_the_workload_with_and_without_its_option(capsys, name: str) -> None:
    text = spc(300).encode()
    Path(name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    words = [*DRIVES, "--speed", "2x"]
    expected = answer(capsys, "--trace", name, *words)
    assert expected["workload"] == name
    assert answer(capsys, name, *words) == expected


def test_a_file_that_is_no_trace_is_a_scenario(capsys) -> None:
    Path("mine").write_text('requests = 300\n[[stream]]\nname = "a"\nqueue_depth = 2\n')
    assert answer(capsys, "mine", *DRIVES, "--repetitions", "2")["workload"] == "mine"
    Path("mine").write_text("[[stream]\n")
    assert "mine: line 1: not valid TOML" in refused(capsys, "mine", *DRIVES)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty: a trace has at least one request)"),
        (bytes(5000), "looks like none of the trace formats"),
        (b"no trace at all\n", "looks like none of the trace formats"),
        (b"requests = 300\n", "looks like none of the trace formats"),
    ],
)
def test_a_file_that_is_nothing_says_why_it_is_no_trace(capsys, content: bytes, said: str) -> None:
    Path("mine").write_bytes(content)
    err = refused(capsys, "mine", *DRIVES)
    start = "drivelab: mine is neither a scenario (it has no [[stream]]) nor a trace (mine "
    assert err.startswith(start)
    assert said in err


def test_a_pipe_is_refused_without_its_option_too(capsys) -> None:
    os.mkfifo("pipe")
    assert "pipe is a pipe, which can be read only once" in refused(capsys, "pipe", *DRIVES)


def test_each_drive_answers_as_measuring_it_alone_does(capsys) -> None:
    found = answer(capsys, *TRACE)
    assert (found["workload"], found["repetitions"]) == ("a.spc", 1)
    assert found["description"].startswith("200 reads and 200 writes of a.spc recorded over ")
    for one in found["drives"]:
        assert cli.main(["measure", one["drive"], "--trace", "a.spc", "--json"]) == 0
        alone = json.loads(capsys.readouterr().out)
        for key in ("latency_ns_mean", "latency_ns_p99", "iops"):
            assert one[key] == one[f"{key}_low"] == one[f"{key}_high"] == alone[key]
        assert one["late_ratio"] == alone["lateness"]["late_ratio"]
    assert {row["stream"] for row in found["streams"]} == {""}
    assert answer(capsys, *TRACE, "--seed", "5")["drives"] == found["drives"]


def test_one_answer_is_no_interval_and_says_so(capsys) -> None:
    text = shown(capsys, *TRACE)
    assert "repetitions  one on each drive: a trace has no random numbers" in text
    assert "\N{PLUS-MINUS SIGN}" not in text
    assert "Another hour of the same machine may rank the drives differently" in text
    found = answer(capsys, *TRACE, "--out", "out")
    assert "Another hour of the same machine" in found["scope"]
    assert all(one["is_carried"] or one["ratio"] == 1 for one in found["statements"])
    page = Path("out/report.html").read_text()
    assert "Measured once: every drive gives the same answer to this trace every time." in page
    assert "Both give the same answer every time" in page
    assert "Whiskers" not in page
    assert answer(capsys, "--requests", "50", "--repetitions", "2", *DRIVES)["scope"] is None


def test_only_drives_that_vary_are_measured_again(capsys, monkeypatch, varying: str) -> None:
    measured: list[int] = []
    usual = choose_run.DriveExecutor.measure

    def counted(self: Any, work: Any, plan: Any) -> Any:
        measured.append(len(work))
        return usual(self, work, plan)

    monkeypatch.setattr(choose_run.DriveExecutor, "measure", counted)
    words = ["--trace", "a.spc", "--drives", f"{SMALL},{varying}", "--repetitions", "3"]
    found = answer(capsys, *words, "--out", "out")
    assert measured == [1, 3]
    by_drive = {one["drive"]: one for one in found["drives"]}
    assert by_drive[SMALL]["latency_ns_mean_low"] == by_drive[SMALL]["latency_ns_mean"]
    assert by_drive[varying]["latency_ns_mean_low"] < by_drive[varying]["latency_ns_mean"]
    # They differ by chance alone.
    first = found["statements"][0]
    assert first["ratio_low"] < first["ratio"] < first["ratio_high"]
    assert "how the drives vary under the requests of this trace" in found["scope"]
    page = Path("out/report.html").read_text()
    assert "Their means are compared, and each drive" in page
    text = shown(capsys, *words)
    assert f"3 on each drive that varies from run to run ({varying}), one on any other" in text
    still = answer(capsys, *words[:-2], "--no-variability")
    assert (still["repetitions"], still["statements"][0]["ratio"]) == (1, 1.0)


@pytest.mark.parametrize(
    "workload", [["--trace", "a.spc"], ["--queue-depth", "2", "--requests", "300"]]
)
def test_drives_that_vary_alike_are_not_paired(capsys, varying: str, workload: list[str]) -> None:
    text = Path("varying.toml").read_text()
    Path("other.toml").write_text(text.replace("sigma = 0.1", "sigma = 0.1 "))
    words = [*workload, "--drives", f"{varying},sim:other.toml,{SMALL}", "--out", "out"]
    every = answer(capsys, *words)["statements"]
    found = next(one for one in every if SMALL not in (one["better"], one["worse"]))
    # Both draw the same factors, which says nothing about two drives that vary by themselves.
    assert found["ratio"] == 1
    assert found["ratio_low"] < 0.95
    assert not found["is_carried"]
    assert "means are compared" in Path("out/report.html").read_text()


def test_a_drive_that_is_late_has_no_rank_and_says_how_late(capsys) -> None:
    Path("prices.csv").write_text(f"drive,price,watts\n{SMALL},10,2\n{SETTLING},40,3\n")
    words = [*TRACE, "--depth", "1", "--speed", "100x", "--prices", "prices.csv", "--out", "out"]
    found = answer(capsys, *words)
    late = [one for one in found["drives"] if not one["keeps_up"]]
    assert late
    for one in late:
        (short,) = one["shortfalls"]
        assert one["rank"] is None
        assert (short["stream"], short["asked_iops"]) == ("trace", pytest.approx(100_000, rel=0.01))
        assert short["served_iops"] < short["asked_iops"]
        assert short["late_ratio"] == one["late_ratio"] > 0.05
        assert short["late_ns_max"] > 1_000_000
        (cost,) = (each for each in found["costs"] if each["drive"] == one["drive"])
        assert cost["drives_for_rate"] >= 2
    shares = [one["late_ratio"] for one in late]
    assert shares == sorted(shares)
    assert (
        "of the requests were sent more than 1.00 ms late, the latest by " in found["cautions"][0]
    )
    assert "cannot keep up with the recorded times" in shown(capsys, *words)
    assert "cannot keep up with the recorded times" in Path("out/report.html").read_text()


def test_a_drive_that_is_a_little_late_is_ranked_and_says_so(capsys) -> None:
    # Twelve of 1,200 arrive together, and wait for each other.
    steady = [f"0,{at * 8},4096,r,{at / 1000:.6f}\n" for at in range(1188)]
    together = [f"0,{at * 8},524288,w,2.0\n" for at in range(12)]
    Path("bump.spc").write_text("".join([*steady, *together]))
    words = ["--trace", "bump.spc", "--depth", "1", *DRIVES, "--out", "out"]
    found = answer(capsys, *words)
    for one in found["drives"]:
        assert one["keeps_up"]
        assert 0 < one["late_ratio"] < 0.05
    assert len(found["cautions"]) == 2
    assert "of the requests more than 1.00 ms late. That is little" in found["cautions"][0]
    assert "A little late" in Path("out/report.html").read_text()


def test_as_fast_as_it_answers_no_drive_is_late(capsys) -> None:
    found = answer(capsys, *TRACE, "--speed", "max", "--depth", "4", "--by", "throughput")
    assert [one["late_ratio"] for one in found["drives"]] == [None, None]
    assert found["cautions"] == []
    assert [one["rank"] for one in found["drives"]] == [1, 2]
    best, next_best = (one["iops"] for one in found["drives"])
    assert found["statements"][-1]["ratio"] == pytest.approx(best / next_best)


def test_all_at_once_arrive_at_no_rate_and_are_never_late(capsys) -> None:
    Path("burst.spc").write_text(spc(400, gap_us=0))
    words = ["--trace", "burst.spc", "--depth", "1", *DRIVES]
    found = answer(capsys, *words)
    assert all(one["rank"] for one in found["drives"])
    assert [one["late_ratio"] for one in found["drives"]] == [None, None]
    assert [one["shortfalls"] for one in found["drives"]] == [[], []]
    assert "keep up" not in shown(capsys, *words)


def test_notes_are_said_once(capsys) -> None:
    Path("a.spc").write_text(spc(100, size=1000))
    Path("b.spc").write_text(spc(100, device=7))
    words = ["--trace", "a.spc", "b.spc", *DRIVES, "--out", "out"]
    text = shown(capsys, *words)
    assert text.startswith("workload     a.spc and 1 more\n")
    assert text.count("2 devices are placed one after the other: 0, 7") == 1
    assert text.count("100 requests are not whole sectors, and are sent as the sectors") == 1
    assert (
        Path("out/report.html").read_text().count("<p>2 devices are placed one after the other")
        == 1
    )
    assert len(answer(capsys, *words)["notes"]) == 3
    one = answer(capsys, *words[:-2], "--device", "7", "--fit", "wrap")
    assert [note for note in one["notes"] if "devices" in note] == []
    assert any("recorded addresses reach to" in note for note in one["notes"])


def test_a_kept_choice_is_answered_again(capsys) -> None:
    words = [*TRACE, "--out", "out"]
    first = answer(capsys, *words)
    assert answer(capsys, *words) == first
    assert cli.main(["runs", "list", "out"]) == 0
    assert capsys.readouterr().out.count("choice under a.spc") == 2
    Path("a.spc").write_text(spc(300))
    assert "contains another choice" in refused(capsys, *words)


CUT_OFF = gzip.compress(spc(4000).encode())[:3000]
FAR = "".join(f"0,{at * (1 << 40)},4096,r,{at / 1000}\n" for at in range(50))


def test_a_trace_that_is_cut_off_is_refused_before_anything_is_measured(capsys) -> None:
    Path("a.spc.gz").write_bytes(CUT_OFF)
    assert "a.spc.gz" in refused(capsys, "--trace", "a.spc.gz", *DRIVES, "--out", "out")
    assert not Path("out").exists()
    assert "cut off or damaged" in refused(capsys, "a.spc.gz", *DRIVES)


def test_a_drive_that_is_too_small_names_fit(capsys) -> None:
    Path("far.spc").write_text(FAR)
    said = refused(capsys, "--trace", "far.spc", *DRIVES)
    assert "fit it to the drive with --fit wrap or --fit scale" in said
    assert answer(capsys, "--trace", "far.spc", *DRIVES, "--fit", "scale")["repetitions"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tpc-c", *TRACE], "a trace already sets what is sent: leave out tpc-c or --trace"),
        (["a.spc", *TRACE], "a trace already sets what is sent: leave out a.spc or --trace"),
        (["a.spc", *DRIVES, "--queue-depth", "2"], "leave out --queue-depth or the trace"),
        (["a.spc", *DRIVES, "--format", "msr"], "a.spc, line 1: the size is not there"),
        ([*TRACE, "--queue-depth", "2"], "leave out --queue-depth or the trace"),
        ([*TRACE, "--warmup", "1s"], "--warmup has no effect on a trace, which is counted from"),
        ([*TRACE, "--warmup-requests", "9"], "--warmup-requests has no effect on a trace"),
        ([*TRACE, "--writes", "sustained"], "--writes sustained has no effect on a trace"),
        ([*TRACE, "--repetitions", "3"], "none of these drives varies, so every repetition"),
        ([*TRACE, "--by", "throughput"], "--by throughput does not rank drives under a trace"),
        ([*TRACE, "--speed", "max"], "give --depth N"),
        ([*DRIVES, "--speed", "2x"], "--speed is for a trace: name its files with --trace FILE"),
        (["--trace", "none.spc", *DRIVES], "none.spc"),
    ],
)
def test_mistakes_are_one_line(capsys, words: list[str], said: str) -> None:
    assert said in refused(capsys, *words)


def test_a_rate_is_for_replays_without_times(capsys) -> None:
    Path("prices.csv").write_text(f"drive,price,watts\n{SMALL},10,2\n{SETTLING},40,3\n")
    words = [*TRACE, "--prices", "prices.csv", "--rate", "5000"]
    assert "--rate does not rank drives under a trace" in refused(capsys, *words)
    found = answer(capsys, *words, "--speed", "max", "--depth", "4")
    assert found["cheapest"].startswith("5,000 IOPS cost least with sim:")


def test_a_real_drive_is_replayed_as_often_as_it_takes(
    require_tool: Callable[[str], Path], drive_folder: Path, capsys
) -> None:
    require_tool("fio")
    real = str(drive_folder / "chosen.bin")
    words = ["--trace", "a.spc", "--drives", f"{SMALL},{real}", "--size", "32MiB"]
    found = answer(capsys, *words, "--repetitions", "2")
    assert [one["kind"] for one in found["drives"] if one["drive"] == real] == ["real"]
    said = shown(capsys, *words, "--repetitions", "2")
    assert f"2 on each drive that varies from run to run ({real}), one on any other" in said
