"""The page of a trace, and the files next to it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from made_trace import msr_file, spc_file

from drivelab.exhibits import HeatFigure, Table
from drivelab.exhibits.course import MOST_POINTS
from drivelab.report.page import render
from drivelab.traces import figures, tables
from drivelab.traces.characterization import Characterization, characterize
from drivelab.traces.exhibits import trace_report
from drivelab.traces.saved import window_columns, windows_csv, windows_parquet
from drivelab.traces.values import characterization_values
from drivelab.traces.words import accuracy, caution_lines, finding_lines, summary, time_text
from drivelab.workloads.recorded import RecordedFiles

S = 10**9


@pytest.fixture(scope="module")
def spc(tmp_path_factory: pytest.TempPathFactory) -> Characterization:
    path = spc_file(tmp_path_factory.mktemp("traces"))
    return characterize(RecordedFiles((str(path),)), window_ns=10 * S)


@pytest.fixture(scope="module")
def msr(tmp_path_factory: pytest.TempPathFactory) -> Characterization:
    path = msr_file(tmp_path_factory.mktemp("traces"))
    return characterize(RecordedFiles((str(path),)), window_ns=10**8)


def made(trace: Characterization) -> str:
    return render(trace_report(trace, characterization_values(trace))).html


def test_the_page_has_what_the_trace_shows(spc: Characterization, msr: Characterization) -> None:
    page = made(spc)
    for words in ("Where requests go over time", "Working set", "What a cache would serve"):
        assert words in page
    assert "How long requests took" not in page
    page = made(msr)
    for words in ("How long requests took", "Reads: response time", "Queue depth", "web:0"):
        assert words in page
    assert made(msr) == page


def test_every_table_behind_a_figure_is_saved(spc: Characterization, msr: Characterization) -> None:
    names = {table.name for table in render(trace_report(spc, {})).tables}
    assert {"addresses", "addresses_1", "streams", "reuse", "working_set"} <= names
    rendered = render(trace_report(msr, {}))
    names = {table.name for table in rendered.tables}
    assert {"addresses", "gaps", "sizes", "rates", "responses", "times"} <= names
    heat = next(table for table in rendered.tables if table.name == "addresses")
    assert sum(int(row[2]) for row in heat.rows if row[2] is not None) == 300


@pytest.mark.parametrize("count", [1, 2])
def test_few_requests_are_a_page_too(tmp_path: Path, count: int) -> None:
    lines = [f"0,{8 * index},4096,r,1.5" for index in range(count)]
    trace = characterize(RecordedFiles((str(spc_file(tmp_path, lines)),)), window_ns=S)
    page = made(trace)
    assert "What it asks for" in page
    assert "All requests arrive at the same time." in page
    assert ("The trace has one request." in page) == (count == 1)
    # No time between arrivals, so no picture of such times.
    assert "Times between arrivals" not in page
    assert trace.requests_per_second is None


def test_a_heat_figure_covers_the_trace(spc: Characterization) -> None:
    figure = figures.heat_figure(spc, spc.found["heat"], name="addresses", title="Where")
    assert isinstance(figure, HeatFigure)
    assert sum(count for *_, count in figure.cells) == 600
    # 102 s, in seconds.
    assert figure.x.label == "time (s)"
    assert figure.ends[0] == pytest.approx(spc.span_ns / 1e9, rel=0.01)
    assert figure.ends[0] <= (max(column for column, *_ in figure.cells) + 1) * figure.column


def test_windows_without_requests_are_drawn_as_none(tmp_path: Path) -> None:
    lines = [f"0,0,4096,r,{second}" for second in (0, 1, 2, 50, 51)]
    trace = characterize(RecordedFiles((str(spc_file(tmp_path, lines)),)), window_ns=S)
    assert len(trace.windows["begin_ns"]) == 5
    rates = figures.windows_figures(trace).figures[0]
    (line,) = rates.lines
    assert len(line.y) == 52
    assert line.y[:4] == (1, 1, 1, 0)
    assert np.nansum(line.y[:-1]) == 4


def test_many_windows_are_put_together(tmp_path: Path) -> None:
    lines = [f"0,0,4096,r,{index}" for index in range(3_000)]
    trace = characterize(RecordedFiles((str(spc_file(tmp_path, lines)),)), window_ns=S)
    shown = figures.windows_figures(trace)
    assert len(shown.figures[0].lines[0].y) <= MOST_POINTS
    assert "Each point stands for 6 windows" in shown.note
    assert "Every window" not in made(trace)


def test_windows_are_saved_with_units(msr: Characterization, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(windows_csv(msr))))
    assert [row["begin_ns"] for row in rows] == ["0", "100000000", "200000000"]
    assert [row["response_ns_p99"] for row in rows] == ["2000000"] * 3
    assert rows[0]["queue_ns_mean"] == ""
    assert rows[0]["most_requests_in_100ms"] == ""
    assert [len(cells) for _, _, cells in window_columns(msr)] == [3] * len(rows[0])
    pyarrow = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "windows.parquet"
    path.write_bytes(windows_parquet(msr))
    table = pyarrow.read_table(path)
    assert table.column_names == list(rows[0])
    assert table["read_requests"].to_pylist() == [int(row["read_requests"]) for row in rows]


def test_bursts_are_reported_if_there_are_enough_intervals(spc: Characterization) -> None:
    table = tables.arrivals_table(spc)
    assert [row[0] for row in table.rows] == ["1 ms", "10 ms", "100 ms", "1 s", "10 s"]
    steady = dict(zip(table.columns, table.rows[3], strict=True))
    assert steady["most requests"] == 100


def test_devices_that_are_not_shown_are_summed(tmp_path: Path) -> None:
    lines = [f"{index % 30},{index * 8},4096,w,{index}" for index in range(300)]
    trace = characterize(RecordedFiles((str(spc_file(tmp_path, lines)),)))
    table: Table = tables.devices_table(trace, 10)
    assert len(table.rows) == 11
    assert table.rows[-1][:2] == ("20 others", 200)


def test_words(spc: Characterization, tmp_path: Path) -> None:
    assert summary(spc) == (
        "600 requests in 102 s, 5.88 a second: 67 % reads of 4 KiB on average, 0.5 % random; "
        "33 % writes of 2 KiB on average, 26 % random. Together they touch 1.6 MiB."
    )
    assert "exact" in accuracy(spc)
    assert list(caution_lines(spc)) == []
    assert [time_text(ns) for ns in (60e9, 1e8, 300e9, 1500)] == [
        "60 s",
        "100 ms",
        "5 min",
        "1.50 µs",
    ]
    lines = ["0,1,512,r,1", "0,1,512,r,2", "odd", "0,1,512,r,1.5", "0,1,512,r,9"]
    path = spc_file(tmp_path, lines)
    trace = characterize(RecordedFiles((str(path),), skip_bad_lines=True, devices=("0",)))
    assert list(finding_lines(trace.checks)) == [
        "1 line not of the format, cut off or damaged, skipped (at line 3)",
        "1 line earlier than the previous request in the same file (at line 4)",
    ]
    assert list(caution_lines(trace)) == ["1 bad line skipped."]
