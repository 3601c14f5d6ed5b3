"""Figures 3 to 7: points are found by their workloads, and missing ones are named."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from made_run import made_run, measurement, run_of

from drivelab.campaign.exhibits.courses import noise_text
from drivelab.campaign.exhibits.sweep_figures import (
    DriveSweeps,
    _Drawn,
    _line,
    missing_reason,
    one_drive,
    several_drives,
)
from drivelab.campaign.exhibits.sweep_words import held, sweep_words
from drivelab.campaign.exhibits.sweeps import Line, lines_of, sweep_table
from drivelab.report.drawing.drawn import drawn
from drivelab.store import Failure
from drivelab.workloads.huang2011_sweeps import sweep_workloads, sweeps
from drivelab.workloads.parts import Parts

EVERY = [measurement(*item) for item in enumerate(sweep_workloads())]


def line(
    latencies_ms: Sequence[float],
    values: Sequence[float] | None = None,
    half_widths: Sequence[float] = (),
) -> Line:
    """Return a line of queue depths whose throughput is depth over latency."""
    depths = tuple(float(2**place) for place in range(len(latencies_ms)))
    values = depths if values is None else tuple(values)
    iops = tuple(depth / ms * 1e3 for depth, ms in zip(values, latencies_ms, strict=True))
    return Line(
        figure=4,
        panel="reads",
        series="random",
        characteristic="queue_depth",
        values=tuple(values),
        indices=tuple(range(len(values))),
        performance={
            "latency_ns_mean": tuple(1e6 * ms for ms in latencies_ms),
            "bandwidth_bytes_per_second": tuple(4096 * rate for rate in iops),
            "iops": iops,
        },
        half_widths=tuple(half_widths) or (0.0,) * len(values),
        missing=(),
    )


def test_every_point_of_every_sweep_is_a_row() -> None:
    table = sweep_table(EVERY)
    assert len(table.rows) == sum(len(sweep.workloads) for sweep in sweeps())
    assert None not in table.column("index")
    for sweep in sweeps():
        rows = table.records(figure=sweep.figure, panel=sweep.panel, series=sweep.series)
        by_index = {one.index: one for one in EVERY}
        for row, workload in zip(rows, sweep.workloads, strict=True):
            found = by_index[int(str(row["index"]))]
            assert found.characteristics.key() == workload.key()
            assert row["value"] == getattr(workload, sweep.characteristic)
            assert row["iops"] == found.iops


def test_points_are_found_in_any_part_and_the_first_of_equals_counts() -> None:
    first, second = EVERY[3], replace(EVERY[3], index=999, duration_ns=1)
    table = sweep_table([first, second])
    found = [row for row in table.records() if row["index"] is not None]
    assert {row["index"] for row in found} == {3}
    assert found[0]["iops"] == first.iops


def test_missing_points_are_empty_and_never_zero() -> None:
    # Every second point is there.
    table = sweep_table(EVERY[::2])
    for row in table.records(index=None):
        assert [row[name] for name in table.columns[6:]] == [None] * 4
    lines = lines_of(table, 3)
    assert lines[0].values == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert lines[0].missing == (0.1, 0.3, 0.5, 0.7, 0.9)
    words = sweep_words(3, table, "the drive cannot run them")
    (missing,) = words.missing
    assert missing.line == (
        "5 of 11 points were not measured (random reads and writes at 5 points): the drive cannot "
        "run them."
    )


def test_a_line_breaks_where_a_point_is_missing() -> None:
    first, *_ = one_drive(sweep_table(EVERY[:5] + EVERY[6:11]), "simulated", "")
    one = drawn(first)
    svg = one.panels[0].svg
    lines = re.findall(
        r'<path d="(M [^"]*)" style="fill: none; stroke: var\(--series-1,#0072b2\)', svg
    )
    assert [one.count("L") for one in lines] == [4, 4]
    assert len(one.tips["sweep-3-latency_ns_mean"]) == 10


def test_a_drive_that_ran_none_has_no_drawing_and_says_so() -> None:
    writes = [one for one in EVERY if one.characteristics.write_ratio == 1]
    section = one_drive(sweep_table(writes), "simulated", "the drive cannot run them")
    depth = section[1]
    (missing,) = depth.cautions
    assert missing.line == (
        "7 of 14 points were not measured (all random reads): the drive cannot run them."
    )
    nothing = one_drive(sweep_table([]), "simulated", "the campaign is not finished")
    assert all(figure.figures == () for figure in nothing)
    assert nothing[0].cautions[0].line.startswith("None of the 11 points was measured: ")
    assert all(drawn(figure).panels == () for figure in nothing)


def test_single_points_of_another_part_are_no_curves() -> None:
    (first, *_) = (sweep for sweep in sweeps() if sweep.figure == 5)
    lone = one_drive(sweep_table([measurement(0, first.workloads[0])]), "simulated", "why")
    assert all(figure.figures == () for figure in lone)
    pair = one_drive(
        sweep_table([measurement(at, first.workloads[at]) for at in range(2)]), "simulated", "why"
    )
    assert [bool(figure.figures) for figure in pair] == [False, False, True, True]


def test_the_reason_for_what_is_missing() -> None:
    run = made_run(10, sweeps=True)
    assert missing_reason(run) == "the drive cannot run them"
    cut = replace(run, measurements=run.measurements[:20])
    assert missing_reason(cut) == "the campaign is not finished, or the drive cannot run them"
    failures = [Failure(one.index, "fio failed", "") for one in run.measurements[20:]]
    failed = replace(cut, failures=failures)
    assert missing_reason(failed) == "they failed, or the drive cannot run them"
    assert missing_reason(made_run(10)) == "the run was made without sweeps"
    assert missing_reason(run_of(EVERY, Parts(len(EVERY)))) == ("the run was made without sweeps")


def test_what_is_held_is_read_from_the_workloads() -> None:
    assert held(3) == "Kept the same: requests of 256 KiB, random places and one request at a time."
    assert (
        held(4)
        == "Kept the same: requests of 256 KiB, random places and reads and writes each alone."
    )
    assert held(6) == (
        "Kept the same: gaps of 64 KiB where there are any, one request at a time and reads and "
        "writes each alone."
    )


def test_wide_half_widths_are_drawn_and_said() -> None:
    sure = line([1, 2, 4], half_widths=[0.04] * 3)
    unsure = line([1, 2, 4], half_widths=[0.04, 0.3, 1.5])
    assert noise_text([sure]) == ""
    assert noise_text([sure, unsure]) == (
        "A bar at a mean latency holds the true one 95 times of 100 (the widest: "
        "\N{PLUS-MINUS SIGN}150 %); what differs by less may be noise."
    )

    def bars(of: Line, metric: str) -> list[int]:
        drive = _Drawn(of, "d", "d")
        every = {value: value for value in of.values}
        shown = _line(drive, metric, every)
        return [place for place, low in enumerate(shown.low) if not math.isnan(low)]

    # Two points have a bar.
    assert bars(unsure, "latency_ns_mean") == [1, 2]
    assert bars(sure, "latency_ns_mean") == bars(unsure, "iops") == []


def test_several_drives_share_panels_and_are_distinguished() -> None:
    writes = [one for one in EVERY if one.characteristics.write_ratio == 1]
    drives = [
        DriveSweeps("sim:a", "simulated", sweep_table(EVERY), ""),
        DriveSweeps("/dev/b", "real", sweep_table(writes), "the drive cannot run them"),
    ]
    section = [drawn(figure) for figure in several_drives(drives, drives[0].table)]
    assert [len(figure.panels) for figure in section] == [3, 6, 6, 6, 6]
    style_a, style_b = (style for style, _ in section[0].legend)
    assert [label for _, label in section[0].legend] == [
        "sim:a (simulated)",
        "/dev/b (measured)",
    ]
    assert (style_a.hollow, style_b.hollow) == (True, False)
    assert style_a.dash != style_b.dash
    assert style_a.marker != style_b.marker
    reads = section[1].tips["sweep-4-iops-reads-random"]
    assert {text.split(",")[0] for text in reads} == {"sim:a"}
    both = section[1].tips["sweep-4-iops-writes-random"]
    assert [text.split(",")[0] for text in both] == ["sim:a"] * 7 + ["/dev/b"] * 7
    (missing,) = section[1].cautions
    assert missing.name == "Missing points of /dev/b"
    assert missing.line.startswith("7 of 14 points were not measured (all random reads): ")
