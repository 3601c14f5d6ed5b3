"""Traces on the command line: what is replayed, the first lines, what is refused."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from drivelab.cli import main as cli

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"


def spc(count: int, *, gap_us: int = 1000, device: int = 0) -> str:
    return "".join(
        f"{device},{at * 977 % 4000 * 8},4096,{'rw'[at % 2]},{at * gap_us / 1e6:.6f}\n"
        for at in range(count)
    )


def msr(count: int) -> str:
    return "".join(
        f"{128_166_372_003_061_629 + 1_000 * at},hm,0,Read,{at * 8192},4096,4500\n"
        for at in range(count)
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.spc").write_text(spc(400))
    (tmp_path / "long.spc").write_text("0,0,4096,r,0\n0,0,4096,r,864000\n")
    (tmp_path / "longer.spc").write_text("0,0,4096,r,0\n0,0,4096,r,10000000\n")
    (tmp_path / "wrong.spc").write_text(f"{spc(400)}0,x,y\n")
    (tmp_path / "hm.csv").write_text(msr(300))
    (tmp_path / "some.csv").write_text(msr(300) + "128166372003361629,hm,0,Read,0,4096,\n")
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert cli.main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main([*words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    assert "bug" not in said.err
    return said.err


@pytest.mark.usefixtures("here")
def test_a_trace_is_measured_to_its_end(capsys) -> None:
    output = printed(capsys, "measure", SMALL, "--trace", "a.spc")
    assert (output["requests"], output["stopped_by"]) == (400, "requests")
    assert (output["read"]["requests"], output["write"]["requests"]) == (200, 200)
    assert output["duration_ns"] >= 399 * 1_000_000
    assert output["lateness"]["requests"] == 400
    assert output["trace"]["facts"]["requests"] == 400
    assert (output["plan"]["warmup_requests"], output["plan"]["requests"]) == (0, None)


@pytest.mark.usefixtures("here")
def test_simulate_and_measure_say_the_same(capsys) -> None:
    measured = printed(capsys, "measure", SMALL, "--trace", "a.spc", "--speed", "20x")
    simulated = printed(capsys, "simulate", SMALL, "--trace", "a.spc", "--speed", "20x")
    (stream,) = simulated["streams"]
    assert simulated["duration_ns"] == measured["duration_ns"]
    assert stream["lateness"] == measured["lateness"]
    for kind in ("read", "write"):
        histogram = stream["operations"][kind]["latency_ns_histogram"]
        assert histogram == measured[kind]["latency_ns_histogram"]
    assert simulated["trace"] == measured["trace"]
    assert stream["source"] == "recorded"


@pytest.mark.usefixtures("here")
def test_speed_divides_the_time_and_max_takes_as_long_as_the_drive(capsys) -> None:
    lasting = {
        speed: printed(
            capsys, "measure", SMALL, "--trace", "a.spc", "--speed", speed, "--depth", "4"
        )["duration_ns"]
        for speed in ("1x", "0.5x", "2", "max")
    }
    # A latency at the end belongs to it.
    assert lasting["0.5x"] == pytest.approx(2 * lasting["1x"], rel=0.02)
    assert lasting["2"] == pytest.approx(lasting["1x"] / 2, rel=0.02)
    assert lasting["max"] < lasting["1x"] / 10


@pytest.mark.usefixtures("here")
def test_a_trace_with_response_times_knows_its_depth(capsys) -> None:
    output = printed(capsys, "measure", SMALL, "--trace", "hm.csv", "--speed", "max")
    facts = output["trace"]["facts"]
    # A request arrives every 100 us, and takes 450 us.
    assert facts["depth_max"] == 5
    assert facts["depth_mean"] == pytest.approx((1 + 2 + 3 + 4 + 5 * 296) / 300)
    assert "lateness" not in output
    assert "at most 5" in shown(capsys, "measure", SMALL, "--trace", "hm.csv", "--speed", "max")


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main([*words]) == 0
    return capsys.readouterr().out


@pytest.mark.usefixtures("here")
def test_a_late_replay_says_so_first(capsys) -> None:
    for command in ("measure", "simulate"):
        words = [command, SMALL, "--trace", "a.spc", "--depth", "1"]
        in_time = shown(capsys, *words)
        assert not in_time.startswith("caution")
        assert "sent in time" in in_time
        late = shown(capsys, *words, "--speed", "100x")
        assert late.startswith("caution")
        assert "of the requests were sent more than 1.00 ms late" in " ".join(late.split())
        assert "at 99 %" in late
    # The name of this drive is a long path.
    lines = [line for line in late.splitlines() if not line.startswith("simulated")]
    assert max(map(len, lines)) <= 80


def test_several_files_are_one_trace_and_devices_lie_in_a_row(here: Path, capsys) -> None:
    (here / "b.spc").write_text(spc(100, device=7))
    output = printed(capsys, "measure", SMALL, "--trace", "a.spc", "b.spc")
    assert output["trace"]["facts"]["devices"] == [["0", 400], ["7", 100]]
    assert "2 devices are placed one after the other: 0, 7" in shown(
        capsys, "measure", SMALL, "--trace", "a.spc", "b.spc"
    )
    one = printed(capsys, "measure", SMALL, "--trace", "a.spc", "b.spc", "--device", "7")
    assert one["requests"] == 100


def test_a_trace_that_is_larger_than_the_drive_is_fitted_when_asked(here: Path, capsys) -> None:
    far = "".join(f"0,{at * (1 << 40)},4096,r,{at / 1000}\n" for at in range(50))
    (here / "far.spc").write_text(far)
    words = ["measure", SMALL, "--trace", "far.spc"]
    said = refused(capsys, *words)
    assert "fit it to the drive with --fit wrap or --fit scale" in said
    assert printed(capsys, *words, "--fit", "wrap")["requests"] == 50
    scaled = printed(capsys, *words, "--fit", "scale")
    assert scaled["trace"]["facts"]["end_bytes"] == 50 << 20
    assert "touched regions" in shown(capsys, *words, "--fit", "scale")


EDGES = {
    "one.spc": "0,0,4096,r,5.0\n",
    "ties.spc": "".join(f"0,{at * 8},4096,r,1.0\n" for at in range(3000)),
    "devices.spc": "".join(f"{at},0,4096,r,{at / 100}\n" for at in range(1000)),
}


@pytest.mark.parametrize("name", EDGES)
def test_odd_traces_are_replayed(here: Path, capsys, name: str) -> None:
    (here / name).write_text(EDGES[name])
    output = printed(capsys, "measure", SMALL, "--trace", name)
    assert output["requests"] == EDGES[name].count("\n")


@pytest.mark.parametrize("command", ["measure", "simulate"])
def test_a_trace_without_a_clock_is_sent_at_once(here: Path, capsys, command: str) -> None:
    (here / "ties.spc").write_text(EDGES["ties.spc"])
    words = [command, SMALL, "--trace", "ties.spc"]
    said = " ".join(shown(capsys, *words).split())
    assert "the same time: the trace has no clock, so they are sent at once" in said
    assert "cannot be sent" not in said
    # Nothing has a time, so nothing is late.
    late = " ".join(shown(capsys, *words, "--depth", "1").split())
    assert not late.startswith("caution")
    assert "sent late" not in late
    assert '"lateness"' not in json.dumps(printed(capsys, *words, "--depth", "1"))
    said = " ".join(shown(capsys, *words, "--speed", "max", "--depth", "4").split())
    assert "the same time: the trace has no clock" in said
    assert "at once" not in said


def test_one_is_not_several(here: Path, capsys) -> None:
    (here / "one.spc").write_text("0,0,1000,r,0\n")
    said = shown(capsys, "measure", SMALL, "--trace", "one.spc")
    assert re.search(r"counted +1 request in ", said)
    assert "1 request is not whole sectors, and is sent as the sectors that contain it" in said


BROKEN = {
    "empty": (b"", "is empty"),
    "nul": (spc(50).encode().replace(b"4096", b"40\x0096", 1), "line 1"),
    "cut.gz": (gzip.compress(spc(20_000).encode())[:20_000], "cut off or damaged"),
    "none": (b"what is this\n" * 9, "format"),
    "late": ((spc(9000) + "0,0,4096,r,0.0\n").encode(), "line 9001"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("command", ["measure", "simulate"])
def test_bad_traces_are_refused_in_a_line(here: Path, capsys, name: str, command: str) -> None:
    content, said = BROKEN[name]
    (here / name).write_bytes(content)
    assert said in refused(capsys, command, SMALL, "--trace", name)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--speed", "2x"], "--speed is for a trace: name its files with --trace FILE"),
        (["--fit", "wrap"], "--fit is for a trace"),
        (["--on-bad", "skip"], "--on-bad is for a trace"),
        (["--trace", "a.spc", "--write-ratio", "1"], "leave out --write-ratio or the trace"),
        (["--trace", "a.spc", "--speed", "fast"], "such as 2x or 0.5x, or max"),
        (["--trace", "a.spc", "--speed", "0x"], "such as 2x or 0.5x, or max"),
        (["--trace", "a.spc", "--speed", "max"], "no response times, so the recorded"),
        (["--trace", "a.spc", "--speed", "max"], "give --depth N, for example --depth 32"),
        (["--trace", "missing.spc", "--speed", "max"], "there is no file missing.spc"),
        (["--trace", "some.csv", "--speed", "max"], "1 of 301 requests have no response time"),
        (["--trace", "a.spc", "--depth", "0"], "a whole number from 1 to 65536"),
        (["--trace", "a.spc", "--fit", "squeeze"], "it takes keep, wrap, scale"),
        (["--trace", "a.spc", "--format", "xyz"], "xyz"),
        (["--trace", "wrong.spc"], "skip bad lines with --on-bad skip, or name the right --format"),
        (["--trace", "a.spc", "--device", "9"], "no device"),
        (["--trace", "missing.spc"], "missing.spc"),
        (["--trace", "."], "is a folder; name the files of the trace in it"),
        (["--trace", "a.spc", "a.spc"], "a.spc is named twice"),
        (["--trace", "long.spc"], "lasts 240 h 0 min at this speed, and a simulated run at most 1"),
        (["--trace", "long.spc", "--speed", "0.1x"], "replay it faster (--speed 2x or more)"),
        (["--trace", "longer.spc"], "replay it faster (--speed 18x or more) or as fast as the "),
    ],
)
def test_options_that_make_no_sense_are_refused(capsys, words: list[str], said: str) -> None:
    for command in ("measure", "simulate"):
        assert said in refused(capsys, command, SMALL, *words)


@pytest.mark.usefixtures("here")
def test_what_has_no_effect_on_a_trace_is_refused(capsys) -> None:
    words = ["measure", SMALL, "--trace", "a.spc"]
    assert "--warmup-requests has no effect" in refused(capsys, *words, "--warmup-requests", "5")
    assert "--writes sustained has no effect" in refused(capsys, *words, "--writes", "sustained")
    said = refused(capsys, "measure", "analytic:x25m-yoo2014", "--trace", "a.spc")
    assert "is a formula, and answers only workload characteristics" in said
    scenario = ["simulate", SMALL, "--trace", "a.spc", "--scenario", "x.toml"]
    assert "leave out --scenario or the trace" in refused(capsys, *scenario)


@pytest.mark.parametrize("name", ["a.spc", "a.spc.gz"])
def test_a_trace_is_no_scenario(here: Path, capsys, name: str) -> None:
    (here / "a.spc.gz").write_bytes(gzip.compress(spc(400).encode()))
    said = refused(capsys, "simulate", SMALL, "--scenario", name)
    assert f"{name} is a trace of the format spc, not a scenario; name it with --trace {name}" in (
        said
    )
    assert "not a scenario; name a scenario" in refused(capsys, "scenarios", name)


def test_bad_lines_are_left_out_where_that_is_asked_for(here: Path, capsys) -> None:
    (here / "bad.spc").write_text(spc(50) + "0,x,y\n" + spc(50).replace("0,", "0,", 1))
    assert "line 51" in refused(capsys, "measure", SMALL, "--trace", "bad.spc")
    output = printed(capsys, "measure", SMALL, "--trace", "bad.spc", "--on-bad", "skip")
    assert output["trace"]["facts"]["skipped"] == 1
    assert output["requests"] == 100


def test_memory_does_not_grow_with_the_trace(here: Path) -> None:
    # 3,000,000 requests as a list of the core's would take 72 MB alone, as Python's some 600.
    block = "".join(f"0,{at % 4000 * 8},4096,r,{{}}.{at % 1_000_000:06}\n" for at in range(100_000))
    with gzip.open(here / "long.gz", "wt", compresslevel=1) as file:
        for second in range(30):
            file.write(block.replace("{}", str(second)))
    program = (
        "import resource, sys\n"
        "from drivelab.cli import main\n"
        "code = main.main(sys.argv[1:])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
        "sys.exit(code)\n"
    )

    def peak_kib(trace: str) -> int:
        words = ["measure", SMALL, "--trace", trace, "--speed", "max", "--depth", "32", "--json"]
        ran = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
        )
        return int(ran.stderr.split()[-1])

    # Buffers of files, and a few batches on their way.
    assert peak_kib("long.gz") < peak_kib("a.spc") + 40_000
