"""Firmware run on host and target: a small drive, from the command line to the answer."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from made_trace import spc_file

from drivelab.cli.main import main
from drivelab.errors import RunError, UsageError
from drivelab.firmware import profile, programs
from drivelab.firmware.programs import check_ran, firmware_program, observers

SCENARIO = """summary = "anywhere on a small drive"
requests = {requests}

[[stream]]
name = "mixed"
queue_depth = 8
write_ratio = {writes}
read_size_bytes = 16_384
write_size_bytes = 8_192
"""
SMALL = ("--geometry", "2x2x1x64x64", "--part", "1")


def profiled(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["firmware", "profile", *SMALL, *words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, writes in (("reads", 0.0), ("mixed", 0.4), ("writes", 1.0)):
        Path(f"{name}.toml").write_text(SCENARIO.format(requests=3000, writes=writes))
    return tmp_path


def test_two_profiles_are_equal_and_evaluated(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("reads.toml", "mixed.toml", "writes.toml")
    first = profiled(capsys, *names, "--out", "a")
    second = profiled(capsys, *names, "--out", "b")
    assert first["workloads"] == second["workloads"]
    reads, _, writes = first["workloads"]  # type: ignore[misc]
    assert reads["records"] == 3
    assert reads["pages_moved_per_request"] == 0
    # A full drive collects: each page that is written costs moves.
    assert writes["pages_moved_per_request"] > 1
    # Collection and programs are work that reads do not make.
    assert writes["target_ns_per_request"] > reads["target_ns_per_request"]
    low, high = (reads[f"target_ns_per_request_{end}"] for end in ("low", "high"))
    assert low < reads["target_ns_per_request"] < high
    assert main(["firmware", "evaluate", "a", "--models", "linear,kriging", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {each["model"] for each in answer["models"]} == {"linear", "kriging"}
    assert answer["best"] == answer["models"][0]["model"]
    assert [each["records"] for each in answer["models"][0]["workloads"]] == [3, 3, 3]
    assert main(["runs", "export", "a", "--csv", "records.csv"]) == 0
    capsys.readouterr()
    assert main(["runs", "show", "a"]) == 0
    assert "firmware under 3 workloads" in capsys.readouterr().out
    head, *rows = Path("records.csv").read_text().splitlines()
    assert head.startswith("workload,record,counted_requests")
    assert len(rows) == 9


def test_a_profile_is_the_same_wherever_it_is_made(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = profiled(capsys, "mixed.toml", "--out", "here")
    # Programs keep their path, and longer ones would move what comes after it.
    deep = folder / ("a folder with a long name " * 5)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    monkeypatch.setenv("SOMETHING", "else" * 5)
    there = profiled(capsys, "mixed.toml", "--out", "there")
    assert there["workloads"] == here["workloads"]


def test_a_profile_that_was_stopped_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("later.toml").write_text("")
    words = ["firmware", "profile", *SMALL, "--out", "run"]
    assert main([*words, "reads.toml", "later.toml"]) == 2
    assert not Path("run").exists()
    capsys.readouterr()
    whole = profiled(capsys, "reads.toml", "mixed.toml", "--out", "run")
    # What is kept is not run again: nothing would observe it.
    monkeypatch.setattr(profile, "observe", None)
    assert main([*words, "reads.toml", "mixed.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == whole
    assert main([*words, "mixed.toml", "reads.toml"]) == 2
    assert "asked" in capsys.readouterr().err


def test_an_incomplete_profile_is_evaluated_with_a_caution(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from made_firmware_records import made_profiled

    ratios = {"reads.toml": 0.0, "mixed.toml": 0.4, "writes.toml": 1.0}

    def observe(label: str, *_: object) -> object:
        if label == "later.toml":
            raise RunError("the disk is full")
        return made_profiled(label, ratios[label], records=3, moved=2 * ratios[label])

    monkeypatch.setattr(profile, "observe", observe)
    Path("later.toml").write_text(SCENARIO.format(requests=3000, writes=0.5))
    words = ["firmware", "profile", *SMALL[:2], *ratios, "later.toml", "--out", "run"]
    assert main([*words, "--records", "4"]) != 0
    capsys.readouterr()
    first = (
        "the profile is incomplete: 3 of 4 workloads exist, without later.toml; `drivelab "
        f"{' '.join(words)} --records 4` resumes it"
    )
    second = (
        "reads.toml has 3 of 4 records that were asked for: it ends there; profile a longer one, "
        "or ask for fewer (--records)"
    )
    for asked in (
        ["evaluate", "run", "--models", "linear"],
        ["train", "run", "--out", "model.json"],
        ["predict", "model.json", "run"],
    ):
        assert main(["firmware", *asked, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["cautions"][:2] == [first, second]
        assert main(["firmware", *asked, *(["--force"] if "train" in asked else [])]) == 0
        assert first[:40] in " ".join(capsys.readouterr().out.split())
    monkeypatch.setattr(profile, "observe", lambda label, *_: made_profiled(label, 0.5, records=4))
    assert main(["firmware", "profile", *SMALL, *ratios, "--out", "whole", "--json"]) == 0
    capsys.readouterr()
    assert main(["firmware", "train", "whole", "--out", "whole.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cautions"] == []


def test_what_does_not_fit_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["RX"], "those of Lee et al. 2021, table 4 are SR, SW"),
        (["RR", "RR"], "RR is named twice"),
        (["RR", *SMALL], "does not lie on the drive"),
        (["RR", "--geometry", "4x4x2"], "is not a geometry"),
        (["RR", "--geometry", "9" * 5000 + "x1x1x64x64"], "9' is not a geometry: write channels"),
        (["RR", "--geometry", "0x1x1x64x64"], "geometry 0x1x1x64x64: channels x ways x dies must"),
        (["RR", "--geometry", "1x1x1x10x64"], "a die needs at least 25 blocks: use more blocks"),
        (["RR", "--geometry", "1x1x1x64x0"], "a block needs at least 1 page"),
        (["RR", "--geometry", "1x1x1x64x99999"], "it must lie between 1 and 32767"),
        (["RR", "--geometry", "4x4x2x4294967295x512"], "more than 4294967294 pages"),
        (["RR", "--target", "none.toml"], "there is no file none.toml"),
        (["reads.toml", "--fit", "wrap"], "--fit wrap is for recorded traces, and none is named"),
    ):
        assert main(["firmware", "profile", "--out", "run", *words]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


def test_requests_add_up_to_their_record(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    each = profiled(capsys, "mixed.toml", "--each-request", "--out", "each")
    whole = profiled(capsys, "mixed.toml", "--queue-depth", "1", "--out", "whole")
    assert (each["record_requests"], whole["record_requests"]) == (1, 1000)
    (alone,), (together,) = each["workloads"], whole["workloads"]  # type: ignore[misc]
    assert (alone["records"], together["records"]) == (3000, 3)
    expected = ("target_ns_per_request", "target_ns_per_request_low", "target_ns_per_request_high")
    for name in (*expected, "host_instructions_per_request", "pages_moved_per_request"):
        assert alone[name] == together[name]
    p50, p99 = alone["target_record_ns_p50"], alone["target_record_ns_p99"]
    # Most requests meet no collection.
    assert 1000 < p50 < alone["target_ns_per_request"] < p99
    assert alone["target_record_ns_p99_9"] is None
    words = ["firmware", "profile", "mixed.toml", *SMALL, "--each-request", "--out", "each"]
    assert main(words) == 0
    assert "p99.9" in capsys.readouterr().out
    assert main([*words, "--queue-depth", "8"]) == 2
    assert "leave out --queue-depth" in capsys.readouterr().err


def test_a_recorded_trace_is_a_workload(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"0,{8 * (at * 37 % 4000)},4096,{'rrw'[at % 3]},{at / 1000:.6f}" for at in range(2500)]
    spc_file(folder, lines)
    found = profiled(capsys, "small.spc", "--out", "run")
    (each,) = found["workloads"]  # type: ignore[misc]
    assert each["label"] == "small.spc"
    # The last 500 requests fill no record.
    assert each["records"] == 2
    assert each["platform_ratio"] == pytest.approx(
        each["target_ns_per_request"] / each["host_ns_per_request"]
    )
    spc_file(folder, [f"0,{10**12 + at},4096,r,{at / 1000:.6f}" for at in range(1500)], "far.spc")
    words = ["firmware", "profile", *SMALL, "--out", "far"]
    assert main([*words, "far.spc"]) == 2
    assert "have them fitted to the drive: wrap or scale" in capsys.readouterr().err
    assert main([*words, "far.spc", "--fit", "scale", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["workloads"][0]["records"] == 1
    assert main(["firmware", "profile", "small.spc", "--out", "few", *SMALL[:2]]) == 2
    assert "small.spc has 50 requests here, and a record has 1,000" in capsys.readouterr().err


def test_commas_are_as_good_as_any_letter(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = folder / "a,b=c"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    target = place / "target,x=y.toml"
    shutil.copy(Path(__file__).parents[3] / "processors/a53-like.toml", target)
    plain = profiled(capsys, "mixed.toml", "--out", "plain")
    found = profiled(capsys, "mixed.toml", "--target", str(target), "--out", "a,b=c/run")
    assert found["workloads"] == plain["workloads"]
    moved = place / "programs"
    shutil.copytree(programs.FOLDER, moved)
    assert observers(moved)[0].plugin.parent == moved


def test_a_broken_target_is_reported_before_anything_is_done(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile, "observe", None)
    words = ["firmware", "profile", *SMALL, "mixed.toml", "--out", "run", "--target", "mine.toml"]
    for text, said in (("x = [", "line 1: unclosed array"), ("cores = -5", "line 1: invalid")):
        Path("mine.toml").write_text(text)
        assert main(words) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"drivelab: mine.toml: {said}")
        assert error.count("\n") == 1
        assert not Path("run").exists()


def test_what_was_not_built_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no plugin for qemu: run `make firmware`"):
        observers(tmp_path)
    with pytest.raises(UsageError, match=r"no firmware program for aarch64: run `make firmware`"):
        firmware_program(tmp_path, "aarch64")


def test_programs_of_this_machine_are_of_its_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "drivelab-firmware-aarch64").touch()
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert firmware_program(tmp_path).name == "drivelab-firmware-aarch64"
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(UsageError, match=r"runs on x86_64 and aarch64, and this machine is riscv"):
        firmware_program(tmp_path)


def test_without_qemu_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UsageError, match=r"qemu-x86_64 is not installed: install qemu-user 7\.2"):
        observers()


def test_a_qemu_without_plugins_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "qemu-x86_64"
    fake.write_text("#!/bin/sh\necho \"qemu: unknown option 'plugin'\" >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(UsageError, match=r"takes no plugins: install qemu-user 7\.2"):
        observers(programs.FOLDER)


def test_what_a_program_said_is_passed_on() -> None:
    with pytest.raises(RunError, match=r"drivelab-firmware failed: the disk is full"):
        check_ran(["bin/drivelab-firmware"], 1, "50 %\nthe disk is full\n")
    with pytest.raises(RunError, match="ended by signal SIGKILL, without a word"):
        check_ran(["qemu"], -9, "")
    check_ran(["qemu"], 0, "")
