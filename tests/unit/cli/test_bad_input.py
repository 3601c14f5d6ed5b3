"""Every kind of bad input: one clear line on standard error, exit code 2, never a traceback.

The command runs in this process where it can; failures that need a process of their own
(signals, full disks) are in `test_interruptions.py`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.models.model import PerformanceModel
from drivelab.sealed_json import seal, sealed_json, unsealed_json
from drivelab.store.database import sealed

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

SMALL_PRESET = """
base = "x25m-yoo2014"
name = "small"
summary = "a changed preset"
"""
SMALL_DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
SMALL_JOB = [
    *("model", SMALL_DRIVE, "--design", "huang2011:12", "--requests", "30"),
    *("--check", "0", "--no-sweeps"),
]
# Words, and what the line has to say.
WRONG_WORDS: list[tuple[list[str], str]] = [
    (["nonsense"], "the commands are drives, measure, simulate, scenarios"),
    (["measure"], "DRIVE is missing (see `drivelab measure --help`)"),
    (["measure", ""], "sim:x25m"),
    (["measure", "sim:nonsense"], "`drivelab drives` lists all"),
    (["measure", "sim:"], "`drivelab drives` lists all"),
    (["measure", "sim:nothing.toml"], "nothing.toml"),
    (["measure", "sim:x25m", "--write-ratio", "2"], "from 0 to 1"),
    (["measure", "sim:x25m", "--write-ratio", "nan"], "from 0 to 1"),
    (["measure", "sim:x25m", "--write-ratio"], "expected one argument"),
    (["measure", "sim:x25m", "--queue-depth", "-1"], "from 1 to 65536"),
    (["measure", "sim:x25m", "--queue-depth", "0"], "from 1 to 65536"),
    (["measure", "sim:x25m", "--queue-depth", "1e99"], "from 1 to 65536"),
    (["measure", "sim:x25m", "--read-size", "1000"], "512"),
    (["measure", "sim:x25m", "--read-size", "0"], "512"),
    (["measure", "sim:x25m", "--read-size=-4k"], "not a size"),
    (["measure", "sim:x25m", "--read-size", "4 parsec"], "not a size"),
    (["measure", "sim:x25m", "--read-size", "4TB"], "read_size"),
    (["measure", "sim:x25m", "--read-stride", "100"], "512"),
    (["measure", "sim:x25m", "--write-ratio", "1", "--write-stride", "81GB"], "write_stride"),
    (["measure", "sim:x25m", "--requests", "0"], "--requests"),
    (["measure", "sim:x25m", "--half-width", "0%"], "for example 1% or 0.01"),
    (["measure", "sim:x25m", "--half-width", "100%"], "for example 1% or 0.01"),
    (["measure", "sim:x25m", "--half-width", "small"], "for example 1% or 0.01"),
    (
        ["measure", "sim:x25m", "--requests", "5", "--max-requests", "9"],
        "--max-requests is for --half-width",
    ),
    (
        ["measure", "sim:x25m", "--half-width", "1%", "--requests", "9", "--max-requests", "8"],
        "max_requests is 8; allowed: at least requests, 9",
    ),
    (["measure", "sim:x25m", "--seconds", "0s"], "seconds is 0.0; allowed: more than 0"),
    (["measure", "sim:x25m", "--warmup", "-1s"], "--warmup"),
    (["measure", "sim:x25m", "--seed", "-1"], "--seed"),
    (["measure", "sim:x25m", "--seed", "0x1"], "--seed"),
    (["measure", "sim:x25m", "--nonsense"], "the options are --address-unit, --allow-destructive"),
    (["measure", "sim:x25m", "more"], "'more' is one word too many"),
    (["measure", "sim:x25m", "--size", "1GiB"], "a preset says its capacity"),
    (["measure", "sim:x25m", "--allow-destructive", "/dev/sda"], "for real drives"),
    (["measure", "some.file", "--seconds", "soon"], "not a duration"),
    (["measure", "/dev/no-such-device"], "/dev/no-such-device"),
    (["measure", "/proc/version"], "/proc/version"),
    (["measure", "analytic:nonsense"], "`drivelab drives` lists all"),
    (["measure", "analytic:x25m"], "x25m"),
    (["measure", "analytic:x25m-yoo2014", "--queue-depth", "2"], "queue_depth is 2, not 1"),
    (["measure", "analytic:x25m-yoo2014", "--write-ratio", "0.5"], "write_ratio is 0.5, not 0"),
    (["measure", "sim:x25m-fob"], "fresh"),
    (
        ["model", "sim:x25m-fob", "--design", "sobol:10"],
        "there are 1, as the drive cannot run 9 of sobol:10: sim:x25m-fob is fresh and has no",
    ),
    (["model", "sim:x25m", "--design", "nonsense"], "huang2011:N"),
    (["model", "sim:x25m", "--design", "huang2011:0"], "N from 1 on"),
    (["model", "sim:x25m", "--design", "huang2011:-5"], "N from 1 on"),
    (["model", "sim:x25m", "--design", "huang2011:10000000"], "14980 distinct workloads"),
    (["model", "sim:nonsense"], "`drivelab drives` lists all"),
    (["model", "analytic:x25m-yoo2014"], "this drive can express 19 of the 5120 workloads"),
    (["model", "sim:x25m", "--out", "/proc/version"], "/proc/version is a file"),
    (["model", "sim:x25m", "--out", "/proc/version/run"], "is a file, not a folder"),
    (["model", "sim:x25m", "--out", "/etc"], "and no run; choose a new or an empty folder"),
    (["predict"], "MODEL is missing (see"),
    (["predict", "nothing"], "nothing"),
    (["predict", "/etc"], "/etc has no model.json"),
    (["predict", "/etc/passwd"], "is not a Drivelab model"),
    (["predict", "/dev/null"], "is not a Drivelab model"),
    (["predict", "/etc", "--write-ratio", "-1"], "from 0 to 1"),
    (["predict", "/etc", "--read-size", "1000"], "read_size"),
    (["report", "nothing"], "nothing does not exist"),
    (["report", "/etc"], "/etc is not a run"),
    (["report", "/etc/passwd"], "/etc/passwd is a file; a run is a folder"),
    (
        ["analytic", "analytic:x25m-yoo2014", "--op", "erase", "--record", "4k"],
        "it takes read, write",
    ),
    (["analytic", "analytic:x25m-yoo2014", "--op", "read"], "--record"),
    (["analytic", "analytic:x25m-yoo2014", "--op", "read", "--record", "1000"], "4096"),
    (["analytic", "sim:x25m", "--op", "read", "--record", "4k"], "x25m"),
    (["measure", f"./{'x' * 300}"], "File name too long"),
    (["measure", "./\udce9.bin"], "is not UTF-8 text"),
    (["measure", "foo:bar"], "there is no drive 'foo:bar'; `drivelab drives` lists all"),
    (["model", SMALL_DRIVE, "--out", "x" * 300], "File name too long"),
    (["model", SMALL_DRIVE, "--out", "/proc/run"], "/proc/run cannot be made"),
    (["model", SMALL_DRIVE, "--design", "huang2011:4"], "at least 5 distinct workloads"),
    (["predict", "/dev/zero"], "it is not a regular file"),
    (["measure", "sim:/dev/zero.toml"], "/dev/zero.toml"),
    (
        ["timeline", "x25m", "--op", "read", "--record", "4k", "-o", "/proc/x.svg"],
        "/proc/x.svg cannot be written",
    ),
    (["reproduce", "yoo2014", "--out", "/proc/x"], "cannot be written"),
    (["drives", "--nonsense"], "the options are --json"),
    (["drives", "sda"], "'sda' is not allowed; it takes list, show, new, import"),
    (["drives", "show", "x26m"], "no preset 'x26m'; did you mean x25m? "),
    (["drives", "show", "q"], "there is no preset 'q'; `drivelab drives` lists all, and FILE.toml"),
    (["drives", "show", "/dev/sda"], "`drivelab drives` lists real drives"),
    (["drives", "show", "missing.toml"], "there is no file missing.toml"),
    (["drives", "new", "mine.txt"], "mine.txt does not end in .toml"),
    (["drives", "new", "-"], "- is standard output, where this command writes its answer"),
    (["drives", "new", "missing/mine.toml"], "there is no folder missing"),
    (["drives", "new", "a b.toml"], "a b.toml names no drive"),
    (["drives", "import", "missing.xml"], "there is no file missing.xml; name MQSim's"),
]


def fails(words: list[str], capsys) -> tuple[int, str]:
    """Run the command; give exit code and the one line it may say."""
    code = cli.main(words)
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1, captured.err
    assert captured.err.startswith("drivelab: ")
    assert "bug in Drivelab" not in captured.err
    assert captured.out == ""
    return code, captured.err


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("words", "said"), WRONG_WORDS, ids=lambda value: str(value)[:60])
def test_mistake_is_one_line_and_exit_2(words, said, capsys, tmp_path) -> None:
    code, line = fails(words, capsys)
    assert code == 2
    assert said in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("[geometry]\nchanels = 4", "chanels"),
        ("[geometri]\nchannels = 4", "geometri"),
        ("[geometry]\nchannels = 0", "channels"),
        ("[geometry]\nchannels = -4", "channels"),
        ("[geometry]\nchannels = 4.5", "channels"),
        ("[geometry]\nchannels = 99999999999", "channels"),
        ('[geometry]\nchannels = "four"', "channels"),
        ("[geometry]\npage_size_bytes = 1000", "page_size_bytes"),
        ("[geometry]\nuser_capacity_bytes = 9000000000000", "capacity"),
        ("[geometry]\nover_provisioning_ratio = -0.5", "over_provisioning_ratio"),
        ("[timing]\nread_cell_ns = -1", "read_cell_ns"),
        ('[scheduling]\ndispatch = "magic"', "in_order"),
        ('[collection]\npolicy = "magic"', "greedy"),
        ("[geometry", "line"),
        ('[scheduling]\ndispatch = "in_order"\ndispatch = "in_order"', "duplicate key"),
    ],
)
def test_wrong_preset_is_one_line_and_exit_2(change: str, said: str, capsys, tmp_path) -> None:
    (tmp_path / "drive.toml").write_text(SMALL_PRESET + change + "\n")
    for prefix in ("sim:", "analytic:"):
        code, line = fails(["measure", f"{prefix}drive.toml"], capsys)
        assert code == 2
        assert line.startswith("drivelab: drive.toml: ")
        assert said in line


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00", "drive.toml"),
        (b"", "drive.toml|name|base"),
        (b'base = "nonsense"\nname = "a"\n', "nonsense"),
        (b'base = "drive"\nname = "drive"\n', "drive"),
    ],
)
def test_file_that_is_no_preset(content: bytes, said: str, capsys, tmp_path) -> None:
    (tmp_path / "drive.toml").write_bytes(content)
    code, line = fails(["measure", "sim:drive.toml"], capsys)
    assert code == 2
    assert any(word in line for word in said.split("|"))


def test_folder_as_preset(capsys, tmp_path) -> None:
    (tmp_path / "drive.toml").mkdir()
    code, line = fails(["measure", "sim:drive.toml"], capsys)
    assert code == 2
    assert "drive.toml" in line


@pytest.mark.parametrize("special", ["pipe", "device"])
def test_preset_that_is_no_regular_file(special: str, capsys, tmp_path) -> None:
    if special == "pipe":
        os.mkfifo(tmp_path / "drive.toml")
    else:
        (tmp_path / "drive.toml").symlink_to("/dev/zero")
    code, line = fails(["measure", "sim:drive.toml"], capsys)
    assert code == 2
    assert "it is not a regular file" in line


def test_deeply_nested_preset(capsys, tmp_path) -> None:
    (tmp_path / "drive.toml").write_text("a=" + "[" * 100_000)
    code, line = fails(["measure", "sim:drive.toml"], capsys)
    assert code == 2
    assert "not valid TOML" in line


def test_small_preset_of_these_tests_is_right(capsys, tmp_path) -> None:
    (tmp_path / "drive.toml").write_text(SMALL_PRESET)
    assert cli.main(["measure", "sim:drive.toml", "--requests", "10"]) == 0
    assert capsys.readouterr().err == ""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("finished") / "run"
    assert cli.main([*SMALL_JOB, "--out", str(path)]) == 0
    return path


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """Give a finished run that the test may damage."""
    return shutil.copytree(finished, tmp_path / "run")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seed", "1"], "seed: 0 before, 1 now"),
        (["--requests", "31"], "requests: 30 before, 31 now"),
        (["--design", "huang2011:13"], "design workloads: 12 before, 13 now"),
    ],
)
def test_run_of_another_campaign(words, said, run, capsys) -> None:
    code, line = fails([*SMALL_JOB, "--out", str(run), *words], capsys)
    assert code == 2
    assert said in line
    assert "choose another --out" in line


def test_run_of_another_drive(run, capsys) -> None:
    words = ["sim:x25m-yoo2014" if word == SMALL_DRIVE else word for word in SMALL_JOB]
    code, line = fails([*words, "--out", str(run)], capsys)
    assert code == 2
    assert "drive." in line


@pytest.mark.parametrize(
    ("damage", "code", "said"),
    [
        (lambda data: data[: len(data) // 2], 1, "is damaged"),
        (lambda data: data.replace(b'"fold": [', b'"fold": [-1, '), 1, "is damaged"),
        (lambda data: data.replace(b'"format_version": 7', b'"format_version": 9'), 1, "damaged"),
        (lambda data: b"[]", 2, "is not a Drivelab model that can be read: it contains "),
        (lambda data: b"{}", 2, "is not a Drivelab model that can be read: it contains "),
        (
            lambda data: b"[" * 100_000,
            2,
            "is not a Drivelab model: it is nested too deeply",
        ),
        (lambda data: of_version(data, 9), 2, "newer Drivelab"),
        (lambda data: of_version(data, 1), 2, "older Drivelab"),
        (lambda data: seal(data.replace(b'"fold": [', b'"fold": [-1, ')), 2, "fold"),
    ],
)
def test_damaged_model(damage, code, said, run, capsys) -> None:
    model = run / "model.json"
    model.write_bytes(damage(model.read_bytes()))
    for path in (run, model):
        found, line = fails(["predict", str(path)], capsys)
        assert found == code
        assert said in line


def of_version(data: bytes, version: int) -> bytes:
    return seal(data.replace(b'"format_version": 7', b'"format_version": %d' % version))


@pytest.mark.parametrize(("layout", "writer"), [(99, "newer"), (1, "older")])
def test_run_of_another_version(layout, writer, run, capsys) -> None:
    connection = sqlite3.connect(run / "run.sqlite")
    connection.execute(f"PRAGMA user_version = {layout}")
    connection.close()
    for words in (["report", str(run)], [*SMALL_JOB, "--out", str(run)]):
        code, line = fails(words, capsys)
        assert code == 2
        assert f"{writer} Drivelab" in line


def test_damaged_run(run, capsys) -> None:
    (run / "run.sqlite").write_bytes(b"rubbish" * 1000)
    for words in (["report", str(run)], [*SMALL_JOB, "--out", str(run)]):
        code, line = fails(words, capsys)
        assert code == 1
        assert "is damaged" in line


def test_rubbish_in_a_measurement(run, capsys) -> None:
    change(
        run,
        "UPDATE measurement SET value = ?, checksum = ? WHERE position = 3",
        sealed(3, {"index": 3}),
    )
    for words in (["report", str(run)], [*SMALL_JOB, "--out", str(run)]):
        code, line = fails(words, capsys)
        assert code == 1
        assert "run.sqlite is damaged" in line
        assert "is not a measurement" in line


def test_changed_measurement(run, capsys) -> None:
    change(run, "UPDATE measurement SET value = replace(value, '1', '2') WHERE position = 3")
    for words in (["report", str(run)], [*SMALL_JOB, "--out", str(run)]):
        code, line = fails(words, capsys)
        assert code == 1
        assert "run.sqlite is damaged (the checksum of 3 does not fit)" in line


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM run",
        "DROP TABLE run",
        "DROP TABLE measurement",
        "UPDATE run SET value = 'null'",
        "UPDATE run SET value = '3' WHERE key = 'plan'",
        "UPDATE run SET value = '{}' WHERE key = 'drive'",
        "UPDATE run SET value = CAST(x'ff22' AS TEXT) WHERE key = 'drive'",
    ],
)
def test_run_whose_header_is_not_there(statement: str, run, capsys) -> None:
    change(run, statement)
    code, line = fails(["report", str(run)], capsys)
    assert code == 1
    assert "run.sqlite is damaged" in line
    assert len(line) < 400


def test_damage_that_is_no_text(run, capsys) -> None:
    database = run / "run.sqlite"
    content = database.read_bytes()
    # The name that SQLite then complains about.
    database.write_bytes(content.replace(b"tablemeasurement", b"table\xff\xfeasurement"))
    code, line = fails(["report", str(run)], capsys)
    assert code == 1
    assert "run.sqlite is damaged" in line


def change(run: Path, statement: str, values: tuple[str, int] | tuple[()] = ()) -> None:
    with contextlib.closing(sqlite3.connect(run / "run.sqlite")) as connection:
        connection.execute(statement, values)
        connection.commit()


def test_run_with_too_few_workloads(run, capsys) -> None:
    change(run, "DELETE FROM measurement WHERE position >= 4")
    code, line = fails(["report", str(run)], capsys)
    assert code == 2
    assert "at least 5 distinct workloads" in line


@pytest.mark.parametrize(
    "provenance", [{}, {"drive": 3}, {"drive": {"name": [1], "kind": ["real"]}}]
)
def test_model_that_does_not_say_of_which_drive(provenance, run, capsys) -> None:
    model = run / "model.json"
    model.write_bytes(sealed_json(unsealed_json(model.read_bytes()) | {"provenance": provenance}))
    assert cli.main(["predict", str(run), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["drive"], answer["kind"]) == (None, None)
    assert cli.main(["predict", str(run)]) == 0
    assert "a drive without a name, from numbers of unknown origin" in capsys.readouterr().out


def test_report_of_a_run_that_goes_on_growing(run, capsys, monkeypatch) -> None:
    change(run, "CREATE TABLE later AS SELECT * FROM measurement WHERE position >= 10")
    change(run, "DELETE FROM measurement WHERE position >= 10")
    save = PerformanceModel.save

    def save_while_another_measures(model: PerformanceModel, path: Path) -> None:
        save(model, path)
        change(run, "INSERT INTO measurement SELECT * FROM later")

    monkeypatch.setattr(PerformanceModel, "save", save_while_another_measures)
    assert cli.main(["report", str(run)]) == 0
    assert "sim:" in (run / "report.html").read_text()


def test_output_that_cannot_be_finished_leaves_nothing(capsys, tmp_path, monkeypatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    words = ["timeline", "x25m", "--op", "write", "--record", "4k"]
    for file, option in (("x.svg", "-o"), ("x.csv", "--csv")):
        code, line = fails([*words, option, file], capsys)
        assert code == 1
        assert f"{file} cannot be written: No space left" in line
    assert list(tmp_path.iterdir()) == []


PROGRAM = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]


def in_a_process(words: list[str], redirection: str = "", **environment: str) -> tuple[int, str]:
    result = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {redirection}', "sh", *PROGRAM, *words],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("words", [["--help"], ["measure", "sim:x25m", "--requests", "10"]])
def test_closed_standard_output_is_no_error(words) -> None:
    assert in_a_process(words, ">&-") == (0, "")
    assert in_a_process(words, "<&- >&- 2>&-") == (0, "")


def test_closed_standard_error_is_no_error() -> None:
    assert in_a_process(["measure", "nonsense"], "2>&-") == (2, "")


def test_full_standard_output_is_one_line() -> None:
    code, said = in_a_process(["--help"], ">/dev/full")
    assert code == 1
    assert said.count("\n") == 1
    assert "free some space" in said


def test_characters_that_a_terminal_lacks_are_written_otherwise(tmp_path) -> None:
    (tmp_path / "ü.toml").write_text(SMALL_PRESET)
    code, said = in_a_process(
        ["measure", "sim:ü.toml", "--requests", "10"], PYTHONIOENCODING="ascii"
    )
    assert code == 0
    assert "sim:\\xfc.toml" in said


def test_drawing_does_not_depend_on_how_matplotlib_is_set_up(tmp_path) -> None:
    words = ["timeline", "x25m", "--op", "write", "--record", "4k", "-o", "x.svg"]
    nowhere = {"MPLBACKEND": "nonsense", "MPLCONFIGDIR": "/proc/nowhere"}
    code, said = in_a_process(words, **nowhere)
    assert (code, said.splitlines()[-1]) == (0, "wrote x.svg")
    assert "atplotlib" not in said


def test_prediction_outside_what_was_measured_says_so(run, capsys) -> None:
    assert cli.main(["predict", str(run), "--queue-depth", "60000"]) == 0
    text = capsys.readouterr().out
    assert "error unknown" in text
    assert "outside what was measured: queue_depth is 60000; trained on" in text
    assert cli.main(["predict", str(run), "--queue-depth", "60000", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["outside_training"]) == 1
    assert cli.main(["predict", str(run), "--queue-depth", "4"]) == 0
    assert "error unknown" not in capsys.readouterr().out
