"""A trace replayed on a real file by the command line: what is said first, and refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.made_trace import msr_file

from drivelab.cli import main as cli
from drivelab.drives.real.fio import drive as fio_drive
from drivelab.errors import RunError


@pytest.fixture
def file(require_tool: Callable[[str], Path], drive_folder: Path) -> str:
    require_tool("fio")
    return str(drive_folder / "replayed.bin")


def said(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> tuple[str, str]:
    assert cli.main([*words]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def spc_file(folder: Path, lines: list[str]) -> str:
    path = folder / "a.spc"
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def test_a_replay_says_how_long_it_takes_and_how_it_was_sent(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = spc_file(tmp_path, [f"0,{8 * k},4096,{'rw'[k % 2]},{k / 100}" for k in range(21)])
    words = ["measure", file, "--size", "8MiB", "--trace", trace, "--speed", "2x", "--depth", "5"]
    out, err = said(capsys, 0, *words)
    assert f"replaying the trace on {file}, which takes 100 ms; Ctrl-C stops it" in err
    assert "5 jobs of fio sent one request at a time each" in out
    assert "sent late" in out
    out, _ = said(capsys, 0, *words, "--json")
    answer = json.loads(out)
    assert (answer["kind"], answer["requests"], answer["stopped_by"]) == ("real", 21, "requests")
    assert (answer["read"]["requests"], answer["write"]["requests"]) == (11, 10)
    assert answer["lateness"]["requests"] == 21
    assert answer["trace"]["speed"] == 2.0
    assert answer["extra"] == {"queue_depth": 5, "segments": 1}
    assert not Path(file).exists()


def test_a_doubt_about_the_trace_is_said_before_it_is_sent(
    file: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise RunError("it was not sent")

    monkeypatch.setattr(fio_drive, "replay_with_fio", stopped)
    trace = spc_file(tmp_path, [f"0,{8 * k},512,r,{k / 1e9:.9f}" for k in range(200)])
    _, err = said(capsys, 1, "measure", file, "--size", "8MiB", "--trace", trace)
    replaying, caution, failed = err.splitlines()[-3:]
    assert "replaying the trace on" in replaying
    assert caution == ("drivelab: caution: 1.005e9 requests a second: the unit of time is larger")
    assert "it was not sent" in failed


def test_a_late_replay_says_so_first(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = spc_file(tmp_path, [f"0,0,{4 << 20},r,{at / 1e6:.6f}" for at in range(60)])
    words = ["measure", file, "--size", "8MiB", "--depth", "1", "--trace"]
    out, _ = said(capsys, 0, *words, trace)
    assert out.startswith("caution ")
    assert "did not keep up with the recorded times" in " ".join(out.split())
    trace = spc_file(tmp_path, [f"0,0,{4 << 20},r,0.0" for _ in range(60)])
    out, err = said(capsys, 0, *words, trace)
    assert not re.search(r"^caution|sent late|lateness", out, re.MULTILINE)
    no_clock = "all requests have the same time: the trace has no clock, so they are sent at once"
    assert f"drivelab: caution: {no_clock}" in err
    assert no_clock in " ".join(out.split())


def test_the_depth_that_fio_keeps_is_reported(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = str(msr_file(tmp_path))
    words = ["measure", file, "--size", "8MiB", "--trace", trace, "--speed", "max"]
    out, err = said(capsys, 0, *words)
    assert "as fast as it answers" in err
    text = " ".join(out.split())
    assert "fio keeps one depth: 2 outstanding, the mean of the recorded ones" in text


_LONG = "0,0,512,r,0\n0,0,512,r,864000"
_FAR, _NEAR = "0,999999,512,r,0", "0,0,512,r,0"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([_FAR], "give --fit wrap or --fit scale, or a larger drive"),
        ([_LONG], "lasts 240 h 0 min at this speed, and a replay at most 156 h 22 min; replay it "),
        ([_LONG, "--speed", "0.001x"], "replay it faster (--speed 2x or more) or as fast as the "),
        ([_NEAR, "--depth", "300"], "give --depth 256 or less"),
        ([_NEAR, "--seconds", "1s"], "leave seconds out"),
        ([_NEAR, "--warmup", "1s"], "--warmup has no effect on a trace"),
    ],
)
def test_what_cannot_be_replayed_makes_no_file(
    file: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    expected: str,
) -> None:
    line, *options = words
    trace = spc_file(tmp_path, [line])
    out, err = said(capsys, 2, "measure", file, "--size", "8MiB", "--trace", trace, *options)
    assert out == ""
    assert expected in err
    assert not Path(file).exists()
