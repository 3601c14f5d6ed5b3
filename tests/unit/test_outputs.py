"""Nothing that exists is replaced unasked, whichever command writes it."""

from __future__ import annotations

import os
import shutil
import threading
from argparse import Namespace
from functools import partial
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.cli.outputs import answer_to
from drivelab.errors import UsageError
from drivelab.outputs import Output, OutputFolder, check_outputs, whole_output, write_output
from drivelab.reproduce import papers, yoo2014
from drivelab.workloads.characteristics import FIELDS

pytestmark = pytest.mark.usefixtures("models_in_outline")

RUN = ["model", "sim:x25m", "--design", "huang2011:12", "--requests", "50", "--check", "0"]
RUN += ["--writes", "burst"]
SIMULATE = ["simulate", "sim:x25m", "--interval", "1ms", "--requests", "500"]
SMALL = f"sim:{Path(__file__).parents[1] / 'small_drive.toml'}"
REQUEST = ["timeline", "sim:x25m-yoo2014", "--op", "read", "--record", "4KiB"]
SCENARIO = """
summary = "one stream"
[[stream]]
name = "a"
[stream.closed]
queue_depth = 1
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("measured") / "run"
    assert cli.main([*RUN, "--out", str(path)]) == 0
    return path


@pytest.fixture
def run(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a copy of a run, marks and all, in the folder where commands are started."""
    monkeypatch.chdir(tmp_path)
    # What programs see of a served drive is never the same twice.
    unserved = partial(yoo2014.reproduce, is_served=False)
    monkeypatch.setitem(papers.PAPERS, "yoo2014", lambda _: unserved())
    path = tmp_path / "run"
    shutil.copytree(measured, path)
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run what has to be refused; give the line that says why."""
    capsys.readouterr()
    assert cli.main(list(words)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def ask(path: Path) -> None:
    path.write_text(f"{','.join(FIELDS)}\n0,4,4096,4096,1,1,0,0\n0.5,1,8192,4096,1,0,0,0\n")


# Each writes one file of a name that is its last word.
COMMANDS = {
    "time series": [*SIMULATE, "--csv", "made.csv"],
    "log": [*SIMULATE, "--log", "made.parquet"],
    "state": [*SIMULATE, "--save-state", "made.state"],
    "timeline": [*REQUEST, "-o", "made.svg"],
    "stages": [*REQUEST, "--csv", "made.csv"],
    "answers": ["predict", "run", "--file", "asked.csv", "--out", "made.csv"],
    "export": ["runs", "export", "run", "--csv", "made.csv"],
    "parquet": ["runs", "export", "run", "--parquet", "made.parquet"],
    "preset": ["drives", "new", "made.toml"],
    "report": ["report", "run", "--out", "made"],
    "comparison": ["report", "run", "other", "--out", "made"],
    "reproduction": ["reproduce", "yoo2014", "--out", "made"],
}
FOLDERS = {
    "report": "report.html",
    "comparison": "data/sweeps.csv",
    "reproduction": "claims.csv",
}


@pytest.fixture
def ready(run: Path, tmp_path: Path) -> Path:
    ask(tmp_path / "asked.csv")
    shutil.copytree(run, tmp_path / "other")
    return tmp_path


def written_by(name: str) -> Path:
    return Path(COMMANDS[name][-1]) / FOLDERS.get(name, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_replaces_what_it_wrote_and_nothing_else(
    ready: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    words, made = COMMANDS[name], written_by(name)
    assert cli.main(words) in (0, 1)
    assert made.is_file(), sorted(made.parent.iterdir())
    first = made.read_bytes()
    assert cli.main(words) in (0, 1)
    assert made.read_bytes() == first
    for mine in (first + b"# and what I noted there", b"my work"):
        made.write_bytes(mine)
        line = refused(capsys, *words)
        assert f"{made} was changed since Drivelab wrote it" in line or (
            f"{made} exists, and nothing shows that Drivelab wrote it" in line
        )
        assert "--force" in line
        assert made.read_bytes() == mine
    made.unlink()
    made.write_bytes(b"my work")
    assert f"{made} exists, and nothing shows that Drivelab wrote it; name another" in refused(
        capsys, *words
    )
    assert made.read_bytes() == b"my work"
    assert cli.main([*words, "--force"]) in (0, 1)
    assert made.read_bytes() == first


@pytest.mark.parametrize("name", ["time series", "log", "state", "timeline"])
def test_the_answer_to_another_question_is_kept(
    ready: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    words = COMMANDS[name]
    assert cli.main(words) == 0
    before = written_by(name).read_bytes()
    other = [word.replace("500", "600").replace("4KiB", "8KiB") for word in words]
    line = refused(capsys, *other)
    assert f"{words[-1]} exists: " in line
    assert f"`drivelab {' '.join(words[:-2])}` in {ready}" in line
    assert written_by(name).read_bytes() == before
    assert cli.main([*other, "--force", "--json"]) == 0


def test_exports_of_another_run_are_kept(ready: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*RUN, "--seed", "1", "--out", "third"]) == 0
    assert cli.main(["runs", "export", "run", "--csv", "made.csv"]) == 0
    before = Path("made.csv").read_bytes()
    line = refused(capsys, "runs", "export", "third", "--csv", "made.csv")
    assert "made.csv exists: measurements of the run of sim:x25m begun 20" in line
    assert Path("made.csv").read_bytes() == before
    assert cli.main(["report", "run", "--out", "made"]) == 0
    page = Path("made/report.html").read_bytes()
    assert "made/report.html exists: report of the run" in refused(
        capsys, "report", "third", "--out", "made"
    )
    assert Path("made/report.html").read_bytes() == page
    # It moved, and is the same run.
    Path("run").rename("moved")
    assert cli.main(["runs", "export", "moved", "--csv", "made.csv"]) == 0


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "words",
    [
        ["predict", "other", "--file", "asked.csv", "--out", "run/run.sqlite"],
        ["predict", "other", "--file", "asked.csv", "--out", "run/model.json"],
        ["predict", "other", "--file", "asked.csv", "--out", "run/run.sqlite-wal"],
        ["runs", "export", "other", "--csv", "run/run.sqlite"],
        ["runs", "export", "run", "--csv", "run/run.sqlite"],
        ["runs", "export", "run", "--csv", "link.csv"],
        ["runs", "export", "run", "--parquet", "run/run.lock"],
        ["runs", "export", "run", "--csv", "run/notes.csv"],
        [*SIMULATE, "--csv", "run/notes.csv"],
        ["report", "run", "--out", "other"],
        ["report", "run", "other", "--out", "run"],
    ],
)
def test_what_a_run_keeps_is_never_replaced(
    ready: Path, capsys: pytest.CaptureFixture[str], words: list[str], force: list[str]
) -> None:
    Path("run/notes.csv").write_text("mine")
    Path("link.csv").symlink_to("run/run.sqlite")
    before = contents(ready)
    line = refused(capsys, *words, *force)
    assert "belongs to the run" in line or "has its own report" in line
    assert contents(ready) == before


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_what_a_command_reads_is_never_replaced(
    ready: Path, capsys: pytest.CaptureFixture[str], force: list[str]
) -> None:
    Path("scenario.csv").write_text(SCENARIO)
    assert cli.main(["drives", "new", "mine.toml"]) == 0
    assert cli.main([*SIMULATE, "--save-state", "a.state"]) == 0
    shutil.copy("run/model.json", "model.csv")
    before = contents(ready)
    simulate = ["simulate", "sim:x25m", "--requests", "500", "--interval", "1ms"]
    for words in (
        [*simulate, "--scenario", "scenario.csv", "--csv", "scenario.csv"],
        ["predict", "run", "--file", "asked.csv", "--out", "asked.csv"],
        ["predict", "model.csv", "--file", "asked.csv", "--out", "model.csv"],
        ["drives", "new", "mine.toml", "--like", "mine.toml"],
    ):
        assert "is read by this command" in refused(capsys, *words, *force)
    assert contents(ready) == before


def test_a_report_in_its_own_run_is_replaced_unless_somebody_changed_it(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", "run"]) == 0
    page = run / "report.html"
    page.write_bytes(page.read_bytes() + b"<!-- my notes -->")
    noted = page.read_bytes()
    assert "report.html was changed since Drivelab wrote it; move it elsewhere" in refused(
        capsys, "report", "run"
    )
    assert page.read_bytes() == noted
    page.rename(run.parent / "noted.html")
    assert cli.main(["report", "run"]) == 0
    # An archive of the run leaves the marks out.
    for path in contents(run):
        for mark in os.listxattr(path):
            os.removexattr(path, mark)
    assert cli.main(["report", "run"]) == 0
    assert cli.main([*RUN, "--out", "run"]) == 0


def test_where_no_marks_are_kept_everything_is_anybodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", unsupported)
    monkeypatch.setattr(os, "getxattr", unsupported)
    output = Output(tmp_path / "a.csv", "table", "a test")
    write_output(output, "1\n")
    with pytest.raises(UsageError, match="nothing shows that Drivelab wrote it"):
        write_output(output, "2\n")
    write_output(output, "3\n", force=True)
    assert output.path.read_text() == "3\n"


@pytest.mark.parametrize("mark", [b"{", b"[" * 60_000, b"[1]", b'{"kind": 1}', b"\xff"])
def test_a_mark_that_says_nothing_is_none(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_text("mine")
    try:
        os.setxattr(path, "user.drivelab.output", mark)
    except OSError:
        # Longer than this file system keeps.
        os.setxattr(path, "user.drivelab.output", mark[:500])
    with pytest.raises(UsageError, match="nothing shows that Drivelab wrote it"):
        check_outputs([Output(path, "table", "a test")])


@pytest.mark.parametrize("of", ["x" * 10_000, "\N{SNOWMAN}" * 499, "\udcff" * 499])
def test_whatever_it_is_of_is_known_again(tmp_path: Path, of: str) -> None:
    output = Output(tmp_path / "a.csv", "table", of)
    write_output(output, "1\n")
    write_output(output, "2\n")
    assert output.path.read_text() == "2\n"
    with pytest.raises(UsageError, match="exists: table of"):
        write_output(Output(output.path, "table", f"{of}y"), "3\n")


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_comes_while_the_work_goes_on(tmp_path: Path, *, force: bool) -> None:
    output = Output(tmp_path / "a.csv", "table", "a test")

    def work() -> None:
        with whole_output(output, force=force) as file:
            file.write(b"ours")
            output.path.write_text("mine")

    if force:
        work()
        assert output.path.read_text() == "ours"
        return
    with pytest.raises(UsageError, match="written by another meanwhile"):
        work()
    assert output.path.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_file_that_changes_while_the_work_goes_on(tmp_path: Path) -> None:
    output = Output(tmp_path / "a.csv", "table", "a test")
    write_output(output, "first")

    def work() -> None:
        with whole_output(output) as file:
            file.write(b"second")
            output.path.write_text("mine")

    with pytest.raises(UsageError, match="written by another meanwhile"):
        work()
    assert output.path.read_text() == "mine"


def test_of_many_at_once_one_is_written(tmp_path: Path) -> None:
    wrote, lost = [], []

    def one(number: int) -> None:
        try:
            write_output(Output(tmp_path / "a.csv", "table", f"{number}"), f"{number}")
            wrote.append(number)
        except UsageError:
            lost.append(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrote) == 1
    assert len(lost) == 15
    assert (tmp_path / "a.csv").read_text() == f"{wrote[0]}"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_two_outputs_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    outputs = [Output(tmp_path / name, "table", "a test") for name in ("a.csv", "link.csv")]
    with pytest.raises(UsageError, match="is named for two files"):
        check_outputs(outputs)


def test_a_hard_link_keeps_what_it_had(tmp_path: Path) -> None:
    output = Output(tmp_path / "a.csv", "table", "a test")
    write_output(output, "first")
    (tmp_path / "kept.csv").hardlink_to(output.path)
    # Its change time moved, its bytes did not.
    write_output(output, "second")
    assert (tmp_path / "kept.csv").read_text() == "first"
    assert output.path.read_text() == "second"


def test_tables_of_somebody_elses_are_not_removed(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path, "a test")
    folder.write("made.csv", "table", "1")
    (tmp_path / "mine.csv").write_text("mine")
    for name in ("made.csv", "mine.csv", "missing.csv"):
        folder.remove(name, "table")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]


@pytest.mark.parametrize(
    "name", ["report.html", "measurements.csv", "model.json", "data/accuracy.csv", "data"]
)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_link_in_a_run_never_leads_out_of_it(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, force: list[str]
) -> None:
    """A run's folder may come from anybody: it held a link to a user's file, which was replaced."""
    mine = tmp_path / "mine"
    if name == "data":
        mine.mkdir()
        (mine / "index.txt").write_text("secret.csv\n")
        (mine / "secret.csv").write_text("secret")
        shutil.rmtree(run / name)
    else:
        mine.write_text("my work")
        (run / name).unlink()
    (run / name).symlink_to(mine)
    before = contents(tmp_path / "mine") if name == "data" else mine.read_bytes()
    assert "is a link out of the run" in refused(capsys, "report", "run", *force)
    after = contents(tmp_path / "mine") if name == "data" else mine.read_bytes()
    assert after == before


def test_a_run_that_somebody_changed_is_refused_before_the_work(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    csv, model = run / "measurements.csv", run / "model.json"
    csv.write_text(csv.read_text() + "my notes\n")
    noted, model_was = csv.read_text(), model.stat().st_mtime_ns
    for words in (["report", "run"], ["report", "run", "--out", "made"], [*RUN, "--out", "run"]):
        assert "measurements.csv was changed since Drivelab wrote it" in refused(capsys, *words)
    assert csv.read_text() == noted
    assert model.stat().st_mtime_ns == model_was
    assert not Path("made").exists()
    assert cli.main(["report", "run", "--force"]) == 0
    assert csv.read_text() != noted


@pytest.mark.parametrize("way", ["pts run", "pts report", "profile", "reproduce"])
def test_other_folders_are_refused_before_the_work_too(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    way: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    words, changed = {
        "pts run": (
            ["pts", "run", "iops", SMALL, "--scale", "0.001", "--out", "made"],
            "result.json",
        ),
        "profile": (["profile", SMALL, "--file-size", "4MiB", "--out", "made"], "passes.csv"),
        "reproduce": (["reproduce", "yoo2014", "--out", "made"], "claims.csv"),
    }[way if way != "pts report" else "pts run"]
    assert cli.main(words) in (0, 1)
    if way == "pts report":
        words = ["pts", "report", "made"]
    path = Path("made") / changed
    path.write_bytes(path.read_bytes() + b"my notes")
    before = {one: one.stat().st_mtime_ns for one in contents(Path("made"))}
    assert f"{path} was changed since Drivelab wrote it" in refused(capsys, *words)
    kept = {one for one in before if one.suffix in (".csv", ".json", ".html", ".svg")}
    assert {one: one.stat().st_mtime_ns for one in kept} == {one: before[one] for one in kept}


def test_answers_to_standard_input_are_never_the_same_again(
    ready: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["predict", "run", "--file", "-", "--out", "made.csv"]
    for code, more in ((0, []), (2, []), (0, ["--force"])):
        with Path("asked.csv").open() as asked:
            monkeypatch.setattr("sys.stdin", asked)
            assert cli.main([*words, *more]) == code


def test_a_state_is_lost_only_with_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        "simulate",
        SMALL,
        "--requests",
        "200",
        "--write-ratio",
        "1",
        "--save-state",
        "a.state",
    ]
    assert cli.main(words) == 0
    again = [*words, "--from-state", "a.state"]
    for _ in range(2):
        assert cli.main([*again, "--force"]) == 0
        before = Path("a.state").read_bytes()
        assert "is the state that the run starts from" in refused(capsys, *again)
        assert Path("a.state").read_bytes() == before


@pytest.mark.parametrize("name", ["model.json", "power.csv", "run.lock", "run.sqlite-shm"])
def test_names_that_a_run_keeps_are_refused_where_nothing_is_yet(
    ready: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (ready / "run" / name).unlink(missing_ok=True)
    words = ["runs", "export", "other", "--csv", f"run/{name}", "--force"]
    assert "belongs to the run" in refused(capsys, *words)
    assert not (ready / "run" / name).exists()


def test_a_loop_of_links_is_reported_by_the_system(
    ready: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("one.csv").symlink_to("two.csv")
    Path("two.csv").symlink_to("one.csv")
    for words in (
        [*SIMULATE, "--csv", "one.csv"],
        ["runs", "export", "run", "--csv", "one.csv"],
        ["predict", "run", "--file", "asked.csv", "--out", "one.csv"],
    ):
        assert "Too many levels of symbolic links" in refused(capsys, *words)


def test_rights_stay_and_a_read_only_file_too(tmp_path: Path) -> None:
    output = Output(tmp_path / "a.csv", "table", "a test")
    write_output(output, "first")
    assert output.path.stat().st_mode & 0o777 == 0o644
    output.path.chmod(0o600)
    write_output(output, "second")
    assert output.path.stat().st_mode & 0o777 == 0o600
    output.path.chmod(0o400)
    with pytest.raises(UsageError, match="exists and is read-only"):
        write_output(output, "third")
    assert output.path.read_text() == "second"
    write_output(output, "fourth", force=True)
    assert output.path.read_text() == "fourth"


def test_the_longest_name_that_there_can_be(tmp_path: Path) -> None:
    for name in ("x" * 255, "\N{SNOWMAN}" * 85):
        write_output(Output(tmp_path / name, "table", "a test"), "1")
        assert (tmp_path / name).read_text() == "1"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("simulate d --requests 5 --seed 1", "simulate d --seed 1 --requests=5", True),
        ("simulate d --requests 5 --csv a", "simulate d --requests 5 --json --force", True),
        ("timeline d -o a.svg", "timeline d -oa.svg", True),
        ("simulate --json d", "simulate d", True),
        ("simulate --json d", "simulate --json e", False),
        ("simulate --csv a d", "simulate --csv a e", False),
        ("simulate d --seed 1", "simulate d --seed 2", False),
        ("simulate d --requests 5 --seed 1", "simulate d --requests 1 --seed 5", False),
    ],
)
def test_which_command_lines_ask_the_same(one: str, other: str, *, same: bool) -> None:
    asked = [
        answer_to(Namespace(command=f"drivelab {words}"), "table", Path("a")).of
        for words in (one, other)
    ]
    assert (asked[0] == asked[1]) == same


def test_removing_a_run_keeps_what_somebody_changed(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "report.html").write_text("my notes")
    assert "contains report.html" in refused(capsys, "runs", "remove", "run", "--yes")
    assert (run / "report.html").read_text() == "my notes"
