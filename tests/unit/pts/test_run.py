"""The specification's performance tests, run on a drive that is computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_session import FakeSession
from fake_test_run import SETTLED, run_fake

from drivelab.drives.open_drive import DriveKind
from drivelab.errors import RunError, UsageError
from drivelab.exhibits import LineFigure, Table
from drivelab.pts.journal import read_record
from drivelab.pts.report import RESULT, build
from drivelab.pts.run import Outcome
from drivelab.store import RunStore


def run(path: Path, session: FakeSession | None = None, **asked: Any) -> Outcome:
    return run_fake(path, "iops", session or FakeSession(), **asked)


def test_a_round_has_fifty_six_cells_mixes_outside_and_sizes_inside(tmp_path: Path) -> None:
    result = run(tmp_path / "run", FakeSession(**SETTLED)).result
    (section,) = result["sections"]
    order = [(cell["read_ratio"], cell["block_bytes"]) for cell in section["cells"]]
    mixes = [1.0, 0.95, 0.65, 0.5, 0.35, 0.05, 0.0]
    sizes = [2**20, 2**17, 2**16, 2**15, 2**14, 2**13, 2**12, 512]
    assert order == [(mix, size) for mix in mixes for size in sizes]


def test_a_settled_drive_is_steady_in_rounds_one_to_five(tmp_path: Path) -> None:
    result = run(tmp_path / "run", FakeSession(**SETTLED)).result
    (section,) = result["sections"]
    assert (result["verdict"], section["rounds"]) == ("steady", 5)
    assert [window["tracked"] for window in section["windows"]] == [
        "4 KiB R/W 0/100",
        "64 KiB R/W 65/35",
        "1024 KiB R/W 100/0",
    ]
    # 100 MiB/s over 4 KiB + 64 KiB is 1505.88 a second, 90352 whole ones in a minute.
    assert section["windows"][0]["values"] == [90352 / 60] * 5
    four = next(c for c in section["cells"] if (c["block_bytes"], c["read_ratio"]) == (4096, 0))
    assert four["iops_mean"] == pytest.approx(90352 / 60)
    assert four["iops_rounds"] == [90352 / 60] * 5
    assert four["bandwidth_bytes_per_second_mean"] == pytest.approx(90352 * 4096 / 60)
    # 90352 requests over 2 J a second for a minute.
    assert four["iops_per_watt"] == pytest.approx(90352 / 120)


def test_the_report_is_made_of_the_stored_run_alone(tmp_path: Path) -> None:
    out = run(tmp_path / "run", FakeSession(**SETTLED))
    report = build(tmp_path / "run")
    assert report.title == f"IOPS test (PTS-C) of {out.result['drive']['name']}"
    assert report.result == out.result
    names = [exhibit.name for page in report.pages for exhibit in page.exhibits]
    assert len(names) == len(set(names))
    table = next(
        exhibit
        for page in report.pages
        for exhibit in page.exhibits
        if exhibit.name == "iops-table"
    )
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows][:2] == ["1024 KiB", "128 KiB"]
    # 100 MiB/s over 1 MiB + 64 KiB: 94.12 a second, 5647 in a minute.
    assert table.rows[0][1] == pytest.approx(5647 / 60)


def test_every_step_of_every_round_is_a_row(tmp_path: Path) -> None:
    out = run(tmp_path / "run", FakeSession(**SETTLED))
    (table,) = build(tmp_path / "run").tables
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    # The fills that precondition the drive, then five rounds of 56 cells.
    assert [row["phase"] for row in rows] == ["preconditioning"] + ["rounds"] * 5 * 56
    assert [row["round"] for row in rows[1:]] == [
        number for number in range(1, 6) for _ in range(56)
    ]
    cell = next(
        row
        for row in rows
        if (row["round"], row["block_bytes"], row["read_ratio"]) == (3, 2**20, 0)
    )
    # 100 MiB/s over 1 MiB + 64 KiB: 5647 in a minute, 32 at a time.
    assert (cell["write_requests"], cell["read_requests"], cell["seconds"]) == (5647, 0, 60.0)
    assert cell["iops"] == pytest.approx(5647 / 60)
    assert cell["bandwidth_mb_s"] == pytest.approx(5647 / 60 * 2**20 / 1e6)
    cells = out.result["sections"][0]["cells"]
    (same,) = (each for each in cells if (each["block_bytes"], each["read_ratio"]) == (2**20, 0))
    assert cell["latency_ms_mean"] == pytest.approx(same["latency_ns_mean_rounds"][2] / 1e6)
    assert cell["latency_ms_mean"] <= cell["latency_ms_p99.999"] <= cell["latency_ms_max"]


def test_never_steady_is_said_after_twenty_five_rounds(tmp_path: Path) -> None:
    # Every other round is half as fast.
    session = FakeSession(wobble=lambda step: -0.5 * ((step - 2) // 56 % 2), **SETTLED)
    result = run(tmp_path / "run", session).result
    (section,) = result["sections"]
    assert (result["verdict"], section["verdict"], section["rounds"]) == (
        "not_steady",
        "not_steady",
        25,
    )
    assert {(w["first_round"], w["last_round"]) for w in section["windows"]} == {(21, 25)}
    assert (tmp_path / "run" / RESULT).is_file()


# A simulated drive that is worn out says so as one that is asked for what it cannot do.
@pytest.mark.parametrize("kind", [RunError, UsageError])
def test_what_was_measured_before_an_error_in_round_seventeen_stays(
    tmp_path: Path, kind: type[Exception]
) -> None:
    broken = 2 + 16 * 56 + 5
    session = FakeSession(
        wobble=lambda step: -0.5 * ((step - 2) // 56 % 2),
        fails=lambda step: kind("the drive went away") if step == broken else None,
        **SETTLED,
    )
    out = run(tmp_path / "run", session)
    assert out.problem is not None
    assert "round 17" in str(out.problem)
    assert f"{broken} steps are saved" in str(out.problem)
    (section,) = out.result["sections"]
    assert (out.result["verdict"], section["verdict"], section["rounds"]) == (
        "incomplete",
        "incomplete",
        16,
    )
    assert "the drive went away" in out.result["problem"]


@pytest.mark.parametrize("kind", ["simulated", "real"])
@pytest.mark.parametrize("broken", [0, 1, 2, 57, 100])
def test_a_test_that_goes_on_gives_the_same_bytes(tmp_path: Path, kind: Any, broken: int) -> None:
    run(tmp_path / "whole", FakeSession(kind))
    session = FakeSession(
        kind, fails=lambda step: KeyboardInterrupt() if step == max(broken, 1) else None
    )
    with pytest.raises(KeyboardInterrupt, match="resume"):
        run(tmp_path / "run", session)
    again = FakeSession(kind)
    if kind == "real":
        # A real drive is as it was left.
        again.written_bytes = session.written_bytes
    run(tmp_path / "run", again)
    whole, went_on = (
        (tmp_path / name / RESULT).read_text().replace('"starts": 2', '"starts": 1')
        for name in ("whole", "run")
    )
    if kind == "simulated":
        assert went_on == whole
    else:
        assert '"starts": 1' in whole
        assert "was stopped and resumed" in went_on


def test_a_preconditioned_state_is_taken_up_and_not_made_again(tmp_path: Path) -> None:
    session = FakeSession(fails=lambda step: KeyboardInterrupt() if step == 2 else None)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", session)
    again = FakeSession()
    run(tmp_path / "run", again)
    assert (again.loads, again.steps[0]) == (1, 2)


@pytest.mark.parametrize("kind", ["real", "simulated"])
def test_a_file_made_for_a_test_that_stops_is_left_to_it(tmp_path: Path, kind: DriveKind) -> None:
    drive = FakeSession(kind, fails=lambda step: KeyboardInterrupt() if step == 40 else None)
    with pytest.raises(KeyboardInterrupt, match="40 steps are saved") as stopped:
        run(tmp_path / "run", drive)
    said = "and made.bin stays until the test is complete (to remove it: rm made.bin made.bin.d"
    assert (said in str(stopped.value)) == (kind == "real")


def test_a_file_to_which_nothing_was_done_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    drive = FakeSession("real")
    monkeypatch.setattr(drive, "purge", stop)
    with pytest.raises(KeyboardInterrupt, match="0 steps are saved") as stopped:
        run(tmp_path / "run", drive)
    assert "made.bin" not in str(stopped.value)


def test_a_run_that_an_older_version_began_goes_on(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole").result
    stopped = FakeSession(fails=lambda step: KeyboardInterrupt() if step == 40 else None)
    with pytest.raises(KeyboardInterrupt, match="40 steps are saved"):
        run(tmp_path / "run", stopped)
    # It knew neither classes nor where accesses in order begin.
    rewrite(tmp_path / "run", tmp_path / "old", "workload_class", "begin_bytes")
    assert run(tmp_path / "old").result == whole


def test_a_run_of_a_newer_version_is_not_called_damaged(tmp_path: Path) -> None:
    stopped = FakeSession(fails=lambda step: KeyboardInterrupt() if step == 40 else None)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", stopped)
    rewrite(tmp_path / "run", tmp_path / "new", read_ratio="share_of_reads")
    with pytest.raises(RunError, match=r"written by another version of Drivelab.*another --out"):
        run(tmp_path / "new")


def rewrite(path: Path, into: Path, *left_out: str, **renamed: str) -> None:
    """Copy a run as another version would have written it."""

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            renamed.get(name, name): changed(inner)
            for name, inner in value.items()
            if name not in left_out
        }

    with RunStore.open(path) as store:
        header, entries = changed(store.header), changed(list(store.measurements()))
    with RunStore.open_to_append(into, header, durable=False) as store:
        for place, entry in enumerate(entries):
            store.append(entry, place)


@pytest.mark.parametrize(
    ("session", "asked", "message"),
    [
        (FakeSession(identity={"model": "other"}), {}, "drive model: fake"),
        (FakeSession(), {"seed": 4}, "seed: 3 before, 4 now"),
        (FakeSession(), {"edition": "enterprise"}, "edition: client before, enterprise now"),
    ],
)
def test_another_drive_or_other_settings_are_refused(
    tmp_path: Path, session: FakeSession, asked: dict[str, Any], message: str
) -> None:
    run(tmp_path / "run", FakeSession(**SETTLED))
    with pytest.raises(UsageError, match=f"contains another test: .*{message}"):
        run(tmp_path / "run", session, **asked)
    assert session.steps == []


def test_blocks_below_the_sector_are_left_out_and_it_is_said(tmp_path: Path) -> None:
    result = run(tmp_path / "run", FakeSession(block_bytes=4096, **SETTLED)).result
    assert {cell["block_bytes"] for cell in result["sections"][0]["cells"]} == {
        2**exponent for exponent in (12, 13, 14, 15, 16, 17, 20)
    }
    assert any("0.5 KiB are left out" in each for each in result["cautions"])


def test_a_drive_smaller_than_a_request_for_each_thread_is_refused(tmp_path: Path) -> None:
    session = FakeSession(capacity_bytes=2**20)
    with pytest.raises(UsageError, match="active range of 768 KiB is smaller"):
        run(tmp_path / "run", session)
    assert session.steps == []
    assert not (tmp_path / "run").exists()


def test_what_the_drive_cannot_be_asked_for_is_refused_before_anything_is_done(
    tmp_path: Path,
) -> None:
    session = FakeSession()
    with pytest.raises(UsageError, match="cannot run iops: the toy drive ends at 4096"):
        run(tmp_path / "run", session, threads=100, queue_depth=100)
    assert session.steps == []
    assert not (tmp_path / "run").exists()


def test_what_the_drive_says_that_it_cannot_do_before_it_did_anything_is_no_failure(
    tmp_path: Path,
) -> None:
    session = FakeSession(fails=lambda _: UsageError("not so"), **SETTLED)
    with pytest.raises(UsageError, match=r"^not so$"):
        run(tmp_path / "run", session)


def test_a_round_in_which_nothing_was_complete_is_in_the_figure(tmp_path: Path) -> None:
    # Of the second round the first cell: 1024 KiB, all writes are the last mix of seven.
    stalled = 2 + 56 + 6 * 8
    session = FakeSession(wobble=lambda step: -0.999999 if step == stalled else 0.0, **SETTLED)
    run(tmp_path / "run", session)
    (figure,) = (
        exhibit
        for page in build(tmp_path / "run").pages
        for exhibit in page.exhibits
        if isinstance(exhibit, LineFigure) and exhibit.name == "iops-convergence"
    )
    assert {len(line.x) for line in figure.lines} == {5}
    zeros = [(line.label, line.y.index(0.0) + 1) for line in figure.lines if 0.0 in line.y]
    assert zeros == [("1024 KiB", 2)]


def test_steps_in_order_go_on_where_the_last_of_the_same_ended(tmp_path: Path) -> None:
    outcome = run_fake(tmp_path / "run", "throughput", FakeSession(**SETTLED))
    assert outcome.problem is None
    with RunStore.open(tmp_path / "run") as store:
        steps = [step for step in read_record(store).steps if step.action.section == "1024 KiB"]
    reached: dict[float, int] = {}
    for step in steps:
        stimulus, result = step.stimulus, step.result
        # Reads and writes each have their own place; after preconditioning it is that one's end.
        assert stimulus.begin_bytes == reached.get(stimulus.read_ratio, 0)
        each = result.bytes // stimulus.threads // 2**20 * 2**20
        reached[stimulus.read_ratio] = (stimulus.begin_bytes + each) % stimulus.part_bytes
    assert len({step.stimulus.begin_bytes for step in steps}) > 3


@pytest.mark.parametrize("inode", [1, 2])
def test_a_file_that_was_recreated_on_the_way_is_reported(tmp_path: Path, inode: int) -> None:
    def session(inode: int, **options: Any) -> FakeSession:
        identity = {"model": "fake", "volatile": {"file": {"inode": inode, "generation": 7}}}
        return FakeSession("real", identity=identity, is_whole_device=False, **options)

    def fails(step: int) -> RunError | None:
        return RunError("gone") if step == 100 else None

    run(tmp_path / "run", session(1, fails=fails, **SETTLED))
    result = run(tmp_path / "run", session(inode, **SETTLED)).result
    assert result["starts"] == 2
    cautions = [each for each in result["cautions"] if "resumed with another file" in each]
    assert len(cautions) == (inode == 2)
