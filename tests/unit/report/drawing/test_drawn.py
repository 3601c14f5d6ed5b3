"""Exhibits: what is drawn, what is saved, and that neither depends on colour alone."""

from __future__ import annotations

import colorsys
import csv
import io
import itertools
import re
from dataclasses import replace
from math import isnan, nan
from xml.etree import ElementTree

import made_pts_report as made
import pytest
from matplotlib.colors import to_rgb

from drivelab.exhibits import (
    Axis,
    BarFigure,
    Exhibit,
    LaneBar,
    LaneFigure,
    Line,
    LineFigure,
    Multiples,
    Table,
)
from drivelab.exhibits.number_text import number_text, size_text, value_text
from drivelab.report.drawing.bars import bars_document
from drivelab.report.drawing.drawn import drawn
from drivelab.report.drawing.lanes import LOOKS
from drivelab.report.drawing.line_styles import LineStyle, series_style
from drivelab.report.drawing.looks import Drawn, cell_style, luminance, ramp
from drivelab.report.drawing.theme import themed

EXHIBITS = (
    made.convergence(),
    made.window(),
    made.window_table(),
    made.two_dimensions(),
    made.columns(),
    made.histogram(),
    made.course(),
    made.bars(),
    made.long_table(),
)


def texts(one: Drawn) -> list[str]:
    return [text for panel in one.panels for text in re.findall(r">([^<]+)</text>", panel.svg)]


def rows(one: Drawn) -> list[list[str]]:
    return list(csv.reader(io.StringIO(one.saved[0].csv())))


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.name)
def test_the_same_exhibit_is_the_same_bytes(exhibit: Exhibit) -> None:
    one, other = drawn(exhibit), drawn(exhibit)
    assert one == other
    assert (one.panels or one.table) is not None


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.name)
def test_every_drawing_says_what_it_shows(exhibit: Exhibit) -> None:
    for panel in drawn(exhibit).panels:
        assert f'aria-label="{exhibit.title}' in panel.svg


def test_numbers_have_the_digits_that_they_deserve() -> None:
    assert [value_text(x) for x in (0, 0.012345, 1, 12.5, 998, 1234.5, 7654321.0, -3.14159)] == [
        "0",
        "0.01235",
        "1.000",
        "12.50",
        "998.0",
        "1,234",
        "7,654,321",
        "-3.142",
    ]
    assert [number_text(x) for x in (0.5, 60, 1000, 1e7)] == ["0.5", "60", "1,000", "10,000,000"]
    assert [size_text(x) for x in (512, 4096, 2**20)] == ["0.5 KiB", "4 KiB", "1 MiB"]


def test_block_sizes_and_rates_are_written_round() -> None:
    found = texts(drawn(made.two_dimensions()))
    assert found[:12] == [
        *("0.5 KiB", "1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"),
        *("128 KiB", "256 KiB", "512 KiB", "1 MiB"),
    ]
    # The unit stands at each tick, so not in the label.
    assert found[12] == "block size"
    assert found[13:] == ["100", "1,000", "10,000", "100,000", "throughput (IOPS)"]


def test_guides_are_named_where_they_end_and_series_in_the_legend() -> None:
    one = drawn(made.window())
    assert {"mean", "90 % of the mean", "110 % of the mean"} <= set(texts(one))
    assert [label for _, label in one.legend] == ["4 KiB, 0/100", "least-squares line"]
    assert one.panels[0].svg.count("stroke-dasharray") >= 4


def test_names_of_guides_that_end_at_one_height_are_moved_apart() -> None:
    figure = made.window()
    ends = (4.0, 8.0)
    close = tuple(
        Line(name, ends, (level, level), "guide")
        for name, level in (("one", 2800.0), ("two", 2800.5), ("three", 2801.0))
    )
    svg = drawn(replace(figure, lines=(figure.lines[0], *close))).panels[0].svg
    heights = [
        float(re.search(rf' y="([\d.]+)"[^>]*>{name}</text>', svg)[1])
        for name in ("one", "two", "three")
    ]
    # Downwards on the page; letters of 8.5 points need at least as much.
    assert all(one - other >= 8.5 for one, other in itertools.pairwise(heights))


def test_what_has_no_place_on_a_logarithmic_axis_is_reported_and_saved() -> None:
    line = Line(
        "one", (1.0, 2.0, 3.0), (10.0, 0.0, 1000.0), low=(9.0, 0.0, 900.0), high=(11.0,) * 3
    )
    figure = LineFigure("f", "F", Axis("round"), Axis("rate (IOPS)", "log10"), (line,))
    one = drawn(replace(figure, lines=(replace(line, low=(), high=()),)))
    assert one.notes == (
        "1 point has no place on a logarithmic axis (0 or below); the CSV has all.",
    )
    assert rows(drawn(figure)) == [
        ["line", "role", "round", "rate (IOPS)", "low", "high"],
        ["one", "data", "1", "10", "9", "11"],
        ["one", "data", "2", "0", "0", "11"],
        ["one", "data", "3", "1000", "900", "11"],
    ]


def test_a_figure_without_points_is_drawn_too() -> None:
    figure = LineFigure("f", "F", Axis("round"), Axis("rate (IOPS)", "log10"), ())
    assert len(drawn(figure).panels) == 1
    assert len(drawn(replace(figure, y=Axis("rate"), lines=(Line("x", (), ()),))).panels) == 1


def test_dots_are_not_joined_and_an_empty_line_has_no_name_in_the_legend() -> None:
    lines = (Line("some", (1.0, 2.0), (10.0, 11.0), "dots"), Line("none", (), (), "dots"))
    one = drawn(LineFigure("f", "F", Axis("round"), Axis("rate (IOPS)"), lines))
    ((style, label),) = one.legend
    assert label == "some"
    assert isinstance(style, LineStyle)
    assert (style.marker, style.joins) == ("o", False)
    assert len(one.tips["f"]) == 2
    assert "some: 2 points" in one.panels[0].svg


def test_a_dark_page_changes_every_colour_of_lanes_and_hatchings() -> None:
    kinds = tuple((look, look, look) for look in LOOKS)
    bars = tuple(LaneBar(0, at, at + 1.0, look) for at, look in enumerate(LOOKS))
    axis = Axis("time (ms)", also=(0.0, float(len(LOOKS))))
    lanes = LaneFigure("l", "L", axis, ("one", "two"), bars, kinds)
    for exhibit in (lanes, made.bars()):
        for panel in drawn(exhibit).panels:
            # Only as what a variable is without a page.
            bare = re.sub(r"var\([^)]*\)", "", panel.svg)
            assert re.findall(r"(?:fill|stroke)(?::|=\") ?#[0-9a-f]{3,6}", bare) == []


def test_a_trace_of_one_point_is_seen() -> None:
    figure = made.course()
    one = replace(figure.lines[0], x=(1.0,), y=(10.0,))
    two = replace(figure.lines[0], x=(1.0, 2.0), y=(10.0, 11.0))
    marked, plain = (drawn(replace(figure, lines=(line,))).panels[0].svg for line in (one, two))
    color = themed(series_style(0).color)
    assert f"fill: {color}" in marked
    assert f"fill: {color}" not in plain


def dots(svg: str, line: int) -> list[tuple[float, float, float]]:
    """Return x, y and radius of the markers of a trace, by its place in the figure."""
    color = re.escape(themed(series_style(line, trace=True).color))
    found = re.search(rf'd="M 0 ([\d.]+) [^"]*"/></defs><g style="fill: {color}"(.*?)</g>', svg)
    if not found:
        return []
    places = re.findall(r' x="([\d.]+)" y="([\d.]+)"', found[2])
    return [(float(x), float(y), float(found[1])) for x, y in places]


@pytest.mark.parametrize(
    ("y", "alone"),
    [
        ((557.0, nan, nan, 90.0, 100.0), [557.0]),
        ((90.0, 100.0, nan, 557.0, nan, 90.0, 80.0), [557.0]),
        ((90.0, 100.0, nan, 557.0), [557.0]),
        ((nan, 557.0, nan), [557.0]),
        ((1.0, nan, 2.0, nan, 3.0, 4.0, nan, 5.0), [1.0, 2.0, 5.0]),
        ((1.0, 2.0, nan, 3.0, 4.0), []),
    ],
)
@pytest.mark.parametrize("small", [False, True])
def test_a_point_alone_between_gaps_is_a_dot(
    y: tuple[float, ...], alone: list[float], *, small: bool
) -> None:
    # Each is drawn twice, so that every dot shows: the later trace's are larger and behind.
    x = tuple(map(float, range(len(y))))
    lines = tuple(Line(name, x, y, "trace") for name in ("mean", "99 %"))
    figure = LineFigure("f", "F", Axis("time (ms)"), Axis("time (us)", "log10"), lines)
    svg = drawn(Multiples("m", "", (figure,)) if small else figure).panels[0].svg
    # Tooltips have a place for every point, in order.
    pointed = re.search(r'-points"><path d="([^"]+)"', svg)
    assert pointed
    places = re.findall(r"M([\d.]+) ([\d.]+)h0", pointed[1])
    values = [value for value in y if not isnan(value)]
    expected = [
        (float(across), float(up))
        for (across, up), value in zip(places[: len(values)], values, strict=True)
        if value in alone
    ]
    first, second = dots(svg, 0), dots(svg, 1)
    for found in (first, second):
        assert [(across, up) for across, up, _ in found] == [
            pytest.approx(place, abs=0.11) for place in expected
        ]
    assert all(one[2] < other[2] for one, other in zip(first, second, strict=True))
    if alone:
        colors = [themed(series_style(line, trace=True).color) for line in range(2)]
        assert svg.rfind(colors[1]) < svg.rfind(colors[0])


def test_every_point_can_be_pointed_at_unless_there_are_too_many() -> None:
    one = drawn(made.convergence())
    height = value_text(made.iops(0.5, 0.0, 1.0))
    assert one.tips["iops-convergence"][0] == f"0.5 KiB\nround: 1\nthroughput (IOPS): {height}"
    assert len(one.tips["iops-convergence"]) == 8 * 8
    assert drawn(made.course()).tips == {}


def test_columns_are_next_to_a_table_that_hides_none() -> None:
    one = drawn(made.columns())
    assert one.beside
    assert one.table is not None
    assert one.table.columns == ("block size \\ read/write mix (%)", *made.MIXES)
    first, last = one.table.rows[0], one.table.rows[-1]
    assert [text for text, _ in first] == [
        "0.5 KiB",
        *(value_text(made.iops(0.5, reads)) for reads in made.READS),
    ]
    # What was not measured is neither a number nor coloured.
    assert last[1] == ("\N{EN DASH}", "")
    # Three faces for each of the 55 columns that have a value, and the floor.
    assert one.panels[0].svg.count("<path ") - one.panels[0].svg.count("fill: none") >= 3 * 55
    assert len(rows(one)) == 1 + 56
    assert rows(one)[50] == ["1 MiB", "100/0", ""]


def test_heights_of_columns_are_written_out_as_other_axes_are() -> None:
    figure = made.columns()
    values = tuple(tuple(5e6 for _ in row) for row in figure.values)
    found = texts(drawn(replace(figure, values=values)))
    assert {"1,000,000", "5,000,000"} <= set(found)
    assert not [text for text in found if re.search(r"\de[+-]?\d", text)]


@pytest.mark.parametrize("count", [3, 20])
def test_names_of_rows_do_not_lie_on_each_other(count: int) -> None:
    y = Axis("drive", categories=tuple(f"drive {place} (simulated)" for place in range(count)))
    figure = replace(made.columns(), y=y, values=((1.0,) * len(made.MIXES),) * count)
    (panel,) = drawn(figure).panels
    found = re.findall(r"font-size: ([\d.]+)px[^>]* y=\"([\d.]+)\">drive \d", panel.svg)
    assert len(found) == count
    heights = sorted(float(height) for _, height in found)
    size = float(found[0][0])
    assert size <= 8
    assert all(high - low >= 0.99 * size for low, high in itertools.pairwise(heights))


def test_a_table_of_columns_of_one_value_or_none_is_drawn() -> None:
    figure = replace(
        made.columns(),
        x=Axis("mix", categories=("100/0",)),
        y=Axis("block size", categories=("4 KiB",)),
        values=((5.0,),),
    )
    assert len(drawn(figure).panels) == 1
    assert len(drawn(replace(figure, values=((0.0,),))).panels) == 1
    assert drawn(replace(figure, values=((None,),))).panels == ()
    logarithmic = replace(figure, z=Axis("IOPS", "log10"))
    assert len(drawn(logarithmic).panels) == 1
    assert len(drawn(replace(logarithmic, values=((0.0,),))).panels) == 1


def test_more_is_darker_and_letters_stay_readable() -> None:
    shares = [step / 20 for step in range(21)]
    bright = [luminance(*ramp(share)) for share in shares]
    assert bright == sorted(bright, reverse=True)
    for share in shares:
        style = cell_style(share)
        letters = luminance(1, 1, 1) if "color:#fff" in style[12:] else luminance(0, 0, 0)
        lighter, darker = sorted((luminance(*ramp(share)), letters), reverse=True)
        # WCAG 2, level AA.
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_no_cell_would_be_read_more_easily_with_the_other_letters() -> None:
    for step in range(1001):
        style = cell_style(step / 1000)
        below = luminance(*(int(style[place : place + 2], 16) / 255 for place in (12, 14, 16)))
        of_dark = (below + 0.05) / 0.05
        of_white = 1.05 / (below + 0.05)
        has_white = style.endswith("color:#fff")
        chosen, other = (of_white, of_dark) if has_white else (of_dark, of_white)
        # Shades are written in steps of 1/255.
        assert chosen >= 0.99 * other


def test_histogram_bars_hold_every_request_and_levels_are_marked() -> None:
    figure = made.histogram()
    one = drawn(figure)
    total = sum(count for _, _, count in figure.bins)
    assert one.notes[0] == f"{total:,} requests."
    assert {"50 %", "99.999 %", "mean", "max"} <= set(texts(one))
    assert sum(int(row[2]) for row in rows(one)[1:]) == total
    empty = drawn(replace(figure, bins=(), levels=(), mean_us=0.0, max_us=0.0))
    assert empty.panels == ()
    assert empty.notes[0] == "No request was counted."
    single = drawn(
        replace(figure, bins=((100.0, 101.0, 1),), levels=(), mean_us=100.0, max_us=100.0)
    )
    assert len(single.panels) == 1


def test_levels_at_one_time_are_one_line() -> None:
    levels = tuple((level, 100.0) for level in made.LEVELS)
    figure = replace(
        made.histogram(), bins=((100.0, 101.0, 9),), levels=levels, mean_us=100.0, max_us=100.0
    )
    found = texts(drawn(figure))
    assert "mean to max" in found
    assert "50 %" not in found
    two = texts(drawn(replace(figure, levels=((50.0, 100.0),), max_us=400.0)))
    assert {"mean, 50 %", "max"} <= set(two)


def test_an_axis_between_two_powers_of_ten_has_several_ticks() -> None:
    line = Line("x", (1.0, 2.0), (12_100.0, 12_900.0))
    figure = LineFigure("f", "F", Axis("round"), Axis("rate (IOPS)", "log10"), (line,))
    ticks = [text for text in texts(drawn(figure)) if "," in text]
    assert len(ticks) >= 3
    assert "12,000" in ticks


def test_an_axis_of_one_round_counts_whole_ones() -> None:
    line = Line("4 KiB", (1.0,), (50.0,))
    figure = LineFigure("one", "One", Axis("round"), Axis("throughput (IOPS)", "log10"), (line,))
    assert {text for text in texts(drawn(figure)) if "." in text} == set()
    assert {"0", "1", "2"} <= set(texts(drawn(figure)))


def test_a_long_label_stands_in_several_lines() -> None:
    found = texts(drawn(made.course()))
    assert max(len(text) for text in found) < 40


def test_bars_carry_names_values_and_intervals() -> None:
    one = drawn(made.bars())
    assert len(one.panels) == 2
    found = texts(one)
    assert {"x25m (simulated)", "1.000", "1.700", "2.400", "4 KiB random reads"} <= set(found)
    # The long name stands in several lines, none of which is long.
    assert "".join(text for text in found if "SAMSUNG" in text or "disk" in text)
    assert max(len(text) for text in found) <= 22
    assert rows(one)[1] == ["x25m (simulated)", "4 KiB random writes", "1", "0.95", "1.05"]
    assert rows(one)[2] == ["x25m (simulated)", "4 KiB random reads", "2", "", ""]


def test_simulated_bars_are_hatched_and_real_ones_full() -> None:
    figure = made.bars()
    simulated = drawn(replace(figure, bars=figure.bars[:1])).panels[0].svg
    real = drawn(replace(figure, bars=figure.bars[2:])).panels[0].svg
    assert "<pattern" in simulated
    assert "<pattern" not in real


def test_bars_stand_in_a_document_of_their_own() -> None:
    figure = replace(made.bars(), note="a line below")
    text = bars_document(figure)
    assert text == bars_document(figure)
    assert ElementTree.fromstring(text).tag.endswith("svg")  # noqa: S314
    for words in (figure.title, *figure.groups, figure.note):
        assert words in text
    # Bars of kinds have a legend.
    kinds = tuple(f"kind {place}" for place, _ in enumerate(figure.bars))
    assert kinds[0] not in text
    assert kinds[0] in bars_document(replace(figure, kinds=kinds[:1] * len(kinds)))


def test_a_bar_without_value_says_so() -> None:
    figure = BarFigure("b", "B", Axis("x"), ("g",), (("one", (None,), (None,)),))
    assert "no value" in texts(drawn(figure))


def test_no_guide_runs_through_the_value_of_a_bar() -> None:
    bars = (("one", (0.6,), (None,)), ("two", (0.1,), (None,)), ("three", (0.9,), (None,)))
    figure = BarFigure("b", "B", Axis("x", quantity="share"), ("g",), bars, guides=(0.65,))
    svg = drawn(figure).panels[0].svg
    left = {
        text: float(re.search(rf' x="([\d.]+)"[^>]*>{text}</text>', svg)[1])
        for text in ("60 %", "10 %", "90 %")
    }
    dashed = next(line for line in re.findall(r"<path[^>]*>", svg) if "stroke-dasharray" in line)
    guide = float(re.search(r'd="M ([\d.]+)', dashed)[1])
    assert left["10 %"] < guide < left["60 %"] < left["90 %"]


def test_cells_of_a_table() -> None:
    exhibit = Table(
        "t",
        ("a", "b", "c"),
        ((None, 1234, "<b>"), (1.5, None, "x")),
        title="T",
    )
    one = drawn(exhibit)
    assert one.table is not None
    assert [[text for text, _ in row] for row in one.table.rows] == [
        ["\N{EN DASH}", "1,234", "<b>"],
        ["1.500", "\N{EN DASH}", "x"],
    ]
    assert one.table.numeric == (True, True, False)
    assert rows(one) == [["a", "b", "c"], ["", "1234", "<b>"], ["1.5", "", "x"]]


def test_no_two_of_24_series_look_alike_without_colour() -> None:
    looks = [(style.marker, style.dash) for style in map(series_style, range(24))]
    assert len(set(looks)) == 24
    traces = [series_style(place, trace=True) for place in range(3)]
    assert len({style.dash for style in traces}) == 3
    assert {style.marker for style in traces} == {""}


def test_no_two_of_24_traces_look_alike() -> None:
    looks = [series_style(place, trace=True) for place in range(24)]
    for one, other in itertools.combinations(looks, 2):
        if one.dash != other.dash:
            continue
        hues = [colorsys.rgb_to_hls(*to_rgb(style.color)) for style in (one, other)]
        # Greys have no hue of their own.
        if min(saturation for *_, saturation in hues) > 0.2:
            apart = abs(hues[0][0] - hues[1][0])
            assert min(apart, 1 - apart) > 20 / 360, (one, other)
        else:
            assert one.color != other.color
