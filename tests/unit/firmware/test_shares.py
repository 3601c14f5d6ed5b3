"""The firmware's share of an operation, by hand; and a report of an evaluation."""

from __future__ import annotations

import pytest
from made_profile import profiled

from drivelab.firmware.evaluation import Evaluation, evaluate
from drivelab.firmware.exhibits import evaluation_report, headline
from drivelab.firmware.shares import FLASHES, operation_share
from drivelab.firmware.static_count import StaticCount


def test_a_share_is_firmware_over_firmware_and_flash() -> None:
    share = operation_share(profiled("XX", 500, moved=1500), FLASHES[0], dies=32)
    # Of a request: 2 reads of 12 us and 2 programs of 400 us, over 32 dies.
    assert share.flash_ns == pytest.approx((2 * 12_000 + 2 * 400_000) / 32)
    assert share.firmware_ns == pytest.approx(1.5 * (2000 + 3000 + 3000))
    assert share.ratio == pytest.approx(12_000 / (12_000 + 25_750))


def test_a_share_without_collection_counts_what_requests_need() -> None:
    asked = profiled("XX", 500, moved=1500)
    share = operation_share(asked, FLASHES[0], dies=32, with_collection=False)
    # Half a read of 12 us and half a program of 400 us.
    assert share.flash_ns == pytest.approx((0.5 * 12_000 + 0.5 * 400_000) / 32)


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


def test_without_rest_from_collection_it_is_distinguished() -> None:
    always = [
        profiled("A", 200, moved=1000),
        profiled("B", 700, moved=10),
        profiled("C", 0, moved=9),
    ]
    count = StaticCount.of(always)
    assert count.read_instructions == pytest.approx(4000)
    assert count.written_instructions == pytest.approx(6000)


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
    assert found.cautions[0].startswith("static is left out: instructions of reads, writes")


def test_flash_is_added_and_the_hosts_time_is_a_baseline() -> None:
    profiles = [profiled(f"W{reads}", reads) for reads in (0, 500, 1000)]
    found = evaluate(profiles, ["ratio"], dies=32)
    (error, *_) = found.by_model["ratio"].errors
    # Everywhere the target takes four times as long.
    assert error.ratio == pytest.approx(0)
    assert found.flash_ns["W500"] == pytest.approx((500 * 12_000 + 500 * 400_000) / 32)
    off = evaluate(profiles, ["static"], dies=32)
    alone, with_flash = off.by_model["static"].ratio, off.ratio_with_flash("static")
    assert with_flash is not None
    assert 0 < with_flash < alone
    assert evaluate(profiles, ["static"]).ratio_with_flash("static") is None
