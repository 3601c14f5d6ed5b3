"""The drives of Lee et al. 2021 and of today: cliff, latencies and mapping, by hand."""

from __future__ import annotations

import pytest

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

WRITES_IN_ORDER = Characteristics(
    write_ratio=1.0, queue_depth=32, write_size=2**17, write_random=0.0
)


def test_the_cache_of_the_consumer_drive_ends_in_a_cliff() -> None:
    """Writes in order are fast for as many bytes as the region holds, then a sixth as fast or less.

    In the region every page costs its transfer and its fast program; behind it each block of a
    plane also waits until as many pages were folded: sensed, moved over the channel twice, and
    programmed slowly, and for two erases.
    """
    with SimulatedDrive.open("sim:consumer-qlc") as drive:
        slc, timing = drive.preset["slc"], drive.preset["timing"]
        geometry = drive.preset["geometry"]
        values = drive.simulate(
            WRITES_IN_ORDER,
            warmup_requests=0,
            requests=140_000,
            interval_seconds=0.01,
        ).values
    planes = 4 * 2 * 4
    page = geometry["page_size_bytes"]
    # All of it was written once, and of that the block being filled is not folded. Writes begin
    # to fold when less than a block is free.
    left = drive.capacity_bytes // page // planes % slc["pages_per_block"]
    room = (slc["blocks_per_plane"] - 1) * slc["pages_per_block"] + 1 - left
    region = planes * room * page
    assert region == pytest.approx(12e9, rel=0.05)
    rows = values["series"]["rows"]
    fast_rate = planes * page / (slc["program_cell_ns"] + timing["write_register_ns"]) * 1e9
    cliff = next(
        index for index, row in enumerate(rows) if row["bandwidth_bytes_per_second"] < fast_rate / 2
    )
    fast = sum(row["bytes"] for row in rows[:cliff])
    # An interval and what waits in the buffer and the queue either way.
    slack = fast_rate * 0.01 + 2**21 + 32 * 2**17
    assert abs(fast - region) <= slack
    assert fast / rows[cliff]["start_ns"] * 1e9 == pytest.approx(fast_rate, rel=0.01)
    # From then on every page written has one folded before it, and every block's worth an erase.
    moved = slc["read_cell_ns"] + timing["read_register_ns"] + timing["write_register_ns"]
    folded = moved + timing["program_cell_ns"]
    written = timing["write_register_ns"] + slc["program_cell_ns"]
    round_ns = slc["pages_per_block"] * (folded + written) + timing["erase_cell_ns"]
    slow_rate = planes * page * slc["pages_per_block"] / round_ns * 1e9
    slow = rows[cliff + 1 : -1]
    slow_ns = slow[-1]["start_ns"] - slow[0]["start_ns"]
    # The window ends within a round: an erase of each plane more or less, and the queue.
    assert slow_ns > 2 * round_ns
    assert sum(row["bytes"] for row in slow[:-1]) / slow_ns * 1e9 == pytest.approx(
        slow_rate, rel=0.02
    )
    # Evenly: what stands still is the erases, of all planes at a time and one in a round.
    still = [row for row in slow if row["bytes"] == 0]
    assert len(still) <= 2 * (slow_ns // round_ns + 1)


def test_a_read_of_lee_et_al_takes_its_cells_and_its_channel() -> None:
    plan = MeasurementPlan(warmup_requests=0, requests=1, workers=1)
    reads = Characteristics(read_size=2**14)
    with SimulatedDrive.open("sim:lee2021-znand") as drive:
        # Section 4.1: 256 MB of map, 4 bytes for each page of the terabyte.
        assert drive.capacity_bytes // 2**14 * 4 == 256 * 2**20
        geometry, collection = drive.preset["geometry"], drive.preset["collection"]
        (measured,) = drive.measure([(0, reads)], plan)
    flash = 4 * 4 * 2 * geometry["blocks_per_plane"] * geometry["pages_per_block"] * 2**14
    assert flash == 1.25 * 2**40
    assert collection["reserve_blocks_per_plane"] == 0.10 * geometry["blocks_per_plane"]
    assert collection["stop_blocks_per_plane"] == 0.15 * geometry["blocks_per_plane"]
    assert measured.latency_ns_mean == 12_000 + 13_653


def test_the_two_drives_of_lee_et_al_differ_in_their_cells_alone() -> None:
    presets = []
    for name in ("lee2021-znand", "lee2021-conventional"):
        with SimulatedDrive.open(f"sim:{name}") as drive:
            presets.append(drive.preset)
    cells = [
        [preset["timing"].pop(key) for key in ("read_cell_ns", "program_cell_ns", "erase_cell_ns")]
        for preset in presets
    ]
    # Figure 1; erases are not published.
    assert [each[:2] for each in cells] == [[12_000, 400_000], [150_000, 2_600_000]]
    for preset in presets:
        del preset["name"], preset["summary"]
    assert presets[0] == presets[1]
