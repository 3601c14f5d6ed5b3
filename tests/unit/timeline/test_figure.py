"""The drawing of stages: its contents, and that it fits."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from timed_operations import KIB, operation, small_preset, table_of

from drivelab.exhibits import Axis, LaneFigure
from drivelab.report.drawing import lanes
from drivelab.report.drawing.lanes import lane_document
from drivelab.timeline.figure import _KINDS, describe, timing_diagram
from drivelab.timeline.stages import duration_ns, stages


@pytest.fixture
def small(tmp_path: Path):
    """Give `small("x25m-yoo2014")`: the path of the preset with little flash."""
    return partial(small_preset, tmp_path)


def drawn(table, monkeypatch, name: str = "sim:mine") -> tuple[str, Figure]:
    figures = []
    save = Figure.savefig

    def keep(figure, *args, **settings) -> None:
        figures.append(figure)
        save(figure, *args, **settings)

    monkeypatch.setattr(Figure, "savefig", keep)
    title = describe("write", 8 * KIB, 2, duration_ns(table))
    return lane_document(timing_diagram(table, title=title), name), figures[0]


@pytest.mark.parametrize(
    ("base", "more"),
    [
        ("x25m-yoo2014", ""),
        ("x25m-yoo2014-planes", ""),
        ("bench-64gib", ""),
        (
            "bench-64gib",
            "channels = 32\nways_per_channel = 16\npages_per_block = 16\nplane_mode = true\n",
        ),
    ],
)
@pytest.mark.parametrize("record", [512, 8 * KIB, 512 * KIB, 2048 * KIB])
def test_drawing_holds_all_of_its_text(base, more, record, small, monkeypatch) -> None:
    table = table_of(small(base, more), "write", record)
    svg, figure = drawn(table, monkeypatch, f"sim:{'W' * 60}/{base}.toml")
    outer = figure.bbox
    texts = [*figure.texts, *figure.legends, *figure.axes[0].texts]
    texts += [figure.axes[0].xaxis.label, *figure.axes[0].get_yticklabels()]
    for text in texts:
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= outer.x1, text  # noqa: PT018
        assert box.y0 >= 0 and box.y1 <= outer.y1, text  # noqa: PT018
    # The legend stands above the bars, never over them.
    assert figure.legends[0].get_window_extent().y0 > figure.axes[0].bbox.y1
    labels = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    assert all(upper.y0 >= lower.y1 - 1 for upper, lower in itertools.pairwise(labels))
    assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314


def test_drawing_names_rows_stages_and_units(small, monkeypatch) -> None:
    svg, _ = drawn(table_of(small("x25m-yoo2014"), "write", 84 * KIB), monkeypatch)
    for text in (
        "dispatch stage",
        "channel 9, way 1",
        "register transfer",
        "cell: program",
        "dispatch waits (t_wait)",
        "time since the request arrived (ms)",
        "sim:mine: write of 8 KiB, 2 flash operations, done after 2.11 ms",
    ):
        assert f">{text}" in svg
    assert "plane" not in svg
    svg, _ = drawn(table_of(small("x25m-yoo2014-planes"), "read", 84 * KIB), monkeypatch)
    assert ">channel 0, way 0, plane 1<" in svg
    assert "t_wait" not in svg


def test_drawing_is_the_same_in_every_run(small) -> None:
    table = table_of(small("x25m-yoo2014"), "read", 64 * KIB)
    first, second = (
        lane_document(timing_diagram(table, title="read"), "a & <b>") for _ in range(2)
    )
    assert first == second
    assert "<dc:date>" not in first
    assert "a &amp; &lt;b&gt;: read" in first


def test_collection_is_marked(monkeypatch) -> None:
    host = operation(dispatch_end_ns=5, transfer_start_ns=5, transfer_end_ns=9)
    moved = operation(
        cause="collection", unit=1, way=1, dispatch_start_ns=5, dispatch_end_ns=8,
        transfer_start_ns=9, transfer_end_ns=12, cell_start_ns=12, cell_end_ns=30,
    )  # fmt: skip
    svg, _ = drawn(stages([host, moved]), monkeypatch)
    assert ">for collection<" in svg
    assert ">waits for the channel<" in svg


def test_bars_say_what_they_are_of_which_stream(monkeypatch) -> None:
    read = operation(
        kind="read", stream="<a> & b", page=12_345, dispatch_end_ns=5, cell_start_ns=5,
        cell_end_ns=50_005, transfer_start_ns=50_005, transfer_end_ns=60_505,
    )  # fmt: skip
    moved = operation(cause="collection", unit=1, way=1, dispatch_start_ns=5, dispatch_end_ns=8)
    gathered = operation(unit=1, way=1, page=7, dispatch_start_ns=5, dispatch_end_ns=9)
    erase = operation(
        kind="erase", cause="wear", page=None, unit=2, way=2, cell_start_ns=0, cell_end_ns=12
    )
    svg, _ = drawn(stages([read, moved, gathered, erase]), monkeypatch)
    titles = Counter(
        title.text
        for bar in ET.fromstring(svg).iterfind(".//{*}path")  # noqa: S314
        if (title := bar.find("{*}title")) is not None
    )
    # What dispatch does lies in its own row and in that of the unit.
    assert titles == {
        "<a> & b: read of page 12,345\ndispatch, 0 to 0.005 µs": 2,
        "<a> & b: read of page 12,345\ncell: read, 0.005 to 50.005 µs": 1,
        "<a> & b: read of page 12,345\nregister transfer, 50.005 to 60.505 µs": 1,
        "collection: program of page 0\ndispatch, 0.005 to 0.008 µs": 2,
        "program of page 7\ndispatch, 0.005 to 0.009 µs": 2,
        "wear levelling: erase\ncell: erase, 0 to 0.012 µs": 1,
    }


def test_read_lies_above_the_program_that_it_suspends(monkeypatch) -> None:
    program = operation(transfer_start_ns=0, transfer_end_ns=9, cell_start_ns=9, cell_end_ns=500)
    read = operation(
        kind="read", cell_start_ns=100, cell_end_ns=150, transfer_start_ns=150, transfer_end_ns=160
    )
    _, figure = drawn(stages([program, read]), monkeypatch)
    height = {
        to_hex(bars.get_facecolor()[0]): bars.get_zorder() for bars in figure.axes[0].collections
    }
    assert height["#bfddf0"] > height["#a9dec9"]


def test_legend_is_as_wide_as_the_plot() -> None:
    for count in range(1, len(_KINDS) + 1):
        figure = LaneFigure("t", "T", Axis("time (ms)"), ("lane",), (), _KINDS[:count])
        assert 1 <= lanes._legend_columns(figure) <= count
    # All of them are wider than a page.
    assert lanes._legend_columns(replace(figure, frame="for collection")) < len(_KINDS)
