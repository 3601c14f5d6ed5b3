"""The run folder: measurements are kept, and everything else is refused in one line."""

from __future__ import annotations

import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from drivelab.errors import RunError, UsageError
from drivelab.store import DATABASE, LAYOUT, RunStore, database, is_run

# To read, and to measure.
OPENINGS = (RunStore.open, lambda path: RunStore.open_to_append(path, HEADER))
HEADER = {"drive": {"name": "sim:x25m"}, "seed": 3}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "runs" / "a"
    with RunStore.open_to_append(path, HEADER) as store:
        store.append({"value": 2}, 2)
        store.append({"value": 0}, 0)
    return path


def test_what_was_appended_is_read_in_order_of_position(run: Path) -> None:
    assert is_run(run)
    with RunStore.open(run) as store:
        assert store.header == HEADER
        assert store.done() == {0, 2}
        assert list(store.measurements()) == [{"value": 0}, {"value": 2}]


def test_resumed_run_goes_on(run: Path) -> None:
    with RunStore.open_to_append(run, {}) as store:
        store.append({"value": 1}, 1)
    with RunStore.open(run) as store:
        assert [entry["value"] for entry in store.measurements()] == [0, 1, 2]


def test_a_position_is_written_once(run: Path) -> None:
    with (
        RunStore.open_to_append(run, {}) as store,
        pytest.raises(ValueError, match="2 is stored already"),
    ):
        store.append({"value": 9}, 2)


def test_not_a_number_is_never_stored(run: Path) -> None:
    with RunStore.open_to_append(run, {}) as store:
        with pytest.raises(ValueError, match="JSON"):
            store.append({"value": float("nan")}, 5)
        assert store.done() == {0, 2}


def test_a_finished_run_is_one_plain_file(run: Path) -> None:
    assert sorted(entry.name for entry in run.iterdir()) == ["run.lock", DATABASE]


def test_reading_while_another_measures(run: Path) -> None:
    with RunStore.open_to_append(run, {}) as writer, RunStore.open(run) as reader:
        writer.append({"value": 7}, 7)
        assert reader.done() == {0, 2, 7}


def test_reading_while_another_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The file is there before anything is in it, which is where a reader may come by.
    path = tmp_path / "run"
    path.mkdir()
    (path / DATABASE).touch()
    look = database._is_empty

    def made_meanwhile(connection: sqlite3.Connection) -> bool:
        monkeypatch.setattr(database, "_is_empty", look)
        RunStore.open_to_append(path, HEADER).close()
        return look(connection)

    monkeypatch.setattr(database, "_is_empty", made_meanwhile)
    with RunStore.open(path) as store:
        assert store.header == HEADER


@pytest.mark.parametrize("durable", [True, False])
def test_synchronous_follows_durable(tmp_path: Path, durable: bool) -> None:
    with RunStore.open_to_append(tmp_path / "a", HEADER, durable=durable) as store:
        (mode,) = store._connection.execute("PRAGMA synchronous").fetchone()
        (journal,) = store._connection.execute("PRAGMA journal_mode").fetchone()
    assert (mode, journal) == (2 if durable else 1, "wal")


def test_second_process_is_refused(run: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from drivelab.store import RunStore\n"
        "try: RunStore.open_to_append(Path(sys.argv[1]), {}).close()\n"
        "except Exception as error: print(type(error).__name__, error)\n"
        "else: print('taken')"
    )

    def second() -> str:
        return subprocess.check_output([sys.executable, "-c", program, str(run)], text=True)

    with RunStore.open_to_append(run, {}):
        assert second().startswith("RunError another process is measuring into")
    assert second() == "taken\n"


def test_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run: it has no run"):
        RunStore.open(tmp_path)
    with pytest.raises(UsageError, match="does not exist"):
        RunStore.open(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_foreign_folder_and_file_are_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UsageError, match=r"contains thesis.tex and no run"):
        RunStore.open_to_append(tmp_path, HEADER)
    with pytest.raises(UsageError, match="is a file"):
        RunStore.open_to_append(tmp_path / "thesis.tex", HEADER)
    with pytest.raises(UsageError, match="is a file, not a folder"):
        RunStore.open_to_append(tmp_path / "thesis.tex" / "run", HEADER)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_foreign_database_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute("CREATE TABLE photos (name TEXT)")
    connection.close()
    for opening in OPENINGS:
        with pytest.raises(UsageError, match="not a run of Drivelab; choose another folder"):
            opening(tmp_path)


@pytest.mark.parametrize(("step", "writer"), [(1, "newer"), (-1, "older")])
def test_another_layout_is_refused(run: Path, step: int, writer: str) -> None:
    connection = sqlite3.connect(run / DATABASE)
    connection.execute(f"PRAGMA user_version = {LAYOUT + step}")
    connection.close()
    for opening in OPENINGS:
        with pytest.raises(UsageError, match=f"{writer} Drivelab"):
            opening(run)


@pytest.mark.parametrize(
    "content", [b"no database at all" * 100, b"SQLite format 3\x00" + b"?" * 5000]
)
def test_a_damaged_database_is_reported(run: Path, content: bytes) -> None:
    (run / DATABASE).write_bytes(content)
    for opening in OPENINGS:
        with pytest.raises(RunError, match="is damaged"):
            opening(run)


def test_a_damaged_page_is_reported(tmp_path: Path) -> None:
    with RunStore.open_to_append(tmp_path / "a", HEADER) as store:
        for index in range(500):
            store.append({"value": "x" * 200}, index)
    database = tmp_path / "a" / DATABASE
    content = bytearray(database.read_bytes())
    # The tables' first pages stay whole, the rows are overwritten.
    content[8 * 4096 :] = b"\xff" * (len(content) - 8 * 4096)
    database.write_bytes(content)
    for opening in OPENINGS:
        with pytest.raises(RunError, match="is damaged"):
            opening(tmp_path / "a")


def test_a_changed_value_is_reported(run: Path) -> None:
    with sqlite3.connect(run / DATABASE) as connection:
        connection.execute("UPDATE measurement SET value = '{\"value\":1}' WHERE position = 2")
    connection.close()
    with (
        RunStore.open(run) as store,
        pytest.raises(RunError, match=r"damaged .the checksum of 2 does not fit"),
    ):
        list(store.measurements())


def test_creation_killed_half_way_starts_over(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "run.lock").touch()
    (tmp_path / "a" / DATABASE).touch()
    with pytest.raises(UsageError, match="contains nothing yet"):
        RunStore.open(tmp_path / "a")
    with RunStore.open_to_append(tmp_path / "a", HEADER) as store:
        assert store.header == HEADER


def test_full_database_keeps_what_was_measured(tmp_path: Path) -> None:
    with RunStore.open_to_append(tmp_path / "a", HEADER) as store:
        store._connection.execute("PRAGMA max_page_count = 16")
        kept = append_until_refused(store)
    with RunStore.open(tmp_path / "a") as store:
        assert store.done() == set(range(kept))


def append_until_refused(store: RunStore) -> int:
    for index in range(100_000):
        try:
            store.append({"value": "x" * 1000}, index)
        except RunError as error:
            refusal = str(error)
            break
    assert "no space left" in refusal
    assert "free some space" in refusal
    assert index > 0
    return index


def test_file_size_limit_keeps_what_was_measured(tmp_path: Path) -> None:
    # The kernel's limit on a file's size fails writes of the log as a full disk does.
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = RunStore.open_to_append(tmp_path / "a", HEADER)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, old[1]))
        kept = append_until_refused(store)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, ignored)
        store.close()
    with RunStore.open_to_append(tmp_path / "a", {}) as resumed:
        assert resumed.done() == set(range(kept))
        resumed.append({"value": "room again"}, kept)


def test_a_killed_writer_loses_nothing_that_was_reported_as_saved(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from drivelab.store import RunStore\n"
        "store = RunStore.open_to_append(Path(sys.argv[1]), {})\n"
        "for index in range(10**9):\n"
        "    store.append({'value': index}, index); print(index, flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "a")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in range(300):
            last = int(process.stdout.readline())
        process.kill()
        last = max([last, *map(int, process.stdout.read().split())])
    with RunStore.open(tmp_path / "a") as store:
        assert store.done() >= set(range(last + 1))
    assert (tmp_path / "a" / f"{DATABASE}-wal").exists()
    with RunStore.open_to_append(tmp_path / "a", {}) as store:
        assert store.done() >= set(range(last + 1))


def test_what_a_run_learns_of_itself_is_kept_in_its_header(run: Path) -> None:
    with RunStore.open_to_append(run, {}) as store:
        store.tell({"asked": [1, 2], "seed": 4})
        assert store.header == {**HEADER, "asked": [1, 2], "seed": 4}
    with RunStore.open(run) as store:
        assert store.header == {**HEADER, "asked": [1, 2], "seed": 4}
        assert store.done() == {0, 2}
