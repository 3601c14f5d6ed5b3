"""`drivelab profile`: what it prints, writes, saves and refuses."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
import zlib
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.drives.real import shared_device
from drivelab.drives.real.fio.drive import FioDrive
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import RunError, UsageError
from drivelab.store import RunStore

QUICK = ("--file-size", "1MiB", "--interval", "4KiB:16KiB:4KiB", "--interval", "16KiB:64KiB:16KiB")


@pytest.fixture
def drive(tmp_path, monkeypatch) -> str:
    text = (Path(__file__).parents[2] / "small_drive.toml").read_text()
    varying = text.replace('name = "small"', 'name = "small"\nvariability.sigma = 0.2')
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(varying)
    return "sim:small.toml"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    shutil.copy(Path(__file__).parents[2] / "small_drive.toml", folder / "small.toml")
    words = ["profile", f"sim:{folder / 'small.toml'}", *QUICK, "--out", str(folder / "p")]
    assert cli.main(words) == 0
    return folder


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = cli.main(["profile", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_table_marks_what_was_measured_and_says_what_the_result_belongs_to(
    drive, capsys
) -> None:
    code, out, _ = run(capsys, drive, *QUICK)
    assert code == 0
    lines = out.splitlines()
    assert "file system   none, the drive is simulated" in lines
    assert "measured      48 passes over 1 MiB, 3 of 7 sizes" in lines
    assert [line.count("*") for line in lines if " KiB " in line].count(2) == 3
    assert "PARTIAL" not in out
    code, out, _ = run(capsys, drive, *QUICK, "--partial", "10%")
    assert "PARTIAL: at least 10 % of the file each" in out
    missed = "partial passes that write miss what a drive puts off"
    assert missed in out
    assert missed not in run(capsys, drive, *QUICK, "--partial", "10%", "--op", "read")[1]
    code, out, _ = run(capsys, drive, *QUICK, "--repetitions", "1")
    assert "nothing was repeated (--repetitions), so nobody knows how sure this is" in out


def test_a_full_profile_says_how_many_tests_are_not_known(drive, capsys) -> None:
    words = (drive, *QUICK, "--full", "--max-repetitions")
    few, many = (json.loads(run(capsys, *words, most, "--json")[1]) for most in ("6", "200"))
    # A spread of 20 % takes about a dozen repetitions.
    assert 0 < few["tests_not_known"] <= 4 * 7
    assert many["tests_not_known"] == 0
    expected = f"{few['tests_not_known']} of 28 tests are not known within 10 % after 6 repetitions"
    assert expected in run(capsys, *words, "6")[1]
    known = run(capsys, *words, "200")[1]
    assert "not known within" not in known
    asked = ("--optimization-cost", "1.1x")
    reached = "until its time was known within 10 % or --max-repetitions reached"
    assert reached in run(capsys, *words, "6", *asked)[1]
    assert reached not in run(capsys, *words, "200", *asked)[1]
    assert "* measured sequentially and at random; sequential over random throughput\n" in known
    assert "estimated at the others" in run(capsys, drive, *QUICK)[1]


def test_a_line_that_falls_below_0_is_reported(capsys) -> None:
    # Writes of nearly the disk's write cache take longer than the line of smaller ones.
    words = ("sim:spinpoint-m7", "--file-size", "400MiB", "--no-variability", "--repetitions", "1")
    code, out, _ = run(capsys, *words, "--points", "4")
    assert code == 0
    expected = "writes in order, 64 KiB to 4 MiB: the line of least squares falls to 0 or below"
    assert expected in out
    values = json.loads(run(capsys, *words, "--points", "4", "--json")[1])
    ends = {"low_bytes": 64 << 10, "high_bytes": 4 << 20}
    assert values["lines_through_ends"] == [{"direction": "write", "order": "sequential", **ends}]
    plain = json.loads(run(capsys, *words, "--points", "2", "--json")[1])
    assert plain["lines_through_ends"] == []


def test_everything_is_written_and_the_ratio_table_is_what_json_says(drive, capsys) -> None:
    code, out, _ = run(capsys, drive, *QUICK, "--out", "p", "--json", "--optimization-cost", "1.5")
    assert code == 0
    values = json.loads(out)
    assert sorted(values["files"]) == sorted(
        f"p/{path.name}" for path in Path("p").iterdir() if not path.name.startswith("run.")
    )
    assert json.loads(Path("p/profile.json").read_text()) == values
    rows = list(csv.DictReader(Path("p/ratios.csv").read_text().splitlines()))
    assert [int(row["request_bytes"]) for row in rows] == [
        one["request_bytes"] for one in values["ratios"]["read"]["sizes"]
    ]
    for row, one in zip(rows, values["ratios"]["write"]["sizes"], strict=True):
        assert float(row["write_ratio"]) == pytest.approx(one["ratio"], rel=1e-5)
    assert {one["answer"] for one in values["decisions"]} <= {"pays", "does not pay", "unsure"}
    assert len(values["decisions"]) == 2 * 3 * 7
    drawing = Path("p/profile.svg").read_bytes()
    run(capsys, drive, *QUICK, "--out", "q")
    assert Path("q/profile.svg").read_bytes() == drawing


@pytest.mark.parametrize(
    "auto", [("--half-width", "20%"), ("--points", "auto", "--half-width", "10%")]
)
def test_a_stopped_profile_goes_on_and_ends_as_if_it_had_not_stopped(
    auto, drive, capsys, monkeypatch
) -> None:
    words = (drive, *QUICK, "--repetitions", "auto", *auto, "--json")
    _, whole, _ = run(capsys, *words, "--out", "whole")
    measure = SimulatedDrive.measure

    def breaks(self, work, plan):
        for one in measure(self, work, plan):
            if one.index == 50:
                raise RunError("the drive went away")
            yield one

    monkeypatch.setattr(SimulatedDrive, "measure", breaks)
    code, _, error_text = run(capsys, *words, "--out", "p")
    assert code == 1
    assert (
        "the drive went away; 50 passes are saved in p; resume with: drivelab profile" in error_text
    )
    asked = []

    def counts(self, work, plan):
        asked.extend(index for index, _ in work)
        return measure(self, work, plan)

    monkeypatch.setattr(SimulatedDrive, "measure", counts)
    code, resumed, _ = run(capsys, *words, "--out", "p")
    assert code == 0
    assert min(asked) == 50
    first, second = json.loads(whole), json.loads(resumed)
    first.pop("files"), second.pop("files")
    assert first == second
    # Finished, nothing is measured again.
    asked.clear()
    run(capsys, *words, "--out", "p")
    assert asked == []


def test_several_drives_come_to_what_each_comes_to_alone(drive, capsys) -> None:
    text = Path("small.toml").read_text()
    Path("other.toml").write_text(
        text.replace("variability.sigma = 0.2", "variability.sigma = 0.1")
    )
    names = [drive, "sim:other.toml"]
    code, out, _ = run(capsys, *names, *QUICK, "--json", "--out", "both")
    assert code == 0
    both = json.loads(out)["profiles"]
    assert [each["drive"] for each in both] == names
    for name, values in zip(names, both, strict=True):
        alone = json.loads(run(capsys, name, *QUICK, "--json")[1])
        folder = f"both/{name.replace(':', '-').replace('.', '-')}"
        assert all(each.startswith(folder) for each in values.pop("files"))
        alone.pop("files")
        assert values == alone
    code, out, _ = run(capsys, *names, *QUICK, "--at-once", "1")
    assert code == 0
    assert [line for line in out.splitlines() if line.startswith("drive ")] == [
        f"drive         {name} (simulated)" for name in names
    ]


def test_one_of_several_drives_that_fails_is_reported_after_the_others(
    drive, capsys, monkeypatch
) -> None:
    Path("other.toml").write_text(Path("small.toml").read_text())
    measure = SimulatedDrive.measure

    def breaks(self, work, plan):
        if self.name == "sim:other.toml":
            raise RunError("the drive went away")
        return measure(self, work, plan)

    monkeypatch.setattr(SimulatedDrive, "measure", breaks)
    code, out, error_text = run(capsys, drive, "sim:other.toml", *QUICK, "--json")
    assert code == 1
    assert [each["drive"] for each in json.loads(out)["profiles"]] == [drive]
    assert error_text.splitlines()[-1] == "drivelab: sim:other.toml: the drive went away"
    assert run(capsys, drive, drive, *QUICK)[0] == 2


def test_a_made_file_stays_for_the_profile_that_goes_on(
    require_tool, drive_folder, tmp_path, capsys, monkeypatch
) -> None:
    require_tool("fio")
    file = drive_folder / "stays.bin"
    quick = ("--file-size", "1MiB", "--interval", "64KiB:256KiB:64KiB", "--repetitions", "1")
    words = (str(file), *quick, "--out", str(tmp_path / "p"), "--json")
    measure = FioDrive.measure

    def refuses(self, workload):
        raise UsageError("requests are too large")

    def breaks(self, work, plan):
        for one in measure(self, work, plan):
            if one.index == 3:
                raise RunError("the drive went away")
            yield one

    def stopped() -> str:
        with monkeypatch.context() as patched:
            patched.setattr(FioDrive, "measure", breaks)
            code, _, error_text = run(capsys, *words)
        assert code == 1
        return error_text

    said = (
        f"3 passes are saved in {tmp_path / 'p'}, and {file} stays until the profile is complete "
        f"(to remove it: rm {file} {file}.drivelab.json); resume"
    )
    assert said in stopped()
    assert file.exists()
    # A mistake does not take it away.
    assert run(capsys, *words, "--points", "3")[0] == 2
    assert file.exists()
    # Nor does a drive that is refused before the folder is opened.
    with monkeypatch.context() as patched:
        patched.setattr(FioDrive, "check", refuses)
        assert run(capsys, *words)[0] == 2
    assert file.exists()
    # Once more without the file: the passes are then of two.
    kept = [file, Path(f"{file}.drivelab.json")]
    for each in kept:
        each.replace(f"{each}.first")
    monkeypatch.setattr(FioDrive, "measure", measure)
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert json.loads(out)["has_new_file"] is True
    assert not file.exists()
    code, out, _ = run(capsys, str(file), *quick, "--out", str(tmp_path / "q"), "--json")
    assert json.loads(out)["has_new_file"] is False
    # Complete, it measures nothing on the file that is made again.
    code, out, _ = run(capsys, str(file), *quick, "--out", str(tmp_path / "q"), "--json")
    assert (code, json.loads(out)["has_new_file"], file.exists()) == (0, False, False)
    for each in kept:
        Path(f"{each}.first").unlink()


def test_real_drives_that_were_profiled_at_the_same_time_are_named(
    require_tool, drive_folder, tmp_path, capsys, monkeypatch
) -> None:
    require_tool("fio")
    files = [str(drive_folder / name) for name in ("one.bin", "other.bin")]
    # Both lie on one drive, which is refused; here they stand for two.
    monkeypatch.setattr(shared_device, "sharing_pair", lambda _: None)
    quick = ("--file-size", "1MiB", "--interval", "64KiB:256KiB:64KiB", "--repetitions", "1")
    words = (*files, *quick, "--out", str(tmp_path / "p"))
    code, out, _ = run(capsys, *words, "--at-once", "2", "--json")
    assert code == 0
    assert [each["beside"] for each in json.loads(out)["profiles"]] == [[files[1]], [files[0]]]
    # Nothing is measured again, and the drives next to the passes stay listed.
    code, out, _ = run(capsys, *words, "--at-once", "1")
    assert f"{files[1]} ran at the same time" in out
    code, out, _ = run(capsys, files[0], *quick, "--out", str(tmp_path / "q"), "--json")
    assert (code, json.loads(out)["beside"]) == (0, [])


def test_a_refused_profile_does_not_stand_in_the_way(drive, tmp_path, capsys) -> None:
    out = ("--out", str(tmp_path / "p"), "--json")
    code, _, error_text = run(capsys, drive, *QUICK, "--file-size", "1TiB", *out)
    assert (code, len(error_text.splitlines())) == (2, 1)
    assert run(capsys, drive, *QUICK, *out)[0] == 0
    # With passes it is that profile, and what differs is to be seen.
    other = ("--interval", "4KiB:16KiB:4KiB", "--interval", "16KiB:64KiB:8KiB")
    code, _, error_text = run(capsys, drive, "--file-size", "1MiB", *other, *out)
    assert code == 2
    was, now = (part.split("...")[1] for part in error_text.split(" before, "))
    assert ('"gap_bytes": 16384' in was, '"gap_bytes": 8192' in now) == (True, True)


def test_a_profile_goes_on_with_another_half_width(drive, tmp_path, capsys) -> None:
    auto = ("--points", "auto", "--repetitions", "auto", "--max-repetitions", "60")
    words = (drive, *QUICK, *auto, "--out", str(tmp_path / "p"), "--json", "--half-width")
    passes = []
    for half_width in ("20%", "10%", "20%"):
        code, out, _ = run(capsys, *words, half_width)
        assert code == 0
        answer = json.loads(out)
        assert answer["plan"]["half_width_ratio"] == float(half_width[:-1]) / 100
        passes.append(answer["passes"])
    assert passes[0] < passes[1]
    assert passes[2] in (passes[0], passes[1])


def test_a_damaged_profile_is_not_to_be_gone_on_with(drive, tmp_path, capsys) -> None:
    words = (drive, *QUICK, "--out", str(tmp_path / "p"))
    assert run(capsys, *words)[0] == 0
    with sqlite3.connect(tmp_path / "p" / "run.sqlite") as database:
        database.execute("UPDATE measurement SET value = '{}' WHERE position = 3")
    code, _, error_text = run(capsys, *words)
    assert code == 1
    assert "move the folder away and measure again" in error_text
    assert "resume with" not in error_text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ('"duration_ns": "long"', "pass 3 is none: its duration is 'long' ns"),
        ('"duration_ns": Infinity', "pass 3 is none: its duration is inf ns"),
        ('"duration_ns": -5', "pass 3 is none: its duration is -5 ns"),
        ('"duration_ns": 0', "pass 3 is none: its duration is 0 ns"),
        ('"duration_ns": true', "pass 3 is none: its duration is True ns"),
        ('"duration_ns": 1e40', "pass 3 is none: its duration is 1e+40 ns"),
        (f'"duration_ns": {10**40}', "pass 3 is none: its duration is 1000"),
        (f'"duration_ns": {"9" * 5000}', "a value is not JSON"),
        ('"variability_factor": NaN', "pass 3 is none: its variability factor is nan"),
        ('"variability_factor": -1.0', "pass 3 is none: its variability factor is -1.0"),
        ('"variability_factor": "1"', "pass 3 is none: its variability factor is '1'"),
        ('"marks_ns": "abc"', "pass 3 is none: its marks do not rise"),
        ('"marks_ns": [2, 1]', "pass 3 is none: its marks do not rise"),
        ('"marks_ns": [-1]', "pass 3 is none: its marks do not rise"),
        (f'"marks_ns": [{1 << 62}]', "pass 3 is none: its marks do not rise"),
        ('"marks_ns": 3', "pass 3 says something else"),
        ('"requests_per_mark": 0', "pass 3 is none: its marks are of 0 requests each"),
        ('"requests_per_mark": 1e9', "pass 3 is none: its marks are of 1000000000.0 requests"),
        (f'"requests_per_mark": {1 << 40}', "pass 3 is none: its marks are of 10995"),
        ('"index": -1', "pass 3 is none"),
        ('"whole_pass": {"is_random": "no"}', "pass 3 is none: is_random is 'no'"),
        ('"whole_pass": {"direction": "erase"}', "pass 3 is none"),
        ('"whole_pass": {"request_bytes": 1000}', "pass 3 is none"),
        ('"whole_pass": {"request_bytes": 0}', "pass 3 is none"),
        ('"whole_pass": {"file_bytes": 1e40}', "pass 3 is none: file_bytes is 1e+40"),
        ('"whole_pass": {"start_bytes": -512}', "pass 3 is none"),
        ('"whole_pass": 3', "pass 3 says something else"),
    ],
)
def test_a_pass_that_no_drive_could_take_is_damage(
    changes, said, measured, tmp_path, capsys
) -> None:
    path = tmp_path / "p"
    shutil.copytree(measured / "p", path)
    with sqlite3.connect(path / "run.sqlite") as database:
        rows = database.execute("SELECT value FROM measurement WHERE position = 3")
        (text,) = rows.fetchone()
        key, _, inside = changes.partition(": {")
        if inside:
            changes = f"{key}: {json.dumps(json.loads(text)['whole_pass'])[:-1]}, {inside}"
        # Of two values of a key the last one is read.
        text = f"{text[:-1]}, {changes}}}"
        database.execute(
            "UPDATE measurement SET value = ?, checksum = ? WHERE position = 3",
            (text, zlib.crc32(f"3 {text}".encode())),
        )
    database.close()
    code, _, error_text = run(capsys, f"sim:{measured / 'small.toml'}", *QUICK, "--out", str(path))
    assert code == 1
    assert f"run.sqlite is damaged ({said}" in error_text
    assert "move the folder away and measure again" in error_text
    assert error_text.count("\n") == 1
    assert len(error_text) < 400


@pytest.mark.parametrize("fails", ["measure", "store"])
def test_a_stop_before_the_first_result_also_says_how_to_resume(
    drive, capsys, monkeypatch, fails
) -> None:
    def full(*_args, **_words):
        raise RunError("cannot write p: No space left on device; free some space")

    if fails == "store":
        monkeypatch.setattr(RunStore, "open_to_append", full)
    else:
        monkeypatch.setattr(SimulatedDrive, "measure", full)
    code, _, error_text = run(capsys, drive, *QUICK, "--out", "p")
    assert code == 1
    assert "free some space; " in error_text
    assert f"resume with: drivelab profile {drive} " in error_text
    assert error_text.count("\n") == 1


@pytest.mark.parametrize(
    ("cost", "said", "keys"),
    [
        ("50us", "an optimisation that adds 50.0 us to each request:", (50_000, None)),
        ("3x", "an optimisation that has to make requests 3x as fast:", (None, 3)),
    ],
)
def test_answers_say_what_was_asked_on_lines_of_a_terminal(drive, capsys, cost, said, keys) -> None:
    words = (drive, *QUICK, "--optimization-cost", cost)
    _, out, _ = run(capsys, *words)
    lines = out.splitlines()
    answers = lines[lines.index(said) + 1 :]
    assert len(answers) >= 6
    assert max(map(len, answers)) <= 85
    unsure = [line for line in answers if line.startswith("unsure: ")]
    if unsure:
        assert answers[-2:] == [*unsure, "  more --points or --repetitions make it narrower"]
        answers = answers[:-2]
    assert bool(unsure) == any("unsure" in line for line in answers)
    assert all("from" in line or "at " in line for line in answers)
    _, out, _ = run(capsys, *words, "--json")
    values = json.loads(out)
    assert (values["optimization_cost_ns"], values["optimization_ratio"]) == keys


def test_answers_to_a_question_that_is_not_asked_any_more_do_not_stay(drive, capsys) -> None:
    run(capsys, drive, *QUICK, "--out", "p", "--optimization-cost", "2x")
    assert Path("p/decisions.csv").exists()
    run(capsys, drive, *QUICK, "--out", "p")
    assert not Path("p/decisions.csv").exists()


def test_where_nothing_was_repeated_no_answer_is_sure(drive, capsys) -> None:
    words = (drive, *QUICK, "--repetitions", "1", "--optimization-cost", "1.2x")
    _, out, _ = run(capsys, *words)
    assert out.rstrip().endswith("unsure because nothing was repeated")
    auto = (drive, *QUICK, "--points", "auto", "--repetitions", "1")
    _, out, _ = run(capsys, *auto)
    assert "instead of" not in out
    assert "less sure than asked" not in out
    assert "nothing was repeated (--repetitions)" in out
    short = ("--repetitions", "auto", "--max-time", "1us", "--optimization-cost", "1.2x")
    _, out, _ = run(capsys, drive, *QUICK, "--points", "auto", *short)
    assert "nothing was repeated (--max-time left no time for it)" in out


def test_another_cost_in_the_same_folder_goes_on_from_all_that_is_there(drive, capsys) -> None:
    words = (drive, *QUICK, "--points", "auto", "--repetitions", "auto", "--half-width", "8%")
    words = (*words, "--json", "--out", "p")
    result = [
        json.loads(run(capsys, *words, *more)[1])
        for more in ((), ("--optimization-cost", "1.05"), ("--optimization-cost", "1.2"))
    ]
    passes = [values["passes"] for values in result]
    assert passes[0] < passes[1] <= passes[2]
    assert result[2]["measuring_ns"] >= result[1]["measuring_ns"] > result[0]["measuring_ns"]
    # In its own folder it needs fewer, because answers for another cost help it little.
    alone = json.loads(run(capsys, *words[:-1], "q", "--optimization-cost", "1.2")[1])
    assert alone["passes"] <= passes[2]


def test_another_profile_or_drive_is_refused_in_the_same_folder(drive, capsys) -> None:
    run(capsys, drive, *QUICK, "--out", "p")
    code, _, error_text = run(capsys, drive, *QUICK, "--out", "p", "--points", "3")
    assert code == 2
    assert "points: 2 before, 3 now" in error_text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--interval", "4KiB:8KiB"], "not an interval; write LOW:HIGH:GAP"),
        (["--interval", "4KiB:9KiB:2KiB"], "a gap that divides 5 KiB"),
        (["--points", "1"], "takes auto or a whole number from 2"),
        (["--points", "99"], "from 2 to the interval's 8 sizes"),
        (["--repetitions", "many"], "takes auto or a whole number from 1"),
        (["--half-width", "5%"], "--half-width is for --points auto or --repetitions auto"),
        (["--max-time", "10m"], "--max-time is for --points auto or --repetitions auto"),
        (["--max-time", "0s", "--points", "auto"], "allowed: more than 0"),
        (["--full", "--points", "3"], "--points has no effect with --full"),
        (["--file-size", "1MiB"], "at least the largest request, 4 MiB"),
        (["--partial", "0"], "between 0 and 100 %"),
        (["--optimization-cost", "cheap!"], "a time for each request with its unit"),
        (["--optimization-cost", "50"], "50us, or 50x for the ratio"),
        (["--optimization-cost", "0"], "not a ratio that an optimisation needs"),
        (["--optimization-cost", "0.99x"], "allowed: from 1x"),
        (["--keep"], "--keep has no effect on"),
        (["--file-size", "100GiB"], "allowed: at most the drive's"),
    ],
)
def test_mistakes_are_one_line_that_says_what_is_allowed(drive, capsys, words, said) -> None:
    code, out, error_text = run(capsys, drive, *words)
    assert (code, out, error_text.count("\n")) == (2, "", 1)
    assert said in error_text


def test_a_formula_has_no_files(capsys) -> None:
    code, _, error_text = run(capsys, "analytic:x25m-yoo2014")
    assert code == 2
    assert "is a formula and cannot contain a file" in error_text


def test_writes_that_will_be_refused_are_refused_before_anything_is_read(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.bin").write_bytes(b"mine" * 2**20)
    code, _, err = run(capsys, "./mine.bin", *QUICK, "--out", "profile")
    assert code == 2
    assert "--allow-destructive=" in err
    # So that the next try finds no folder of this one.
    assert not Path("profile").exists()
    assert Path("mine.bin").read_bytes() == b"mine" * 2**20
