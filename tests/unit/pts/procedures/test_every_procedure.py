"""What each test sends, when it ends and what it finds, on a drive that is computed by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_session import MIB, FakeSession
from fake_test_run import SETTLED, run_fake

from drivelab.errors import RunError, UsageError
from drivelab.exhibits import Table
from drivelab.pts.class_file import load_class
from drivelab.pts.every_test import TESTS
from drivelab.pts.journal import Record, read_record
from drivelab.pts.procedures import hir
from drivelab.pts.report import RESULT, build
from drivelab.store import RunStore

DOCUMENT = Path(__file__).parents[4] / "docs" / "json-pts.md"
OPEN_OBJECTS = ("header", "latency_ns_percentiles", "latency_ns_histogram")


def run(path: Path, name: str, session: FakeSession | None = None, **asked: Any) -> dict[str, Any]:
    out = run_fake(path, name, session, **asked)
    assert out.problem is None
    return out.result


def record_of(path: Path) -> Record:
    with RunStore.open(path) as store:
        return read_record(store)


def keys(value: Any, path: str = "") -> Iterator[str]:
    name = path.rpartition(".")[2]
    if isinstance(value, list):
        for entry in value:
            yield from keys(entry, f"{path}[]")
    elif isinstance(value, dict) and name != "identity":
        for key, inner in value.items():
            shown = "*" if name in OPEN_OBJECTS else key
            yield from keys(inner, f"{path}.{shown}" if path else shown)
    else:
        yield path


def test_keys_of_results_are_the_documented_ones(tmp_path: Path) -> None:
    found: set[str] = set()
    for name in TESTS:
        session = FakeSession(bytes_per_second=1e9, capacity_bytes=1024 * MIB)
        asked: dict[str, Any] = {"rule": "white-paper" if name == "wsat" else "pts"}
        if name == "class":
            asked["workload_class"] = load_class("mail").to_json()
        run(tmp_path / name, name, session, **asked)
        report = build(tmp_path / name)
        names = [exhibit.name for page in report.pages for exhibit in page.exhibits]
        assert len(names) == len(set(names)), name
        found |= set(keys(json.loads((tmp_path / name / RESULT).read_text())))
    # A purge that succeeds has an empty reason; empty lists have no entries.
    section = DOCUMENT.read_text().split("## result.json")[1]
    assert found == set(re.findall(r"^\| `([^`]+)` \| \S.* \|$", section, re.M))


def rows_of_saturation(path: Path) -> list[str]:
    exhibits = {exhibit.name: exhibit for page in build(path).pages for exhibit in page.exhibits}
    table = exhibits["wsat-table"]
    assert isinstance(table, Table)
    return [str(what) for what, _ in table.rows]


def test_each_block_size_of_throughput_is_preconditioned_at_that_size(tmp_path: Path) -> None:
    result = run(tmp_path / "run", "throughput", edition="enterprise")
    assert [(each["name"], each["verdict"]) for each in result["sections"]] == [
        ("128 KiB", "steady"),
        ("1024 KiB", "steady"),
    ]
    record = record_of(tmp_path / "run")
    assert len(record.purges) == 2
    for section, size in (("128 KiB", 128 * 1024), ("1024 KiB", MIB)):
        (written,) = record.of_phase("preconditioning", section)
        assert written.stimulus.sizes == ((size, 1.0),)
        assert written.action.total_bytes == 2 * 256 * MIB
        assert not written.stimulus.is_random
        assert [s.stimulus.read_ratio for s in record.of_phase("rounds", section)[:2]] == [1, 0]
    # 100 MiB/s over 1 MiB + 64 KiB: 5647 requests of 1 MiB in a minute.
    write = result["sections"][1]["cells"][1]
    assert write["bandwidth_bytes_per_second_mean"] == pytest.approx(5647 * MIB / 60)
    assert result["sections"][1]["windows"][0]["unit"] == "MB/s"


def test_the_client_measures_throughput_of_the_large_blocks_alone(tmp_path: Path) -> None:
    result = run(tmp_path / "run", "throughput")
    assert [each["name"] for each in result["sections"]] == ["1024 KiB"]


def test_latency_is_of_one_request_at_a_time_then_twenty_minutes(tmp_path: Path) -> None:
    result = run(tmp_path / "run", "latency")
    record = record_of(tmp_path / "run")
    first = [(s.stimulus.read_ratio, s.stimulus.sizes[0][0]) for s in record.of_phase("rounds")[:9]]
    assert first == [(mix, size) for mix in (1, 0.65, 0) for size in (8192, 4096, 512)]
    assert {s.stimulus.outstanding for s in record.of_phase("rounds")} == {1}
    minutes = record.of_phase("histogram")
    assert [s.stimulus.sizes for s in minutes] == [((4096, 1.0),)] * 20
    # A 32nd of 100 MiB/s over 4 KiB + 64 KiB: 47.06 a second, 2823 a minute, 21.25 ms each; half
    # take half as long, two ten times as long.
    requests, latency = 2823, int(1e9 / (100 * MIB / 32 / (68 * 1024)))
    mean = (1411 * (latency // 2) + 1410 * latency + 2 * 10 * latency) / requests
    (window,) = result["sections"][0]["windows"]
    assert window["mean"] == pytest.approx(mean / 1e6)
    times = result["sections"][0]["response_times"]
    assert times["requests"] == 20 * requests
    assert times["latency_ns_mean"] == pytest.approx(mean)
    assert times["latency_ns_max"] == 10 * latency
    assert times["latency_ns_percentiles"]["99.999"] == 10 * latency
    assert times["latency_ns_percentiles"]["99.9"] == pytest.approx(latency, rel=1 / 64)


def test_write_saturation_is_judged_on_every_thirty_first_minute(tmp_path: Path) -> None:
    session = FakeSession(capacity_bytes=32 * 1024 * MIB, drop=0.0)
    result = run(tmp_path / "run", "wsat", session)
    (section,) = result["sections"]
    assert (section["verdict"], section["stopped_by"], section["rounds"]) == (
        "steady",
        "steady",
        5,
    )
    # Filled twice after 185.7 minutes: the sixth round of 31 is the first that is judged.
    assert (section["run_minutes"], section["steady_after_minutes"]) == (310, 310)
    assert section["lost_ratio"] == pytest.approx(0.0)
    # 90352 writes of 4 KiB a minute.
    assert section["written_bytes"] == 310 * 90352 * 4096
    assert section["minutes"]["end_minutes"][-1] == pytest.approx(310)


def test_write_saturation_by_the_white_paper_finds_what_is_lost(tmp_path: Path) -> None:
    # Five times as fast when fresh, and at its floor after 4 GiB.
    session = FakeSession(capacity_bytes=16 * 1024 * MIB, settles_bytes=4096 * MIB)
    result = run(tmp_path / "run", "wsat", session, rule="white-paper")
    (section,) = result["sections"]
    assert section["stopped_by"] == "steady"
    assert section["fresh_iops"] == pytest.approx(5 * 90352 / 60, rel=1e-4)
    assert section["lost_ratio"] == pytest.approx(0.8, abs=0.01)
    window = section["windows"][0]
    assert window["last_round"] - window["first_round"] == 9
    run_minutes = section["run_minutes"]
    assert section["steady_after_minutes"] == run_minutes
    # The ten minutes of the window begin with the one in which the drive was filled twice.
    written = section["minutes"]["written_bytes"]
    assert written[run_minutes - 11] < 2 * session.capacity_bytes <= written[run_minutes - 10]


def test_an_even_start_is_no_steady_state_but_an_even_day_is(tmp_path: Path) -> None:
    # So large that a day does not fill it twice.
    session = FakeSession(capacity_bytes=2**40, drop=0.0)
    result = run(tmp_path / "run", "wsat", session, rule="white-paper")
    (section,) = result["sections"]
    assert (section["stopped_by"], section["run_minutes"]) == ("steady", 1440)
    assert section["steady_after_minutes"] == 1440


def test_a_day_that_is_over_before_the_next_round_ended_by_its_time(tmp_path: Path) -> None:
    # By the specification's rule rounds are 31 minutes, the last of a day the 46th.
    session = FakeSession(capacity_bytes=2**40, drop=0.0)
    (section,) = run(tmp_path / "run", "wsat", session)["sections"]
    assert (section["verdict"], section["steady_after_minutes"]) == ("steady", 46 * 31)
    assert (section["stopped_by"], section["run_minutes"]) == ("time", 1440)


def test_write_saturation_ends_after_four_times_the_capacity(tmp_path: Path) -> None:
    result = run(tmp_path / "run", "wsat", FakeSession(capacity_bytes=1024 * MIB))
    (section,) = result["sections"]
    assert (section["verdict"], section["stopped_by"]) == ("bounded", "capacity")
    before = section["minutes"]["written_bytes"][-2]
    assert before < 4 * 1024 * MIB <= section["written_bytes"]
    assert section["drive_fills"] == section["written_bytes"] / (1024 * MIB)


def test_by_the_white_paper_no_capacity_ends_write_saturation(tmp_path: Path) -> None:
    # Filled many times over, and every minute another throughput.
    session = FakeSession(capacity_bytes=1024 * MIB, wobble=lambda step: 0.5 * (step % 2), drop=0.0)
    result = run(tmp_path / "run", "wsat", session, rule="white-paper")
    (section,) = result["sections"]
    assert (section["stopped_by"], section["run_minutes"]) == ("time", 1440)
    assert section["drive_fills"] > 100


def test_write_saturation_ends_after_a_day(tmp_path: Path) -> None:
    # Every 31st minute another throughput: never steady.
    session = FakeSession(
        capacity_bytes=2**40, wobble=lambda step: 0.5 * (step // 31 % 2), drop=0.0
    )
    result = run(tmp_path / "run", "wsat", session)
    (section,) = result["sections"]
    assert (section["stopped_by"], section["run_minutes"]) == ("time", 1440)


def test_idle_times_of_write_saturation_are_between_its_minutes(tmp_path: Path) -> None:
    session = FakeSession(capacity_bytes=1024 * MIB)
    result = run(tmp_path / "run", "wsat", session, idle_seconds=30.0)
    minutes = result["sections"][0]["minutes"]["end_minutes"]
    assert session.idled_seconds == 30.0 * len(minutes)
    assert minutes[:3] == pytest.approx([1.0, 2.5, 4.0])
    assert "run (min of writes)" in rows_of_saturation(tmp_path / "run")


def table_of(path: Path, name: str) -> Table:
    exhibits = {exhibit.name: exhibit for page in build(path).pages for exhibit in page.exhibits}
    table = exhibits[name]
    assert isinstance(table, Table)
    return table


def test_the_rounds_of_write_saturation_are_named_as_minutes(tmp_path: Path) -> None:
    session = FakeSession(capacity_bytes=65536 * MIB, settles_bytes=1024 * MIB)
    (section,) = run(tmp_path / "run", "wsat", session)["sections"]
    last = section["steady_after_minutes"]
    minutes = ", ".join(str(last - 31 * before) for before in (4, 3, 2, 1, 0))
    note = table_of(tmp_path / "run", "wsat-steady-state").note
    assert note.endswith(f"and each is one minute: these are minutes {minutes} of writes.")


def test_write_saturation_that_was_cut_short_is_not_said_to_settle_never(tmp_path: Path) -> None:
    def fails(step: int) -> Exception | None:
        return RunError("it is gone") if step == 20 else None

    session = FakeSession(capacity_bytes=65536 * MIB, fails=fails)
    assert run_fake(tmp_path / "run", "wsat", session).result["verdict"] == "incomplete"
    rows = dict(table_of(tmp_path / "run", "wsat-table").rows)
    assert rows["steady after (min)"] is None
    bounded = FakeSession(capacity_bytes=1024 * MIB)
    assert run(tmp_path / "bounded", "wsat", bounded)["verdict"] == "bounded"
    rows = dict(table_of(tmp_path / "bounded", "wsat-table").rows)
    assert rows["steady after (min)"] == "never"


@pytest.mark.parametrize(
    ("name", "table", "title"),
    [
        ("iops", "iops-table", "IOPS: mean of {}"),
        ("blocks", "blocks-table", "IOPS: mean of {}"),
        ("latency", "latency-table", "Latency and IOPS: {}"),
    ],
)
def test_rounds_too_few_for_a_window_are_called_none(
    tmp_path: Path, name: str, table: str, title: str
) -> None:
    whole = run(tmp_path / "whole", name, FakeSession(**SETTLED))
    assert table_of(tmp_path / "whole", table).title == title.format("the measurement window")
    first = next(at for at, step in enumerate(whole["steps"]) if step["phase"] == "rounds")
    second = next(at for at, step in enumerate(whole["steps"]) if step["round"] == 2)

    def fails(step: int) -> Exception | None:
        # In the third round, after a purge that is not a step of the result.
        return RunError("it is gone") if step == 2 * second - first + 1 else None

    run_fake(tmp_path / "cut", name, FakeSession(fails=fails, **SETTLED))
    title = title.format("2 rounds, too few for a window")
    assert table_of(tmp_path / "cut", table).title == title


def test_a_table_of_scaled_write_saturation_says_how_long_its_minutes_are(tmp_path: Path) -> None:
    result = run(tmp_path / "run", "wsat", FakeSession(capacity_bytes=1024 * MIB), scale=0.1)
    section = result["sections"][0]
    ends = section["minutes"]["end_minutes"]
    assert ends[-1] == pytest.approx(0.1 * section["run_minutes"])
    rows = rows_of_saturation(tmp_path / "run")
    assert {"steady after (min of 6.00 s)", "run (min of 6.00 s)"} <= set(rows)


@pytest.mark.parametrize(
    ("name", "scale", "words"),
    [
        ("latency", 1, "20 minutes"),
        ("latency", 0.05, "1 minute"),
        ("wsat", 0.1, "2 minutes"),
        ("dirth", 0.001, "600 ms"),
    ],
)
def test_titles_of_histograms_say_for_how_long_was_measured(
    tmp_path: Path, name: str, scale: float, words: str
) -> None:
    session = FakeSession(bytes_per_second=1e9, capacity_bytes=1024 * MIB)
    run(tmp_path / "run", name, session, scale=scale)
    exhibits = [exhibit for page in build(tmp_path / "run").pages for exhibit in page.exhibits]
    titles = [each.title for each in exhibits if each.name.endswith("-histogram")]
    assert titles
    assert all(title.startswith(f"Response times of {words}: ") for title in titles)


@pytest.mark.parametrize(
    ("workload", "sizes", "read_ratio", "is_random"),
    [
        ("8k-random-mixed", 1, 0.65, True),
        ("128k-sequential-mixed", 1, 0.9, False),
        ("512b-sequential-mixed", 1, 0.5, False),
        ("composite", 12, 0.4, True),
    ],
)
def test_workloads_of_write_saturation(
    tmp_path: Path, workload: str, sizes: int, read_ratio: float, is_random: bool
) -> None:
    run(tmp_path / "run", "wsat", FakeSession(bytes_per_second=1e9), workload=workload)
    stimulus = record_of(tmp_path / "run").of_phase("minutes")[0].stimulus
    found = (len(stimulus.sizes), stimulus.read_ratio, stimulus.is_random)
    assert found == (sizes, read_ratio, is_random)


def test_an_unknown_workload_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="workload is 'x'; allowed: 4k-random, "):
        run(tmp_path / "run", "wsat", workload="x")


def test_host_idle_recovery_rests_as_long_as_its_wait_states_say(tmp_path: Path) -> None:
    session = FakeSession(drop=1.0)
    result = run(tmp_path / "run", "hir", session)
    assert session.idled_seconds == 360 * 5 * (1 + 2 + 3 + 5 + 10)
    waits = result["sections"][0]["wait_states"]
    assert [each["wait_ratio"] for each in waits] == [1, 2, 3, 5, 10]
    assert {len(each["iops"]) for each in waits} == {360}
    assert {len(each["baseline_iops"]) for each in waits} == {30}
    # The toy recovers with every second of rest, so the longer it rests the faster it is.
    gains = [each["gain_ratio"] for each in waits]
    assert gains == sorted(gains)
    assert gains[-1] > 1.0


def test_cross_stimulus_recovery(tmp_path: Path) -> None:
    # Half as fast in the third segment's first 39 minutes: step 1 + 480 + 360 begins it.
    session = FakeSession(drop=0.0, wobble=lambda step: -0.5 if 841 <= step < 841 + 39 else 0.0)
    (section,) = run(tmp_path / "run", "xsr", session)["sections"]
    assert [each["minutes"] for each in section["segments"]] == [480, 360, 480]
    assert section["recovery_minutes"] == section["recovery_to_99_percent_minutes"] == 40
    assert [each["transient_minutes"] for each in section["segments"]] == [0, 0, 39]
    third = section["segments"][2]
    assert third["first_bandwidth_bytes_per_second"] == pytest.approx(2823 * MIB / 60)
    assert third["last_bandwidth_bytes_per_second"] == pytest.approx(5647 * MIB / 60)
    record = record_of(tmp_path / "run")
    assert {(s.stimulus.threads, s.stimulus.queue_depth) for s in record.steps} == {(1, 32)}


def test_a_drive_that_never_comes_back_has_no_recovery_minute(tmp_path: Path) -> None:
    session = FakeSession(drop=0.0, wobble=lambda step: -0.5 if step >= 841 else 0.0)
    (section,) = run(tmp_path / "run", "xsr", session)["sections"]
    assert section["recovery_minutes"] is None
    assert section["recovery_to_99_percent_minutes"] is None


def test_a_mean_that_a_fresh_minute_lifted_is_recovered_to_within_a_hundredth(
    tmp_path: Path,
) -> None:
    session = FakeSession(drop=0.0, wobble=lambda step: 0.5 if step == 1 else 0.0)
    (section,) = run(tmp_path / "run", "xsr", session)["sections"]
    found = (section["recovery_minutes"], section["recovery_to_99_percent_minutes"])
    assert found == (None, 1)
    assert section["segments"][0]["transient_minutes"] == 1


def test_demand_goes_from_thirty_two_by_thirty_two_down_to_one_by_one(tmp_path: Path) -> None:
    # Depth helps up to 32 outstanding: 1 GB/s over 4 KiB + 64 KiB is 14361 a second.
    session = FakeSession(bytes_per_second=1e9, **SETTLED)
    section, before = run(tmp_path / "run", "dirth", session, write_ratio=0.35)["sections"]
    assert (before["verdict"], before["rounds"]) == ("steady", 5)
    order = (32, 16, 8, 6, 4, 2, 1)
    cells = section["cells"]
    assert [(cell["threads"], cell["queue_depth"]) for cell in cells] == [
        (threads, depth) for threads in order for depth in order
    ]
    assert {cell["read_ratio"] for cell in cells} == {0.65}
    points = {each["name"]: each for each in section["operating_points"]}
    # Outstanding over throughput below 32, and 32 x 14361: 2.2 ms; above, proportionally more.
    # So every point up to 64 outstanding (4.5 ms, less as half take half as long) is one to choose.
    assert points["MIN"]["threads"] == points["MIN"]["queue_depth"] == 1
    assert points["MAX"]["iops_mean"] == pytest.approx(14361, rel=1e-3)
    # The middle of 14361 and 449 is 7405: 16 outstanding, 7181.
    assert points["MID"]["threads"] * points["MID"]["queue_depth"] == 16
    record = record_of(tmp_path / "run")
    first = record.of_phase("rounds")[0]
    assert (first.action.seconds, first.stimulus.read_ratio) == (300, 0)
    assert len(record.of_phase("point-writes", "MAX")) == 60
    assert len(record.of_phase("point", "MAX")) == 10


def test_without_a_quick_point_only_the_least_demand_is_looked_at(tmp_path: Path) -> None:
    section, _ = run(tmp_path / "run", "dirth")["sections"]
    assert [each["name"] for each in section["operating_points"]] == ["MIN"]


def test_writes_that_never_settle_before_the_demand_are_said_and_shown(tmp_path: Path) -> None:
    # Steps 2 to 26 are the writes; every other one is half as fast, and nothing after them.
    session = FakeSession(
        wobble=lambda step: -0.5 * (step % 2) if 2 <= step < 27 else 0.0, **SETTLED
    )
    result = run(tmp_path / "run", "dirth", session)
    section, before = result["sections"]
    assert (section["verdict"], section["rounds"]) == ("steady", 5)
    assert (before["verdict"], before["rounds"]) == ("not_steady", 25)
    assert before["windows"][0]["last_round"] == 25
    assert result["verdict"] == "not_steady"
    titles = [page.title for page in build(tmp_path / "run").pages if len(page.exhibits) == 3]
    assert "DIRTH - preconditioning" in titles


def test_host_idle_recovery_that_never_settles_goes_on_after_twenty_five_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hir, "ACCESSES", 3)
    # Only the last minute of a round counts: every other one is half as fast. Step 0 is the purge.
    session = FakeSession(wobble=lambda step: -0.5 * ((step - 1) // 30 % 2), **SETTLED)
    (section,) = run(tmp_path / "run", "hir", session)["sections"]
    assert (section["verdict"], section["rounds"]) == ("not_steady", 25)
    assert (section["windows"][0]["first_round"], section["windows"][0]["last_round"]) == (21, 25)
    record = record_of(tmp_path / "run")
    assert len(record.of_phase("rounds")) == 25 * 30
    assert len(section["wait_states"]) == 5
    # The cell is what is judged: the last minutes of the window's rounds.
    (cell,) = section["cells"]
    assert cell["iops_mean"] == pytest.approx(section["windows"][0]["mean"])
    state = section["wait_states"][0]
    accesses = record.of_phase("wait", "wait state 1")
    assert state["latency_ns_max"] == max(step.latency_ms_max for step in accesses) * 1e6
    assert state["latency_ns_percentiles"]["50"] <= state["latency_ns_percentiles"]["99.999"]


@pytest.mark.parametrize(
    ("name", "broken"), [("hir", 400), ("wsat", 35), ("ecw", 200), ("class", 4)]
)
def test_every_test_goes_on_to_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, broken: int
) -> None:
    monkeypatch.setattr(hir, "ACCESSES", 40)
    asked: dict[str, Any] = {}
    if name == "class":
        asked["workload_class"] = load_class("mail").to_json()

    def session(fails: Callable[[int], BaseException | None] = lambda _: None) -> FakeSession:
        capacity = 65536 * MIB if name == "wsat" else 256 * MIB
        return FakeSession(
            fails=fails, settles_bytes=4 * capacity, capacity_bytes=capacity, bytes_per_second=1e9
        )

    stopped = session(lambda step: KeyboardInterrupt() if step >= broken else None)
    with pytest.raises(KeyboardInterrupt):
        run_fake(tmp_path / "run", name, stopped, **asked)
    whole, went_on = (run(tmp_path / each, name, session(), **asked) for each in ("whole", "run"))
    assert went_on == whole


def test_the_composite_workload_is_refused_on_blocks_larger_than_its_requests(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match=r"cannot run ecw: .*requests of 512 B.*4096 B"):
        run(tmp_path / "run", "ecw", FakeSession(block_bytes=4096))
