"""The header of every page of a test's report, and its warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_session import FakeSession
from fake_test_run import SETTLED, run_fake

from drivelab.drives.session import Purge
from drivelab.pts.header import cautions
from drivelab.pts.journal import read_record
from drivelab.pts.report import build
from drivelab.store import RunStore


def run(path: Path, session: FakeSession | None = None, **asked: Any) -> dict[str, Any]:
    out = run_fake(path, "throughput", session, **asked)
    assert out.problem is None
    return out.result


def test_every_field_that_the_specification_wants_is_there(tmp_path: Path) -> None:
    header = run(tmp_path / "run", operator="Ann")["header"]
    assert list(header)[:6] == ["date", "operator", "specification", "test", "drive", "kind"]
    assert header["date"] == "2026-01-02 03:04 UTC"
    assert header["operator"] == "Ann"
    assert header["specification"] == "follows SNIA SSS PTS 2.0.x"
    assert header["test"] == "Throughput test (PTS-C)"
    assert (header["vendor"], header["model"], header["interface"]) == ("Fake", "Toy", "none")
    # Nobody said.
    for field in ("serial", "firmware", "form factor", "media", "host", "operating system"):
        assert header[field] == "not known"
    assert header["capacity"] == "268 MB"
    assert header["purge"] == "done (a fresh state)"
    assert header["preconditioning"] == "2 x user capacity, 1 MiB sequential writes"
    assert header["active range"] == "75 %, 201 MB"
    assert header["outstanding"] == "2 threads x queue depth 16"
    alone = run(tmp_path / "alone", threads=1)["header"]
    assert alone["outstanding"] == "1 thread x queue depth 16"


def test_what_is_known_from_implementations_alone_is_called_pts_style(tmp_path: Path) -> None:
    result = run_fake(tmp_path / "run", "hir").result
    assert result["header"]["specification"].startswith("PTS-style")
    assert result["header"]["preconditioning"] == "none"


def test_what_differs_from_the_specification_is_reported(tmp_path: Path) -> None:
    asked = {"rule": "white-paper", "active_range_ratio": 0.3}
    result = run(tmp_path / "run", **asked)
    assert result["header"]["specification"] == (
        "follows SNIA SSS PTS 2.0.x, except for the steady-state rule and the active range"
    )
    assert {
        "Steady state was judged by the rule white-paper; the specification's is pts.",
        "The active range was 30 % of the drive; the specification wants 75 %.",
    } <= set(result["cautions"])
    content = run(tmp_path / "content", content="zero")
    assert content["header"]["specification"].endswith(", except for the data pattern")
    own = run_fake(tmp_path / "own", "blocks", FakeSession(**SETTLED), content="zero")
    assert own.result["header"]["specification"] == (
        "by the method of SNIA SSS PTS 2.0.x, except for the data pattern; not one of its tests"
    )
    # Cross stimulus recovery judges nothing.
    unjudged = run_fake(tmp_path / "xsr", "xsr", FakeSession(**SETTLED), rule="white-paper")
    assert "except" not in unjudged.result["header"]["specification"]


@pytest.mark.parametrize(
    ("name", "asked", "message"),
    [
        ("dirth", {"block_bytes": 8192, "write_ratio": 0.35}, ": 8 KiB random R/W 65/35"),
        ("dirth", {}, ": 4 KiB random R/W 0/100"),
        ("blocks", {"write_ratio": 0.35}, ": R/W 65/35"),
        ("wsat", {}, ""),
        ("wsat", {"workload": "composite"}, ": composite"),
        ("wsat", {"idle_seconds": 30.0}, ": 30 s idle after every minute of writes"),
        (
            "wsat",
            {"idle_seconds": 1.5, "scale": 0.5, "workload": "8k-random-mixed"},
            ": 8k-random-mixed, 1.5 s idle after every minute of writes, scaled by 0.5",
        ),
    ],
)
def test_what_a_test_sent_is_shown_where_it_was_chosen(
    tmp_path: Path, name: str, asked: dict[str, Any], message: str
) -> None:
    header = run_fake(tmp_path / "run", name, FakeSession(**SETTLED), **asked).result["header"]
    assert header["test"].partition("(PTS-C)")[2] == message


def test_a_simulated_drive_without_its_variability_is_called_so(tmp_path: Path) -> None:
    result = run(tmp_path / "run", FakeSession(identity={"variability": "off"}))
    assert result["header"]["kind"] == "simulated drive, without its variability"
    assert run(tmp_path / "varying")["header"]["kind"] == "simulated drive"


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ("unavailable", "NOT DONE, unavailable (nvme format): it has no such command"),
        ("refused", "NOT DONE, refused (nvme format): it has no such command"),
    ],
)
def test_a_purge_that_was_not_done_is_reported(tmp_path: Path, outcome: Any, message: str) -> None:
    purge = Purge(outcome, "nvme format", "it has no such command")
    result = run(tmp_path / "run", FakeSession(purge=purge))
    assert result["header"]["purge"] == message
    assert result["purges"][0]["outcome"] == outcome
    assert any("was not purged" in each for each in result["cautions"])


def test_a_file_gives_no_device_level_result(tmp_path: Path) -> None:
    result = run(tmp_path / "run", FakeSession("real", is_whole_device=False))
    assert result["header"]["kind"] == "file or partition, not a device"
    assert any("not a device-level result" in each for each in result["cautions"])
    assert result["header"]["write cache"] == "not known"
    assert any("the specification wants it on" in each for each in result["cautions"])
    assert result["starts"] == 1


def test_drives_that_ran_at_the_same_time_are_named(tmp_path: Path) -> None:
    run(tmp_path / "run", FakeSession("real", **SETTLED))
    with RunStore.open(tmp_path / "run") as store:
        record = read_record(store)
    assert not any("at the same time" in each for each in cautions(record))
    # It resumed next to another drive than the one it began with.
    with RunStore.open_to_append(tmp_path / "run", record.header) as store:
        store.record_start({"beside": ["/dev/sdb"]})
    with RunStore.open(tmp_path / "run") as store:
        found = cautions(read_record(store))
    assert any(each.startswith("/dev/sdb ran at the same time") for each in found)


def test_blocks_left_out_are_reported_for_tests_that_have_them(tmp_path: Path) -> None:
    result = run(tmp_path / "run", FakeSession(block_bytes=4096, **SETTLED))
    assert not any("left out" in each for each in result["cautions"])


def test_a_scaled_run_is_stamped_and_shorter(tmp_path: Path) -> None:
    session = FakeSession(**SETTLED)
    result = run(tmp_path / "run", session, scale=0.25)
    report = build(tmp_path / "run")
    assert (result["stamp"], report.stamp) == ("not a PTS result", "not a PTS result")
    assert any("scaled by 0.25" in each for each in report.result["cautions"])
    assert any("may still be fresh even where" in each for each in report.result["cautions"])
    assert result["capacity_bytes"] == session.capacity_bytes // 4
    assert result["range_bytes"] == session.capacity_bytes * 3 // 16
    with RunStore.open(tmp_path / "run") as store:
        record = read_record(store)
    written, first = record.steps[0], record.of_phase("rounds", "1024 KiB")[0]
    assert written.action.total_bytes == session.capacity_bytes // 2
    assert written.stimulus.range_bytes == first.stimulus.range_bytes == result["range_bytes"]
    assert first.action.seconds == 15.0


@pytest.mark.parametrize(
    ("edition", "kind", "outstanding", "share", "is_forced"),
    [
        ("enterprise", "simulated", (4, 32), 1.0, True),
        # A real drive's own cache is switched off instead.
        ("enterprise", "real", (4, 32), 1.0, False),
        ("client", "simulated", (2, 16), 0.75, False),
    ],
)
def test_what_the_editions_ask_for(  # noqa: PLR0917
    tmp_path: Path,
    edition: str,
    kind: Any,
    outstanding: tuple[int, int],
    share: float,
    is_forced: bool,
) -> None:
    session = FakeSession(kind, **SETTLED)
    run(tmp_path / "run", session, edition=edition)
    with RunStore.open(tmp_path / "run") as store:
        stimuli = [step.stimulus for step in read_record(store).steps]
    assert {(each.threads, each.queue_depth) for each in stimuli} == {outstanding}
    assert {each.range_bytes for each in stimuli} == {int(session.capacity_bytes * share)}
    assert {each.is_forced for each in stimuli} == {is_forced}
