"""`drivelab runs`: listed, shown, exported completely and read back, removed with care."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import sqlite3
import sys
from pathlib import Path

import duckdb
import pytest
from fake_drive import FakeDrive, workloads
from fake_test_run import run_fake

from drivelab._core import histogram_bin, histogram_range, parquet_table
from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.header import stored_header
from drivelab.campaign.stored import stored_measurements
from drivelab.cli import main as cli
from drivelab.cli import terminal
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import RunError, UsageError
from drivelab.profile.kind import PROFILE
from drivelab.pts.class_file import load_class
from drivelab.pts.journal import read_record
from drivelab.runs.same_run import refuse_other_run
from drivelab.store import RunStore
from drivelab.workloads.characteristics import FIELDS
from drivelab.workloads.parts import Parts

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

COMMAND = "import sys; from drivelab.cli.main import main; sys.exit(main())"
SMALL_DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"


def make_run(path: Path, kind: str = "simulated", fail_at: tuple[int, ...] = ()) -> Path:
    failures = {index: RunError(f"fio died at {index}") for index in fail_at}
    run_campaign(
        FakeDrive(kind, fail_at=failures),
        workloads(20),
        MeasurementPlan(requests=10),
        path,
        design_name="fake:20",
        parts=Parts(15, 5),
        population="twenty of them",
        progress=False,
        on_failure="continue",
        command="drivelab model fake --out here",
    ).close()
    return path


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert cli.main(["runs", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def text(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["runs", *words]) == 0
    return capsys.readouterr().out


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = cli.main(["runs", *words])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith("drivelab: ")
    return code, captured.err.splitlines()[-1]


# --- list --------------------------------------------------------------------------------


def test_no_runs_yet(capsys) -> None:
    assert answer(capsys, "list") == {"folder": "runs", "runs": []}
    assert text(capsys, "list") == "no runs in runs; `drivelab model` makes them\n"
    assert refusal(capsys, "list", "nowhere") == (
        2,
        "drivelab: nowhere does not exist; name a folder with runs",
    )


def test_list_shows_the_state_of_each_run(capsys) -> None:
    make_run(Path("runs/complete"))
    make_run(Path("runs/deep/down/failed"), kind="real", fail_at=(3, 17))
    damaged = make_run(Path("runs/damaged"))
    (damaged / "run.sqlite").write_bytes(b"rubbish" * 1000)
    newer = make_run(Path("runs/newer"))
    with sqlite3.connect(newer / "run.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    Path("runs/no run").mkdir()
    found = {one["run"]: one for one in answer(capsys, "list")["runs"]}
    assert list(found) == ["runs/complete", "runs/damaged", "runs/deep/down/failed", "runs/newer"]
    complete, failed = found["runs/complete"], found["runs/deep/down/failed"]
    assert complete["state"] == "complete"
    assert (complete["drive"], complete["kind"]) == ("fake:simulated", "simulated")
    assert (complete["design"], complete["seed"]) == ("fake:20", 0)
    assert (complete["planned"], complete["measured"], complete["failed"]) == (20, 20, 0)
    sizes = [path.stat().st_size for path in Path("runs/complete").iterdir()]
    assert complete["size_bytes"] == sum(sizes)
    assert (failed["state"], failed["measured"], failed["failed"]) == ("incomplete", 18, 2)
    assert found["runs/damaged"]["state"] == "damaged"
    assert "is damaged" in found["runs/damaged"]["problem"]
    assert found["runs/newer"]["state"] == "unreadable"
    assert "newer Drivelab" in found["runs/newer"]["problem"]
    lines = text(capsys, "list", "runs").splitlines()
    assert lines[0].split() == [
        "run",
        "drive",
        "design",
        "measured",
        "failed",
        "started",
        "size",
        "state",
    ]
    assert lines[1].split()[:5] == ["runs/complete", "fake:simulated", "fake:20", "20", "of"]
    assert [line.split()[-1] for line in lines[1:5]] == [
        *("complete", "damaged", "incomplete", "unreadable"),
    ]
    # A run itself can be named.
    assert len(answer(capsys, "list", "runs/complete")["runs"]) == 1


def test_list_fits_a_narrow_terminal(capsys, monkeypatch) -> None:
    make_run(Path("runs/complete"))
    make_run(Path("runs/failed"), kind="real", fail_at=(3, 17))
    monkeypatch.setattr(terminal.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    lines = text(capsys, "list", "runs").splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[0].startswith("runs/complete  fake:simulated, fake:20, complete,")
    assert "18 of 20, 2 failed" in " ".join(" ".join(lines).split())


def test_list_shows_a_run_that_is_being_measured(capsys) -> None:
    run = make_run(Path("runs/a"))
    with (run / "run.lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert answer(capsys, "list")["runs"][0]["state"] == "measuring"
    assert answer(capsys, "list")["runs"][0]["state"] == "complete"


# --- show --------------------------------------------------------------------------------


def test_show_prints_everything(capsys) -> None:
    run = make_run(Path("run"), kind="real", fail_at=(3, 17))
    make_run(run, kind="real", fail_at=(17,))
    shown = answer(capsys, "show", "run")
    assert shown["identity"] == {"model": "fake"}
    assert shown["workloads"]["parts"]["calibration"] == 5
    assert shown["workloads"]["population"] == "twenty of them"
    assert shown["plan"]["requests"] == 10
    assert [one["message"] for one in shown["failures"]] == ["fio died at 17"]
    assert len(shown["starts"]) == 2
    for start in shown["starts"]:
        assert start["command"] == "drivelab model fake --out here"
        assert {"host", "system", "processor", "python_version", "started_at"} <= start.keys()
    lines = text(capsys, "show", "run")
    assert "measured    19 of 20" in lines
    assert "parts       15 training, 5 calibration" in lines
    assert "command     drivelab model fake --out here" in lines
    assert "resumed     " in lines
    assert "\nplan        After 2,000 requests of warm-up, 10 requests\n" in lines
    assert lines.splitlines()[-2].endswith("  4.5 KiB random reads, queue depth 18  fio died at 17")


# --- export ------------------------------------------------------------------------------


def test_csv_is_that_of_the_run(capsys) -> None:
    run = make_run(Path("run"))
    assert text(capsys, "export", "run", "--csv", "deep/out.csv") == (
        "wrote deep/out.csv: 20 rows\n"
    )
    assert Path("deep/out.csv").read_bytes() == (run / "measurements.csv").read_bytes()


def test_a_table_goes_to_standard_output(capfdbinary) -> None:
    run = make_run(Path("run"))
    assert cli.main(["runs", "export", "run", "--csv", "-", "--parquet", "a.parquet"]) == 0
    captured = capfdbinary.readouterr()
    assert captured.out == (run / "measurements.csv").read_bytes()
    assert captured.err.splitlines() == [
        b"drivelab: wrote to standard output: 20 rows",
        b"drivelab: wrote a.parquet: 20 rows",
    ]
    assert cli.main(["runs", "export", "run", "--parquet", "-"]) == 0
    assert capfdbinary.readouterr().out == Path("a.parquet").read_bytes()
    assert sorted(path.name for path in Path().iterdir()) == ["a.parquet", "run"]


def test_parquet_is_read_back_by_another_reader(capsys) -> None:
    run = Path("run")
    words = ["model", SMALL_DRIVE, "--design", "huang2011:30", "--check", "0", "--no-sweeps"]
    assert cli.main([*words, "--requests", "40", "--out", str(run)]) == 0
    capsys.readouterr()
    made = answer(capsys, "export", "run", "--csv", "a.csv", "--parquet", "a.parquet")
    assert made == {"run": "run", "rows": 30, "files": ["a.csv", "a.parquet"]}
    table = duckdb.sql("SELECT * FROM 'a.parquet' ORDER BY index")
    types = dict(zip(table.columns, map(str, table.types), strict=True))
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]
    with Path("a.csv").open() as file:
        expected = list(csv.DictReader(file))
    assert list(expected[0]) == [name for name in types if "_bin_" not in name]
    for row, wanted in zip(rows, expected, strict=True):
        for name, cell in wanted.items():
            assert_cell(row[name], cell, types[name])
    # Names of every type, and a blank that is none of zero and nothing.
    assert types["drive"] == types["part"] == types["stopped_by"] == "VARCHAR"
    assert types["index"] == types["read_size_bytes"] == types["latency_ns_p99"] == "BIGINT"
    assert types["write_ratio"] == types["iops"] == types["read_latency_ns_mean"] == "DOUBLE"
    reads_only = [row for row in rows if row["write_ratio"] == 0]
    assert reads_only
    for row in reads_only:
        assert row["write_size_bytes"] is row["write_requests"] is None
        assert row["write_latency_bin_requests"] is None
    assert {row["part"] for row in rows} == {"training", "calibration"}


def assert_cell(found: object, written: str, kind: str) -> None:
    if written == "":
        assert found is None
    elif kind == "VARCHAR":
        assert found == written
    elif kind == "BIGINT":
        assert found == int(written)
    else:
        assert kind == "DOUBLE"
        # Exact: the shortest text that is read back as the same number.
        assert found == float(written)


def test_parquet_holds_the_histograms_and_what_identifies_the_run(capsys) -> None:
    run = make_run(Path("run"))
    answer(capsys, "export", "run", "--parquet", "a.parquet")
    columns = ", ".join(f"read_latency_bin_{name}" for name in ("first_ns", "last_ns", "requests"))
    rows = duckdb.sql(f"SELECT {columns} FROM 'a.parquet' ORDER BY index").fetchall()  # noqa: S608
    with RunStore.open(run) as store:
        measurements, header = stored_measurements(store), store.header
    assert len(rows) == 20
    for one, (first, last, requests) in zip(measurements, rows, strict=True):
        assert one.read is not None
        (number,) = one.read.histogram
        assert number == histogram_bin(one.read.latency_ns_min)
        assert ([(first[0], last[0])], requests) == ([histogram_range(number)], [10])
    kept = dict(duckdb.sql("SELECT key, value FROM parquet_kv_metadata('a.parquet')").fetchall())
    for key in ("drive", "design", "plan"):
        assert json.loads(kept[f"drivelab.{key}".encode()]) == header[key]


def test_exports_are_the_same_bytes_again(capsys) -> None:
    for name in ("one", "two"):
        make_run(Path(name))
        answer(capsys, "export", name, "--parquet", f"{name}.parquet")
    assert Path("one.parquet").read_bytes() == Path("two.parquet").read_bytes()


def test_columns_of_every_kind_with_blanks() -> None:
    columns = [
        ("texts", "text", ["ä", None, ""]),
        ("integers", "integer", [2**62, None, -1]),
        ("reals", "real", [None, 0.1, float("inf")]),
        ("lists", "integers", [[1, 2], [], None]),
    ]
    Path("a.parquet").write_bytes(parquet_table(columns, []))
    rows = duckdb.sql("SELECT * FROM 'a.parquet'").fetchall()
    assert rows == [
        ("ä", 2**62, None, [1, 2]),
        (None, None, 0.1, []),
        ("", -1, float("inf"), None),
    ]
    with pytest.raises(UsageError, match="allowed: text, integer, real, integers"):
        parquet_table([("a", "date", [])], [])
    with pytest.raises(UsageError, match="two columns are named texts"):
        parquet_table([columns[0], columns[0]], [])


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open() as file:
        return list(csv.DictReader(file))


def test_a_test_is_exported_as_a_campaign_is(capsys) -> None:
    run_fake(Path("tested"), "throughput")
    with RunStore.open(Path("tested")) as store:
        record = read_record(store)
    made = answer(capsys, "export", "tested", "--csv", "a.csv", "--parquet", "a.parquet")
    assert made == {"run": "tested", "rows": len(record.steps), "files": ["a.csv", "a.parquet"]}
    rows = rows_of("a.csv")
    assert list(rows[0])[:5] == ["drive", "drive_kind", "index", "phase", "section"]
    for row, step in zip(rows, record.steps, strict=True):
        assert (row["index"], row["phase"]) == (str(step.position), step.action.phase)
        assert row["round"] == (str(step.action.round) if step.action.round else "")
        assert float(row["iops"]) == step.iops
        assert int(row["latency_ns_p99"]) == step.result.percentile_ns(99)
    table = duckdb.sql("SELECT * FROM 'a.parquet'")
    assert [name for name in table.columns if "_bin_" not in name] == list(rows[0])
    assert "read_latency_bin_requests" in table.columns
    kept = dict(duckdb.sql("SELECT key, value FROM parquet_kv_metadata('a.parquet')").fetchall())
    assert json.loads(kept[b"drivelab.pts"])["test"] == "throughput"


def test_streams_of_a_step_are_rows_of_one_index(capsys) -> None:
    run_fake(Path("tested"), "class", workload_class=load_class("oltp").to_json())
    with RunStore.open(Path("tested")) as store:
        record = read_record(store)
    answer(capsys, "export", "tested", "--csv", "a.csv")
    indices = [int(row["index"]) for row in rows_of("a.csv")]
    assert indices == [part.position for step in record.steps for part in step.streams]
    assert len(set(indices)) < len(indices)


def test_a_profile_is_exported_without_latencies_that_nobody_kept(capsys) -> None:
    small = ("--interval", "8KiB:16KiB:8KiB", "--file-size", "1MiB", "--repetitions", "1")
    assert cli.main(["profile", "sim:x25m", *small, "--out", "profiled", "--json"]) == 0
    passes = json.loads(capsys.readouterr().out)["passes"]
    made = answer(capsys, "export", "profiled", "--csv", "a.csv", "--parquet", "a.parquet")
    assert made["rows"] == passes
    rows, own = rows_of("a.csv"), rows_of("profiled/passes.csv")
    assert not [name for name in rows[0] if "latency" in name]
    for name in ("index", "direction", "order", "request_bytes", "requests", "duration_ns"):
        assert [row[name] for row in rows] == [row[name] for row in own]
    for row in rows:
        sent = row["direction"]
        assert int(row[f"{sent}_requests"]) * int(row["request_bytes"]) == int(row[f"{sent}_bytes"])
        assert row["drive_kind"] == "simulated"
    assert duckdb.sql("SELECT * FROM 'a.parquet'").columns == list(rows[0])


def test_a_run_of_another_version_is_not_exported(capsys) -> None:
    with RunStore.open_to_append(Path("later"), {"kind": "weather", "drive": {}}) as store:
        store.append({}, 0)
    code, line = refusal(capsys, "export", "later", "--csv", "a.csv")
    assert code == 2
    assert "later is a run of `drivelab weather`, which this version does not have" in line


@pytest.mark.parametrize("option", ["--csv", "--parquet"])
def test_export_replaces_nothing_unasked(capsys, option: str) -> None:
    make_run(Path("run"))
    Path("mine").write_text("my work")
    code, line = refusal(capsys, "export", "run", option, "mine")
    assert (code, line) == (
        2,
        "drivelab: mine exists, and nothing shows that Drivelab wrote it; name another, or replace "
        "it with --force",
    )
    assert Path("mine").read_text() == "my work"
    answer(capsys, "export", "run", option, "mine", "--force")
    assert Path("mine").read_bytes() != b"my work"
    assert sorted(path.name for path in Path().iterdir()) == ["mine", "run"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("run",), 2, "nothing to write: give --csv FILE, --parquet FILE or both"),
        (("run", "--csv", "a", "--parquet", "./a"), 2, "is named for two files; name two"),
        (
            ("run", "--csv", "-", "--parquet", "-"),
            2,
            "which a second table uses already; name a file",
        ),
        (("run", "--csv", "-", "--json"), 2, "which --json uses already; name a file"),
        (("run", "--csv", "run"), 2, "run cannot be written: Is a directory; name another place"),
        (("run", "--csv", "/proc/x.csv"), 2, "/proc/x.csv cannot be written"),
        (("run", "--csv", "/dev/null"), 2, "/dev/null cannot be written: it is not a regular file"),
        (("run", "--csv"), 2, "expected one argument"),
        (("run", "--csv", "a", "--nonsense"), 2, "the options are --csv, --force, --json"),
        (("nothing", "--csv", "a"), 2, "nothing does not exist"),
        ((".", "--csv", "a"), 2, ". is not a run"),
        (("broken", "--parquet", "a"), 1, "is damaged"),
    ],
)
def test_export_refuses(capsys, words, code, said) -> None:
    make_run(Path("run"))
    make_run(Path("broken"))
    Path("broken/run.sqlite").write_bytes(b"rubbish" * 1000)
    found, line = refusal(capsys, "export", *words)
    assert found == code
    assert said in line
    assert not Path("a").exists()


# --- remove ------------------------------------------------------------------------------


def test_remove_takes_the_whole_run(capsys) -> None:
    words = ["model", SMALL_DRIVE, "--design", "huang2011:12", "--check", "0", "--no-sweeps"]
    assert cli.main([*words, "--requests", "30", "--out", "runs/a"]) == 0
    capsys.readouterr()
    # Drafts that a killed process left.
    for draft in ("runs/a/.model.json.k3j_9dx1", "runs/a/data/.accuracy.csv.aaaaaaaa"):
        Path(draft).touch()
    names = {str(path.relative_to("runs/a")) for path in Path("runs/a").rglob("*.*")}
    assert {"report.html", "model.json", "data/accuracy.csv", "run.sqlite"} <= names
    removed = answer(capsys, "remove", "runs/a", "--yes")
    assert set(removed["files"]) == names
    assert not Path("runs/a").exists()
    assert Path("runs").exists()


def test_remove_takes_a_damaged_run_too(capsys) -> None:
    run = make_run(Path("run"))
    (run / "run.sqlite").write_bytes(b"rubbish" * 1000)
    assert text(capsys, "remove", "run", "--yes") == "removed run: 3 files\n"
    assert not run.exists()


@pytest.mark.parametrize(
    "name", ["notes.txt", "data/mine.csv", "deep/down", ".model.json.bak", "link"]
)
def test_remove_keeps_what_others_made(capsys, name: str) -> None:
    run = make_run(Path("run"))
    own = run / name
    own.parent.mkdir(exist_ok=True)
    if name == "link":
        own.symlink_to("/tmp", target_is_directory=True)  # noqa: S108
    else:
        own.write_text("my work")
    before = sorted(run.rglob("*"))
    code, line = refusal(capsys, "remove", "run", "--yes")
    assert code == 2
    assert line == (
        f"drivelab: run contains {name}, which Drivelab did not make: move that elsewhere; "
        "nothing was removed"
    )
    assert sorted(run.rglob("*")) == before


def test_remove_refuses_what_is_no_run(capsys) -> None:
    Path("thesis").mkdir()
    Path("thesis/chapter.tex").touch()
    foreign = Path("photos")
    foreign.mkdir()
    with sqlite3.connect(foreign / "run.sqlite") as connection:
        connection.execute("CREATE TABLE photos (name TEXT)")
    connection.close()
    make_run(Path("run"))
    Path("link").symlink_to("run")
    for path, said in (
        ("thesis", "thesis is not a run"),
        ("nothing", "nothing does not exist"),
        ("photos", "not a run of Drivelab"),
        ("link", "link is a link to"),
        ("thesis/chapter.tex", "thesis/chapter.tex is a file; a run is a folder"),
    ):
        code, line = refusal(capsys, "remove", path, "--yes")
        assert code == 2
        assert said in line
    assert Path("thesis/chapter.tex").exists()
    assert (foreign / "run.sqlite").exists()
    assert Path("run/run.sqlite").exists()


def test_remove_waits_for_nobody(capsys) -> None:
    run = make_run(Path("run"))
    with (run / "run.lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, line = refusal(capsys, "remove", "run", "--yes")
    assert code == 1
    assert "another process is measuring into run; wait for it, or stop it first" in line
    assert (run / "run.sqlite").exists()


def test_remove_asks_only_on_a_terminal(capsys, monkeypatch) -> None:
    make_run(Path("run"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    code, line = refusal(capsys, "remove", "run")
    assert (code, "needs --yes, because there is no terminal" in line) == (2, True)
    for reply, gone in (("n", False), ("", False), ("yes", True)):
        assert asked_on_a_terminal(reply) == ((0, True) if gone else (1, False))
        assert Path("run").exists() is not gone


def asked_on_a_terminal(reply: str) -> tuple[int, bool]:
    """Answer the question on a terminal; give the exit code and whether it was removed."""
    child, terminal = pty.fork()
    if child == 0:
        words = [sys.executable, "-c", COMMAND, "runs", "remove", "run"]
        os.execv(sys.executable, words)  # noqa: S606
    shown = ""
    while "[y/N]" not in shown:
        shown += os.read(terminal, 4096).decode()
    assert "remove run (20 measurements of fake:simulated, fake:20, " in shown
    os.write(terminal, f"{reply}\n".encode())
    try:
        while read := os.read(terminal, 4096).decode():
            shown += read
    except OSError:
        pass
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), "removed run" in shown


def test_actions_are_listed(capsys) -> None:
    code, line = refusal(capsys)
    assert (code, "list|show|export|remove" in line) == (2, True)
    code, line = refusal(capsys, "erase")
    assert code == 2
    for action in ("list", "show", "export", "remove"):
        assert action in line


def test_every_characteristic_is_exported() -> None:
    run = make_run(Path("run"))
    head = (run / "measurements.csv").read_text().splitlines()[0].split(",")
    ends = ("_size", "_stride")
    assert {f"{name}_bytes" if name.endswith(ends) else name for name in FIELDS} <= set(head)


def test_runs_of_other_commands_are_listed_shown_and_removed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_fake(Path("tested"), "throughput")
    (one,) = answer(capsys, "list", ".")["runs"]
    assert (one["state"], one["design"], one["seed"]) == ("complete", "pts throughput", 3)
    assert (one["planned"], one["may_end_sooner"]) == (one["measured"], False)
    with pytest.raises(UsageError, match="run of `drivelab pts`"):
        list(stored_header(RunStore.open(Path("tested"))))
    shown = answer(capsys, "show", "tested")
    assert (shown["state"], shown["workloads"], shown["plan"]) == ("complete", None, None)
    assert f"measured    {one['measured']} of {one['measured']}\n" in text(capsys, "show", "tested")
    with pytest.raises(UsageError, match=r"^tested is a run of `drivelab pts`; choose another --"):
        refuse_other_run(PROFILE, Path("tested"), RunStore.open(Path("tested")).header, {})
    small = ("--interval", "8KiB:16KiB:8KiB", "--file-size", "1MiB", "--repetitions", "1")
    assert cli.main(["profile", "sim:x25m", *small, "--out", "profiled"]) == 0
    capsys.readouterr()
    shown = answer(capsys, "show", "profiled")
    assert (shown["state"], shown["planned"], shown["measured"]) == ("complete", 8, 8)
    removed = answer(capsys, "remove", "profiled", "--yes")["files"]
    assert {"profile.json", "profile.svg", "ratios.csv", "report.html"} < set(removed)
    assert not Path("profiled").exists()
    assert answer(capsys, "remove", "tested", "--yes")["files"] == [
        "result.json",
        "run.lock",
        "run.sqlite",
    ]
