"""The error for a mistake is one line: what is wrong, where, and what to type instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import drivelab as dl
from drivelab.cli import main as cli

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

SMALL_DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a campaign, ``model``, and a profile, ``profile``."""
    folder = tmp_path_factory.mktemp("runs")
    few = ("--design", "sobol:20", "--check", "0", "--no-sweeps", "--requests", "40")
    assert cli.main(["model", SMALL_DRIVE, *few, "--out", str(folder / "model")]) == 0
    small = ("--interval", "8KiB:16KiB:8KiB", "--file-size", "1MiB", "--repetitions", "1")
    assert cli.main(["profile", SMALL_DRIVE, *small, "--out", str(folder / "profile")]) == 0
    return folder


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()
    Path("empty").touch()
    Path("mine.toml").write_text('base = "x25m"\nname = "mine"\n')
    Path("binary").write_bytes(b"\xff\x00" * 100)
    Path("other.json").write_text('{"a": 1}')


def line(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Give the only line of the error for a mistake."""
    capsys.readouterr()
    assert cli.main(list(words)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (only,) = captured.err.splitlines()
    return only.removeprefix("drivelab: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("measur sim:x25m", "no command 'measur'; did you mean measure? the commands are drives,"),
        ("measure sim:x25", "there is no drive 'sim:x25'; did you mean sim:x25m? `drivelab dri"),
        ("measure sim:X25M", "there is no drive 'sim:X25M'; did you mean sim:x25m or"),
        ("measure x25m", "there is no drive 'x25m'; did you mean sim:x25m"),
        ("measure foo:x25m", "there is no drive 'foo:x25m'; did you mean sim:x25m"),
        ("measure newfile", "; ./newfile is a file to measure, created if it does not exist"),
        ("measure sim:mine", "there is no drive 'sim:mine'; did you mean sim:mine.toml?"),
        ("measure sim:empty", "a preset's file ends in .toml, and a file to measure is ./empty"),
        ("measure sim:apx.toml", "there is no file apx.toml; did you mean apex? `drivelab drives`"),
        (
            "measure sim:x25m --queuedepth 3",
            "there is no option '--queuedepth'; did you mean --queue-depth or --depth? (see "
            "`drivelab measure",
        ),
        ("measure sim:x25m sim:mlc-a", "'sim:mlc-a' is one word too many (see"),
        ("measure sim:x25m --content zeros", "did you mean zero? it takes zero, database, random"),
        ("measure sim:x25m --keep", "--keep has no effect on sim:x25m: it is for files on real"),
        ("analytic analytic:x25m-yoo2014", "--op and --record are missing (see `drivelab ana"),
        ("runs", "list|show|export|remove is missing (see `drivelab runs --help`)"),
        ("runs lst", "'lst' is not allowed; did you mean list? it takes list, show, export, rem"),
        (
            "runs show nosuch",
            "nosuch does not exist; a run is a folder made by `drivelab model`,",
        ),
        ("runs show empty", "empty is a file; a run is a folder made by"),
        ("report d", "d is not a run: it has no run.sqlite; a run is a folder made by"),
        ("model sim:x25m --design huang201:300", "'huang201'; did you mean huang2011"),
        ("model sim:x25m --endurance 1TB", "--endurance has no effect without --dry-run: add that"),
        ("pts run iop sim:x25m", "'iop' is not allowed; did you mean iops"),
        ("pts run class sim:x25m --class olpt", "no workload class 'olpt'; did you mean oltp? "),
        (
            "pts run class sim:x25m --class mial.toml",
            "did you mean mail? the classes of the package are",
        ),
        ("pts run class sim:x25m", "a class has to be named, with --class: desktop-publishing"),
        ("pts report nosuch", "nosuch does not exist; name the folder of a `drivelab pts run`"),
        ("reproduce yoo2015", "no paper 'yoo2015'; did you mean yoo2014"),
        (
            "timeline x25m-yoo204 --op read --record 4k -o a.svg",
            "no preset 'x25m-yoo204'; did you mean x25m-yoo2014",
        ),
        ("drives show sim:x25", "there is no preset 'x25'; did you mean x25m"),
        ("predict nosuch", "nosuch does not exist; a model is a run's folder, or its model.json"),
        ("predict empty", "empty is not a Drivelab model: it is empty"),
        ("predict binary", "binary is not a Drivelab model: it is not text"),
        (
            "predict other.json",
            "it contains something else; a model is what `drivelab model` writes",
        ),
    ],
)
def test_a_mistake_is_one_line_with_a_remedy(capsys, words: str, said: str) -> None:
    assert said in line(capsys, *words.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("report model profile", "profile is a run of `drivelab profile`, not of `drivelab model`"),
        ("predict profile", "profile is a run of `drivelab profile`, not of `drivelab model`"),
        ("pts report model", "model is a run of `drivelab model`, not of `drivelab pts run`"),
        ("predict model --estimator boost", "unknown estimator 'boost'; did you mean boosted? all"),
    ],
)
def test_runs_of_another_kind_say_so_once(capsys, monkeypatch, runs, words, said) -> None:
    monkeypatch.chdir(runs)
    error_text = line(capsys, *words.split())
    assert error_text.count(said) == 1


def test_another_run_is_described_in_words(capsys, runs: Path) -> None:
    asked = ("--interval", "8KiB:16KiB:8KiB", "--file-size", "2MiB", "--repetitions", "1")
    error_text = line(capsys, "profile", SMALL_DRIVE, *asked, "--out", str(runs / "profile"))
    assert (
        "contains another profile: file size: 1 MiB before, 2 MiB now; choose another" in error_text
    )


def test_help_of_a_command_is_found_behind_help(capsys) -> None:
    assert cli.main(["help", "runs"]) == 0
    text = capsys.readouterr().out
    assert cli.main(["runs", "--help"]) == 0
    assert capsys.readouterr().out == text
    assert "usage: drivelab runs" in text


def test_json_names_where_it_is_none(capsys) -> None:
    Path("cut.json").write_text(json.dumps({"format": "x"})[:-3])
    assert "it is not JSON from line 1, column 12 on" in line(capsys, "predict", "cut.json")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: dl.drive(3), "a drive is named by text, such as 'sim:x25m'; found 3"),
        (lambda: dl.drive(None), "a drive is named by text, such as 'sim:x25m'; found None"),
        (lambda: dl.drive(b"sim:x25m"), "named by text, such as 'sim:x25m'; found b'sim:x25m'"),
        (lambda: dl.drive("sim:x25m", variability="no"), "variability is 'no'; allowed: True, F"),
        (lambda: dl.run(3), "a drive is named by text"),
        (lambda: dl.run("sim:x25m", out=3), "the folder of a run is named by text, such as 'runs"),
        (lambda: dl.run("sim:x25m", check=-1), "check is -1; allowed: a whole number from 0 on"),
        (lambda: dl.Run(3), "the folder of a run is named by text"),
        (lambda: dl.Model.load(3), "a model is named by text"),
    ],
)
def test_what_a_program_gives_is_checked_too(given, said: str) -> None:
    with pytest.raises(dl.DrivelabError) as found:
        given()
    assert said in str(found.value)
