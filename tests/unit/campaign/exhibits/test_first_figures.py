"""The figures that a page begins with, of one drive and of several."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_run import measurement

from drivelab.campaign.exhibits.first_figures import (
    faster_where,
    latency_throughput,
    latency_throughput_of,
    sizes_by_pattern,
)
from drivelab.campaign.exhibits.sweep_figures import DriveSweeps
from drivelab.campaign.exhibits.sweeps import sweep_table
from drivelab.drives.measurement import Measurement
from drivelab.exhibits import Table
from drivelab.report.drawing.drawn import drawn
from drivelab.workloads.huang2011_sweeps import sweep_workloads

EVERY = [measurement(*item) for item in enumerate(sweep_workloads())]


def slower(one: Measurement, times: float) -> Measurement:
    """Return a measurement whose requests took longer."""
    parts = {
        name: None if part is None else replace(part, latency_ns_mean=part.latency_ns_mean * times)
        for name, part in (("read", one.read), ("write", one.write))
    }
    return replace(one, duration_ns=round(one.duration_ns * times), **parts)


def drive(label: str, table: Table, kind: str = "simulated") -> DriveSweeps:
    return DriveSweeps(label, kind, table, "the drive cannot run them")


def test_one_drive_has_a_curve_for_reads_and_one_for_writes() -> None:
    figure = latency_throughput(sweep_table(EVERY), "simulated")
    assert figure is not None
    reads, writes = figure.lines
    assert (reads.label, writes.label) == ("Reads", "Writes")
    # A closed loop: queue depth over latency is throughput.
    for line in figure.lines:
        for place, (rate, latency_ns) in enumerate(zip(line.x, line.y, strict=True)):
            assert rate * latency_ns / 1e9 == pytest.approx(2**place, rel=1e-6)
    assert reads.names == ("depth 1", "", "", "", "", "", "64")
    assert reads.texts[1].startswith("Random reads, queue depth 2\n")
    assert (figure.x.label, figure.y.label) == (
        "simulated throughput (IOPS)",
        "simulated mean latency",
    )
    assert ">depth 1</text>" in drawn(figure).panels[0].svg


def test_a_run_without_curves_has_neither_figure() -> None:
    table = sweep_table(EVERY[:1])
    assert latency_throughput(table, "simulated") is None
    assert sizes_by_pattern(table, "simulated", "why") is None
    assert faster_where([drive("a", table), drive("b", sweep_table([]))], table) is None


def test_the_map_holds_the_bandwidth_of_each_size_and_pattern() -> None:
    figure = sizes_by_pattern(sweep_table(EVERY), "simulated", "why")
    assert figure is not None
    assert figure.x.categories[0] == "1 KiB"
    assert figure.x.categories[-1] == "256 KiB"
    assert figure.y.categories == (
        "Sequential reads",
        "Strided reads",
        "Random reads",
        "Sequential writes",
        "Strided writes",
        "Random writes",
    )
    # By the formula: 256 KiB in 60 us + 4 ns a byte.
    size = 256 * 1024
    assert figure.values[0][-1] == pytest.approx(size / (60e3 + 4 * size) * 1e3, rel=1e-6)
    assert figure.cautions == ()


def test_what_the_map_lacks_is_said_and_stays_empty() -> None:
    writes = [one for one in EVERY if one.characteristics.write_ratio == 1]
    figure = sizes_by_pattern(sweep_table(writes), "measured", "the drive cannot run them")
    assert figure is not None
    assert set(figure.values[0]) == {None}
    (missing,) = figure.cautions
    assert "27 of 54 points were not measured" in missing.line


def test_a_map_that_is_mostly_empty_is_no_picture() -> None:
    # A run without sweeps has a few of their points among its workloads.
    few = [one for one in EVERY if one.characteristics.write_ratio == 1][:8]
    assert sizes_by_pattern(sweep_table(few), "simulated", "why") is None


def test_a_faster_drive_is_faster_by_as_much() -> None:
    table = sweep_table(EVERY)
    half = sweep_table([slower(one, 2.0) for one in EVERY])
    near = sweep_table([slower(one, 1.05) for one in EVERY])
    figure = faster_where([drive("a", half), drive("b", table), drive("c", near)], table)
    assert figure is not None
    for values, texts in zip(figure.values, figure.texts, strict=True):
        assert values == pytest.approx((1.0, 2.0, 2 / 1.05), rel=1e-3)
        assert texts == ("1\N{MULTIPLICATION SIGN}", "", "")
    same = faster_where([drive("b", table), drive("c", near)], table)
    assert same is not None
    assert {texts[1] for texts in same.texts} == {"same"}


def test_what_may_be_noise_is_called_the_same() -> None:
    table = sweep_table(EVERY)
    place = table.columns.index("half_width_ratio")
    noisy = replace(
        sweep_table([slower(one, 1.4) for one in EVERY]),
        rows=tuple(
            (*row[:place], 0.5, *row[place + 1 :])
            for row in sweep_table([slower(one, 1.4) for one in EVERY]).rows
        ),
    )
    figure = faster_where([drive("a", table), drive("b", noisy)], table)
    assert figure is not None
    assert {texts[1] for texts in figure.texts} == {"same"}


def test_the_drive_with_most_points_is_what_others_are_held_against() -> None:
    table = sweep_table(EVERY)
    writes = sweep_table([one for one in EVERY if one.characteristics.write_ratio == 1])
    figure = faster_where([drive("a", writes), drive("b", table)], table)
    assert figure is not None
    assert "of b:" in figure.lead
    assert all("writes" in label for label in figure.y.categories)


def test_curves_of_several_drives_share_their_axes() -> None:
    table = sweep_table(EVERY)
    figure = latency_throughput_of([drive("a", table), drive("/dev/b", table, "real")], table)
    assert figure is not None
    reads, writes = figure.figures
    assert reads.x.also == writes.x.also
    assert [line.label for line in reads.lines] == ["a", "/dev/b"]
    assert [line.origin for line in reads.lines] == ["simulated", "real"]
