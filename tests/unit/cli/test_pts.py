"""`drivelab pts run`: what it says, what it refuses, what its exit codes mean."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from fake_session import MIB, FakeSession
from fake_test_run import SETTLED

from drivelab.cli import main as cli
from drivelab.cli.pts_run_text import text_of
from drivelab.drives import sessions
from drivelab.drives.real import made_file, shared_device, target_file
from drivelab.errors import RunError, TerminatedError
from drivelab.pts import every_test

SMALL_DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> list[FakeSession]:
    """Open toy drives, as `made` says, whatever is named; keep them."""
    opened: list[FakeSession] = []

    def open_fake(name: str, **_: Any) -> FakeSession:
        opened.append(FakeSession(**SETTLED))
        opened[-1].name = name
        return opened[-1]

    monkeypatch.setattr(sessions, "open_session", open_fake)
    return opened


def run(*words: str) -> int:
    return cli.main(["pts", "run", *words])


def test_a_test_on_a_simulated_drive_leaves_report_and_result(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("throughput", SMALL_DRIVE, "--client", "--scale", "0.05", "--out", "run")
    assert run(*words, "--json") == 0
    (answer,) = json.loads(capsys.readouterr().out)["runs"]
    assert (answer["test"], answer["verdict"], answer["stamp"]) == (
        "throughput",
        "steady",
        "not a PTS result",
    )
    assert "not a PTS result" in Path(answer["report"]).read_text()
    result = Path(answer["result"]).read_bytes()
    # The run is complete: nothing is run again, and the same words give the same bytes.
    assert run(*words) == 0
    assert Path(answer["result"]).read_bytes() == result
    assert "report  run/report.html" in capsys.readouterr().out


def test_a_report_replaces_no_file_of_somebody_else_s(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("throughput", SMALL_DRIVE, "--client", "--scale", "0.05", "--out", "run") == 0
    Path("thesis").mkdir()
    Path("thesis/report.pdf").write_text("years of work")
    words = ["pts", "report", "run", "--out"]
    assert cli.main([*words, "thesis"]) == 2
    assert (
        "thesis/report.pdf exists, and nothing shows that Drivelab wrote it"
        in capsys.readouterr().err
    )
    assert Path("thesis/report.pdf").read_text() == "years of work"
    assert cli.main([*words, "new"]) == cli.main([*words, "new"]) == 0


def test_all_tests_and_later_runs_share_the_preconditioned_state(
    fakes: list[FakeSession],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    few = {name: every_test.TESTS[name] for name in ("iops", "latency")}
    monkeypatch.setattr(every_test, "SPECIFIED", few)
    assert run("all", "sim:x25m", "--out", "runs") == 0
    assert [path.name for path in sorted(Path("runs").iterdir())] == [*few]
    # By another name it is the same drive; kept out of the way, everything is computed.
    assert run("latency", "sim:./x25m.toml", "--out", "again") == 0
    assert run("latency", "sim:x25m", "--out", "alone", "--keep-states", "0") == 0
    assert run("latency", "sim:x25m", "--out", "other", "--seed", "1") == 0
    # Step 1 is the preconditioning.
    assert [(each.loads, each.steps[0]) for each in fakes] == [
        (0, 1),
        (1, 2),
        (1, 2),
        (0, 1),
        (0, 1),
    ]
    capsys.readouterr()
    assert cli.main(["pts", "states", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [each["drive"] for each in answer["states"]] == ["sim:x25m"] * 2
    assert cli.main(["pts", "states", "--clear"]) == 0
    assert not Path(answer["folder"]).exists()
    assert cli.main(["pts", "states"]) == 0
    assert "no preconditioned states in" in capsys.readouterr().out
    together, apart = (
        json.loads(Path(name, "result.json").read_text()) for name in ("runs/latency", "alone")
    )
    for result in (together, apart):
        del result["header"]["date"]
    assert together == apart


def test_all_leaves_out_what_the_drive_cannot_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = {name: every_test.TESTS[name] for name in ("ecw", "throughput")}
    monkeypatch.setattr(every_test, "SPECIFIED", few)
    session = FakeSession(block_bytes=4096, **SETTLED)
    monkeypatch.setattr(sessions, "open_session", lambda *_, **__: session)
    assert run("all", "sim:x25m", "--client", "--out", "runs", "--json") == 0
    ecw, throughput = json.loads(capsys.readouterr().out)["runs"]
    assert set(ecw) == set(throughput)
    assert (ecw["verdict"], ecw["report"]) == ("impossible", None)
    assert "requests of 512 B" in ecw["problem"]
    assert throughput["verdict"] == "steady"
    monkeypatch.setattr(every_test, "SPECIFIED", {"ecw": few["ecw"]})
    assert run("all", "sim:x25m", "--client", "--out", "none") == 2
    assert not Path("none").exists()


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (TerminatedError(15), 143)]
)
def test_stopped_before_the_first_step_it_says_so_and_how_to_begin(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(sessions, "open_session", stop)
    assert run("throughput", "sim:x25m", "--out", "run") == code
    error_text = capsys.readouterr().err
    assert (
        " before the first step: nothing was measured; begin again with: drivelab pts" in error_text
    )
    assert run("all", "sim:x25m", "--out", "runs") == code


def test_an_error_in_round_seventeen_is_one_line_and_the_rest_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = FakeSession(
        wobble=lambda step: -0.5 * (step // 2 % 2),
        fails=lambda step: RunError("no such device") if step == 2 + 2 * 16 else None,
        **SETTLED,
    )
    monkeypatch.setattr(sessions, "open_session", lambda *_, **__: session)
    assert run("throughput", "sim:x25m", "--client", "--out", "run") == 1
    said = capsys.readouterr()
    last = said.err.strip().splitlines()[-1]
    assert "round 17" in last
    assert "no such device" in last
    assert "resume with: drivelab pts run throughput" in last
    assert "16 rounds" in said.out
    assert Path("run/report.html").is_file()


def test_a_drive_that_never_settles_exits_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = FakeSession(wobble=lambda step: -0.5 * (step // 2 % 2), **SETTLED)
    monkeypatch.setattr(sessions, "open_session", lambda *_, **__: session)
    assert run("throughput", "sim:x25m", "--client", "--out", "run") == 1
    said = capsys.readouterr()
    assert "never reached in 25 rounds" in said.out
    assert "steady state was never reached in throughput" in said.err


def test_write_saturation_that_its_bytes_end_exits_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = FakeSession(capacity_bytes=1024 * MIB)
    monkeypatch.setattr(sessions, "open_session", lambda *_, **__: session)
    assert run("wsat", "sim:x25m", "--out", "run") == 1
    said = capsys.readouterr()
    assert "stopped by its limit of bytes or hours before it was steady" in said.out
    assert "steady state was never reached in wsat; the limit of bytes or hours came" in said.err
    assert Path("run/report.html").is_file()


@pytest.mark.parametrize(
    ("rounds", "said"), [(0, "steady\n"), (1, "steady, 1 round\n"), (6, "steady, 6 rounds\n")]
)
def test_one_round_is_no_rounds(rounds: int, said: str) -> None:
    found = {
        **dict.fromkeys(("test", "drive", "edition", "stamp", "run", "report", "result"), ""),
        "verdict": "steady",
        "sections": [{"name": "", "verdict": "steady", "rounds": rounds}],
        "headline": [],
        "cautions": [],
        "was_complete": False,
    }
    assert f"  state  {said}" in text_of(found)


def test_several_drives_come_to_what_each_comes_to_alone(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def open_fake(name: str, **_: Any) -> FakeSession:
        broken = 5 if name == "sim:mlc-a" else -1
        session = FakeSession(
            identity={"model": name},
            fails=lambda step: RunError("it went away") if step == broken else None,
            **SETTLED,
        )
        session.name = name
        return session

    monkeypatch.setattr(sessions, "open_session", open_fake)
    drives = ("sim:x25m", "sim:mlc-a", "sim:slc-a")
    codes = [
        run("latency", *drives, "--out", f"at-once-{count}", "--at-once", str(count), "--json")
        for count in (1, 3)
    ]
    said = capfd.readouterr()
    assert codes == [1, 1]
    assert "drivelab: sim:slc-a: latency: step 1, preconditioning: purge" in said.err
    last = said.err.splitlines()[-1]
    assert last.startswith("drivelab: latency on sim:mlc-a did not finish: ")
    assert "it went away; 5 steps are saved in at-once-3/sim-mlc-a" in last
    answer, _ = json.JSONDecoder().raw_decode(said.out)
    assert [each["drive"] for each in answer["runs"]] == list(drives)
    assert [each["verdict"] for each in answer["runs"]] == ["steady", "incomplete", "steady"]
    assert run("latency", "sim:x25m", "--out", "alone") == 0
    results = [
        json.loads(Path(folder, "result.json").read_text())
        for folder in ("at-once-1/sim-x25m", "at-once-3/sim-x25m", "alone")
    ]
    for result in results:
        # To the minute, and the checksum is over it too.
        del result["header"]["date"], result["sha256"]
    assert results[0] == results[1] == results[2]


def test_a_refusal_of_one_of_several_drives_names_it_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run("dirth", "sim:x25m", "sim:slc-a", "--block-size", "1000") == 2
    said = capfd.readouterr().err
    assert "drivelab: sim:x25m cannot run dirth: a request of 1000 bytes" in said
    assert "; sim:slc-a cannot run dirth: " in said.splitlines()[-1]
    assert "sim:x25m: sim:x25m" not in said
    assert "sim:slc-a: sim:slc-a" not in said


def test_drives_on_the_same_hardware_are_not_measured_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shared_device, "hardware_of", lambda *_: frozenset({"/dev/sda"}))
    assert run("iops", "./one.bin", "./two.bin", "sim:x25m", "--scale", "0.01") == 2
    error_text = capsys.readouterr().err
    assert "./one.bin and ./two.bin are on the same drive (/dev/sda)" in error_text
    assert "--at-once 1" in error_text
    assert run("iops", "sim:x25m", "sim:x25m") == 2
    assert "sim:x25m is named twice" in capsys.readouterr().err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bench", "sim:x25m"], "'bench' is not allowed; it takes"),
        (["iops", "analytic:x25m-yoo2014"], "is a formula and has no state to settle; test sim:x"),
        (["iops", "sim:nothing"], "there is no drive 'sim:nothing'"),
        (["iops", "sim:x25m", "--scale", "2"], "a share above 0 up to 100 %"),
        (["iops", "sim:x25m", "--active-range", "0%"], "a share above 0 up to 100 %"),
        (["iops", "sim:x25m", "--idle", "5s"], "--idle is for wsat; leave it out for iops"),
        (["wsat", "sim:x25m", "--idle", "-1s"], "--idle: '-1s' is not a duration; write for"),
        (["wsat", "sim:x25m", "--block-size", "8k"], "--block-size is for dirth"),
        (["xsr", "sim:x25m", "--threads", "8"], "--threads has no effect on xsr, which sets"),
        (["xsr", "sim:x25m", "--queue-depth", "8"], "--queue-depth has no effect on xsr"),
        (["xsr", "sim:x25m", "--rule", "white-paper"], "--rule has no effect on xsr"),
        (
            ["iops", "sim:x25m", "--keep"],
            "--keep has no effect on sim:x25m: it is for",
        ),
        (["iops", "sim:x25m", "--client", "--enterprise"], "not allowed with argument"),
        (["iops", "sim:x25m", "--threads", "0"], "whole number from 1 to 1024"),
        (["dirth", "sim:x25m", "--block-size", "1000"], "sim:x25m cannot run dirth"),
        (
            ["iops", SMALL_DRIVE, "--scale", "0.0001"],
            "is smaller than one request of 128 KiB for each of 4",
        ),
    ],
)
def test_mistakes_are_one_line_and_leave_no_run(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not Path("runs").exists()


def test_a_report_that_cannot_be_written_keeps_what_was_measured(
    fakes: list[FakeSession], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("run/result.json").mkdir(parents=True)
    Path("run/result.json").rmdir()
    assert run("throughput", "sim:x25m", "--client", "--out", "run") == 0
    Path("run/result.json").unlink()
    Path("run/result.json").mkdir()
    assert run("throughput", "sim:x25m", "--client", "--out", "run") == 2
    assert "run/result.json cannot be written: Is a directory" in capsys.readouterr().err
    Path("run/result.json").rmdir()
    assert run("throughput", "sim:x25m", "--client", "--out", "run") == 0
    # Later ones are looked at, and asked for nothing.
    assert [bool(fake.steps) for fake in fakes] == [True, False]
    assert fakes[0].capacity_bytes == 256 * MIB


def test_a_complete_run_is_of_its_drive_and_says_that_nothing_was_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = Path(SMALL_DRIVE.removeprefix("sim:")).read_text()
    Path("small.toml").write_text(text)
    words = ("throughput", "sim:small.toml", "--client", "--scale", "0.05", "--out", "run")
    assert run(*words) == 0
    assert "nothing was run" not in capsys.readouterr().out
    result = Path("run/result.json").read_bytes()
    assert run(*words, "--json") == 0
    (answer,) = json.loads(capsys.readouterr().out)["runs"]
    assert answer["was_complete"]
    assert run(*words) == 0
    assert "note  run was complete: nothing was run" in capsys.readouterr().out
    # Another drive under the same name.
    varying = text.replace('name = "small"', 'name = "small"\nvariability.sigma = 0.2')
    Path("small.toml").write_text(varying)
    for more, differs in (((), "preset variability sigma"), (("--no-variability",), "variability")):
        assert run(*words, *more) == 2
        assert f"run contains another test: drive {differs}: " in capsys.readouterr().err
    assert Path("run/result.json").read_bytes() == result
    Path("small.toml").unlink()
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert said.startswith("drivelab: run is complete, and `drivelab pts report run` shows it; to")
    assert "there is no file small.toml" in said


def test_a_complete_run_on_a_file_is_of_its_size(
    fakes: list[FakeSession], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def open_real(name: str, **_: Any) -> FakeSession:
        identity = {"path": str(Path(name).resolve())}
        fakes.append(FakeSession("real", identity=identity, **SETTLED))
        fakes[-1].name = name
        return fakes[-1]

    monkeypatch.setattr(sessions, "open_session", open_real)
    words = ("throughput", "./f.bin", "--client", "--out", "run")
    assert run(*words, "--size", "256MiB") == run(*words) == run(*words, "--size", "256MiB") == 0
    capsys.readouterr()
    assert run(*words, "--size", "128MiB") == 2
    said = capsys.readouterr().err
    assert "drive capacity: 256 MiB before, 128 MiB now; choose another" in said
    # The file that is there counts, whatever is asked for; what is not a whole block is left out.
    for size, code in ((MIB, 2), (256 * MIB + 100, 0)):
        Path("f.bin").touch()
        os.truncate("f.bin", size)
        assert run(*words) == run(*words, "--size", "256MiB") == code
        assert ("before, 1 MiB now" in capsys.readouterr().err) == bool(code)
    assert len(fakes) == 1


def test_reports_of_a_folder_leave_runs_of_other_kinds_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("throughput", SMALL_DRIVE, "--client", "--scale", "0.05", "--out", "runs/a")
    assert run(*words) == 0
    quick = ("--file-size", "1MiB", "--interval", "4KiB:16KiB:4KiB", "--repetitions", "1")
    assert cli.main(["profile", SMALL_DRIVE, *quick, "--out", "runs/b"]) == 0
    Path("runs/a/report.html").unlink()
    assert cli.main(["pts", "report", "runs"]) == 0
    assert Path("runs/a/report.html").exists()
    capsys.readouterr()
    assert cli.main(["pts", "report", "runs/b"]) == 2
    assert "b is a run of `drivelab profile`, not of `drivelab pts run`" in capsys.readouterr().err
    Path("runs/a/run.sqlite").write_bytes(b"no database")
    assert cli.main(["pts", "report", "runs"]) == 1
    assert "runs/a" in capsys.readouterr().err


@pytest.fixture
def unwritten(monkeypatch: pytest.MonkeyPatch, require_tool: Any, drive_folder: Path) -> Path:
    """Give a path on which a file may be made, with blocks of 4 KiB, and nothing written."""
    require_tool("fio")
    monkeypatch.setattr(target_file, "direct_block_bytes", lambda *_: 4096)
    monkeypatch.setattr(made_file.MadeFile, "fill", lambda *_: pytest.fail("it is written"))
    return drive_folder / "refused.bin"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ecw", "--size", "64MiB"], "drive's blocks are 4096 B"),
        (["dirth", "--size", "64MiB", "--block-size", "2KiB"], "a request of 2048 bytes on a dr"),
        (["xsr", "--size", "1MiB", "--client"], "is smaller than one request of 1 MiB"),
        (["dirth", "--size", "1MiB", "--threads", "32"], "request of 128 KiB for each of 32"),
        (["blocks", "--size", "1MiB", "--threads", "32"], "request of 128 KiB for each of 32"),
        (["blocks", "--size", "64MiB", "--write-ratio", "0.335"], "allowed: whole per cent"),
    ],
)
def test_what_a_file_cannot_take_is_refused_before_it_is_written(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], unwritten: Path
) -> None:
    test, *others = words
    assert run(test, str(unwritten), *others) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not list(unwritten.parent.glob("refused*"))
    assert not Path("runs").exists()
