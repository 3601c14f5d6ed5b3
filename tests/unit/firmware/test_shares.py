"""The firmware's share of an operation, by hand; and a report of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from drivelab.firmware.evaluation import Evaluation, evaluate
from drivelab.firmware.exhibits import evaluation_report, headline
from drivelab.firmware.profiled import COUNTS, EVENTS, Profiled
from drivelab.firmware.record_logs import RecordColumn, RecordLog
from drivelab.firmware.shares import FLASHES, operation_share
from drivelab.firmware.static_count import StaticCount

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORDS = 3


def log(values: Mapping[str, float]) -> RecordLog:
    columns = tuple(RecordColumn(name, "count", "counted") for name in values)
    return RecordLog(columns, np.tile(list(values.values()), (RECORDS, 1)).astype(float), {})


def profiled(label: str, reads: int, *, moved: int = 0) -> Profiled:
    """1000 requests of a page a record; 4000 instructions a read, 6000 a write."""
    writes = 1000 - reads
    counts = dict.fromkeys(COUNTS, 0.0) | {
        "requests": 1000,
        "reads": reads,
        "writes": writes,
        "pages": 1000,
        "copied_bytes": 1000 * 16384,
        "map_lookups": 1000,
        "flash_reads": reads + moved,
        "flash_programs": writes + moved,
        "pages_moved": moved,
    }
    instructions = 4000 * reads + 6000 * writes + 2000 * moved
    time = 1.5 * instructions
    target = {"time_low_ns": 0.9 * time, "time_ns": time, "time_high_ns": 1.2 * time}
    events = dict.fromkeys(EVENTS, 1.0) | {"instructions": instructions, "time_ns": time / 4}
    return Profiled(label, log(counts), log(events), log({**target, "instructions": instructions}))


def test_a_share_is_firmware_over_firmware_and_flash() -> None:
    share = operation_share(profiled("XX", 500, moved=1500), FLASHES[0], dies=32)
    # Of a request: 2 reads of 12 us and 2 programs of 400 us, over 32 dies.
    assert share.flash_ns == pytest.approx((2 * 12_000 + 2 * 400_000) / 32)
    assert share.firmware_ns == pytest.approx(1.5 * (2000 + 3000 + 3000))
    assert share.ratio == pytest.approx(12_000 / (12_000 + 25_750))


def test_the_static_count_knows_no_collection() -> None:
    quiet = [profiled("A", 1000), profiled("B", 200)]
    count = StaticCount.of([*quiet, profiled("C", 0, moved=3000)])
    assert count.read_instructions == pytest.approx(4000)
    assert count.written_instructions == pytest.approx(6000)
    busy = count.times(profiled("C", 0, moved=3000))[0]
    assert busy == count.times(profiled("D", 0))[0]
    # Instructions at 1.2 GHz, payload at 19.2 GB/s, a map entry from memory each.
    cycles_ns, payload_ns, map_ns = 6_000_000 / 1.2, 1000 * 16384 / 19.2, 1000 * 140 / 1.2
    assert busy == pytest.approx(cycles_ns + payload_ns + map_ns)


@pytest.fixture
def found() -> Evaluation:
    return evaluate([profiled(f"W{reads}", reads) for reads in (0, 300, 700, 1000)], ["linear"])


def test_a_report_shows_errors_shares_and_times(found: Evaluation) -> None:
    profiles = [profiled(f"W{reads}", reads) for reads in (0, 300, 700, 1000)]
    report = evaluation_report(found, profiles, 32, "mine")
    assert [page.anchor for page in report.pages] == ["predicted", "share", "profiled"]
    assert report.title == "What firmware costs: mine"
    assert "no board was measured" in report.statement.lower()
    assert headline(found).startswith("Best: linear, off by")


def test_what_cannot_be_counted_is_left_out_and_said() -> None:
    profiles = [profiled(f"W{reads}", reads, moved=10) for reads in (0, 300, 700)]
    found = evaluate(profiles, ["static", "linear"])
    assert list(found.by_model) == ["linear"]
    assert found.cautions[0].startswith("static is left out: instructions of reads and writes")
