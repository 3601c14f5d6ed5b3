"""Timing diagrams: the stages from the simulator's operations, the drawing, the command."""

from __future__ import annotations

import base64
import contextlib
import io
import itertools
import json
import re
import xml.etree.ElementTree as ET
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from drivelab._core import ClosedForm
from drivelab.cli import main as cli
from drivelab.drives.presets.source import read_preset
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.exhibits import Axis, LaneFigure
from drivelab.report.drawing import lanes
from drivelab.report.drawing.lanes import lane_document
from drivelab.timeline.figure import _KINDS, describe, timing_diagram
from drivelab.timeline.stages import COLUMNS, duration_ns, stages

KIB = 1024
# The same drive with little flash: it is prepared in no time.
SMALL = "[geometry]\nblocks_per_plane = 16\nover_provisioning_ratio = 1.0\n"


@pytest.fixture
def small(tmp_path: Path):
    """Give `small("x25m-yoo2014")`: the path of the preset with little flash."""

    def write(base: str, more: str = "") -> str:
        path = tmp_path / f"small-{base}.toml"
        reserve = "[collection]\nreserve_blocks_per_plane = 4\n"
        path.write_text(f'base = "{base}"\nname = "small-{base}"\n{SMALL}{more}{reserve}')
        return str(path)

    return write


def table_of(path: str, op: str, record_bytes: int):
    with SimulatedDrive.open(f"sim:{path}") as drive:
        return stages(drive.timeline(op, record_bytes))


def lengths(table, stage: str) -> list[int]:
    return [row["end_ns"] - row["start_ns"] for row in table.records(stage=stage)]


def assert_disjoint(rows) -> None:
    spans = sorted((row["start_ns"], row["end_ns"]) for row in rows)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))


def test_write_with_waiting_is_figure_7(small) -> None:
    table = table_of(small("x25m-yoo2014"), "write", 512 * KIB)
    assert Counter(table.column("stage")) == {
        "dispatch": 128,
        "register": 128,
        "cell": 128,
        "wait_unit": 6,
    }
    # t_wait of equation 3, once a cycle: 1055 - 20 x 33 us.
    assert lengths(table, "wait_unit") == [395_000] * 6
    assert set(lengths(table, "dispatch")) == {33_000}
    assert set(lengths(table, "register")) == {82_000}
    assert set(lengths(table, "cell")) == {940_000}
    assert duration_ns(table) == 7_616_000


def test_read_without_waiting_is_figure_9(small) -> None:
    table = table_of(small("x25m-yoo2014"), "read", 512 * KIB)
    assert set(table.column("stage")) == {"dispatch", "cell", "register"}
    for operation in range(128):
        steps = [row["stage"] for row in table.records(operation=operation)]
        assert steps == ["dispatch", "cell", "register"]
    assert duration_ns(table) == 2_270_000


def test_planes_share_the_channel_and_program_together_as_in_figure_3(small) -> None:
    # Page 20 lies on the other plane of page 0's die.
    table = table_of(small("x25m-yoo2014-planes"), "write", 21 * 4 * KIB)
    first, second = (table.records(channel=0, way=0, plane=plane, stage="cell") for plane in (0, 1))
    assert [row["operation"] for row in (*first, *second)] == [0, 20]
    assert second[0]["start_ns"] < first[0]["end_ns"]
    assert_disjoint(table.records(channel=0, stage="register"))
    # Without plane mode the die does one after the other.
    table = table_of(small("x25m-yoo2014"), "write", 21 * 4 * KIB)
    assert_disjoint(table.records(channel=0, way=0, stage="cell"))


@pytest.mark.parametrize("op", ["read", "write"])
@pytest.mark.parametrize("record", [4 * KIB, 12 * KIB, 80 * KIB, 84 * KIB, 256 * KIB])
def test_stages_end_when_the_closed_form_says(op: str, record: int, small) -> None:
    path = small("x25m-yoo2014")
    source = read_preset(path)
    expected = ClosedForm(source.toml_text, source.base_texts).record(op, record)["record_ns"]
    assert duration_ns(table_of(path, op, record)) == expected


@pytest.mark.parametrize("op", ["read", "write"])
@pytest.mark.parametrize("base", ["x25m-yoo2014-planes", "x25m", "bench-64gib"])
def test_nothing_is_used_twice_and_no_time_is_lost(base: str, op: str, small) -> None:
    table = table_of(small(base), op, 256 * KIB)
    rows = table.records()
    for channel in set(table.column("channel")):
        assert_disjoint(table.records(channel=channel, stage="register"))
    for unit in set(table.column("unit")):
        held = [row for row in rows if row["unit"] == unit and row["stage"] != "wait_unit"]
        assert_disjoint(row for row in held if row["stage"] != "dispatch")
    assert_disjoint(table.records(stage="dispatch"))
    for operation in set(table.column("operation")):
        steps = table.records(operation=operation)
        for one, other in itertools.pairwise(steps):
            assert one["end_ns"] == other["start_ns"], (operation, one, other)
        assert all(step["end_ns"] > step["start_ns"] for step in steps)


def test_channel_that_is_taken_makes_wait(small) -> None:
    # Eight channels, no dispatch time: the ninth page waits for the first one's transfer.
    table = table_of(small("bench-64gib"), "read", 9 * 4 * KIB)
    waits = table.records(stage="wait_channel")
    found = [(row["operation"], row["start_ns"], row["end_ns"]) for row in waits]
    assert found == [(8, 75_000, 87_300)]


def test_unit_with_a_queue_makes_wait_behind_dispatch(small) -> None:
    table = table_of(small("bench-64gib"), "read", 65 * 4 * KIB)
    wait = table.records(operation=64, stage="wait_unit")
    assert [(row["start_ns"], row["end_ns"]) for row in wait] == [(0, 87_300)]


def operation(**times: object) -> dict[str, object]:
    place = dict.fromkeys(("channel", "way", "die", "plane", "unit"), 0)
    stages_ns = {
        f"{stage}_{end}_ns": 0
        for stage in ("dispatch", "transfer", "cell")
        for end in ("start", "end")
    }
    asked = {"kind": "program", "cause": "host", "stream": None, "page": 0}
    return {**asked, **place, **stages_ns, **times}


def test_wait_for_another_operations_data_is_told_from_one_for_the_channel() -> None:
    read = operation(kind="read", transfer_start_ns=75, transfer_end_ns=87, cell_end_ns=75)
    program = operation(
        channel=1, unit=1, transfer_start_ns=87, transfer_end_ns=99, cell_start_ns=99, cell_end_ns=9
    )
    table = stages([read, program | {"cell_end_ns": 199}])
    assert [row["stage"] for row in table.records(operation=1)] == [
        "wait_operation",
        "register",
        "cell",
    ]
    same_channel = stages([read, program | {"cell_end_ns": 199, "channel": 0}])
    assert same_channel.records(operation=1)[0]["stage"] == "wait_channel"


def test_program_transferred_while_its_die_programs_waits_for_the_die() -> None:
    first = operation(transfer_end_ns=10, cell_start_ns=10, cell_end_ns=310)
    second = operation(transfer_start_ns=10, transfer_end_ns=20, cell_start_ns=310, cell_end_ns=610)
    rows = stages([first, second]).records(operation=1)
    assert [(row["stage"], row["start_ns"], row["end_ns"]) for row in rows] == [
        ("wait_unit", 0, 10),
        ("register", 10, 20),
        ("wait_unit", 20, 310),
        ("cell", 310, 610),
    ]


def test_erase_has_no_transfer() -> None:
    erase = operation(kind="erase", page=None, dispatch_end_ns=5, cell_start_ns=5, cell_end_ns=9)
    assert [row["stage"] for row in stages([erase]).records()] == ["dispatch", "cell"]


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
        "sim:mine: write of 8 KiB, 2 flash operations, over after 2.11 ms",
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


def test_command_writes_drawing_table_and_json(small, tmp_path: Path, capsys) -> None:
    svg, csv = tmp_path / "t.svg", tmp_path / "t.csv"
    words = ["timeline", small("x25m-yoo2014"), "--op", "write", "--record", "8KiB"]
    assert cli.main([*words, "-o", str(svg), "--csv", str(csv), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["duration_ns"] == 33_000 + 1_055_000
    assert (values["op"], values["record_bytes"]) == ("write", 8192)
    assert (values["svg"], values["csv"]) == (str(svg), str(csv))
    assert len(values["operations"]) == 2
    assert values["operations"][1]["dispatch_start_ns"] == 33_000
    assert "</svg>" in svg.read_text()
    lines = csv.read_text().splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert lines[1] == "0,program,host,,0,0,0,0,0,0,dispatch,0,33000"
    assert len(lines) == 1 + 6
    assert cli.main([*words, "-o", str(svg)]) == 0
    assert "2 flash operations on 2 units, over after 1.09 ms" in capsys.readouterr().out


def test_page_holds_the_table_that_csv_writes(small, tmp_path: Path, capsys) -> None:
    page, csv = tmp_path / "t.html", tmp_path / "t.csv"
    words = ["timeline", small("x25m-yoo2014"), "--op", "write", "--record", "8KiB"]
    assert cli.main([*words, "-o", str(page), "--csv", str(csv), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert (values["svg"], values["html"], values["csv"]) == (None, str(page), str(csv))
    text = page.read_text()
    packed = re.search(r'id="data">([^<]+)<', text)[1]
    assert json.loads(zlib.decompress(base64.b64decode(packed)))["csv"] == {
        "timeline": csv.read_text()
    }
    assert "lie beside this file" not in text
    # The same question again replaces the page, another one does not.
    assert cli.main([*words, "-o", str(page)]) == 0
    assert f"wrote {page}" in capsys.readouterr().out
    assert cli.main([*words[:-1], "4KiB", "-o", str(page)]) == 2
    assert "--force" in capsys.readouterr().err
    assert page.read_text() == text


def test_page_of_a_span_says_the_workload_above_the_lanes(small, tmp_path: Path) -> None:
    path = tmp_path / "span.html"
    words = ["timeline", small("bench-64gib"), *SPAN, "-o", str(path)]
    assert cli.main(words) == 0
    text = path.read_text()
    workload = "50 % writes: 4 KiB random reads, 4 KiB random writes, queue depth 8"
    workload = workload.replace("50 %", "50\N{NO-BREAK SPACE}%").replace("4 KiB", "4\xa0KiB")
    assert f'<p class="setting">{workload}</p>' in text
    assert text.index(workload) < text.index("<svg")
    assert "A short span of one run" in text


def test_prefix_of_the_drive_may_be_left_out(small, capsys) -> None:
    path = small("x25m-yoo2014")
    answers = set()
    for prefix in ("", "sim:", "analytic:"):
        assert (
            cli.main(["timeline", prefix + path, "--op", "read", "--record", "4k", "--json"]) == 0
        )
        answers.add(capsys.readouterr().out)
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--record", "4k"], "nothing to write: give -o FILE.svg or FILE.html, --csv"),
        (["--record", "4k", "-o", "x.png"], "x.png does not end in .svg or .html, which"),
        (["--record", "4k", "--csv", "x.svg"], "x.svg does not end in .csv"),
        (["--record", "4k", "-o", "none/x.svg"], "there is no folder none"),
        (["--record", "0", "--json"], "a record of 0 bytes cannot be drawn"),
        (["--record", "100", "--json"], "allowed: a multiple of 512 up to 16777216"),
        (["--record", "17MiB", "--json"], "a record of 17825792 bytes cannot be drawn"),
        (["--record", "4k", "--op", "erase", "--json"], "choose from 'read', 'write'"),
    ],
)
def test_mistake_is_one_line(more, said, small, tmp_path, capsys) -> None:
    with contextlib.chdir(tmp_path):
        code = cli.main(["timeline", small("x25m-yoo2014"), "--op", "read", *more])
    captured = capsys.readouterr()
    assert code == 2
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert not list(tmp_path.glob("x.*"))


def test_fresh_drive_has_nothing_to_read(small, tmp_path: Path, capsys) -> None:
    path = tmp_path / "fresh.toml"
    path.write_text(Path(small("x25m-yoo2014")).read_text())
    text = path.read_text().replace("\n", '\ncondition = "fresh"\n', 1)
    path.write_text(text)
    assert cli.main(["timeline", str(path), "--op", "read", "--record", "4k", "--json"]) == 2
    assert "never written" in capsys.readouterr().err
    assert cli.main(["timeline", str(path), "--op", "write", "--record", "4k", "--json"]) == 0


def test_unknown_drive_lists_the_presets(capsys) -> None:
    assert cli.main(["timeline", "x26m", "--op", "read", "--record", "4k", "--json"]) == 2
    assert "the presets are apex" in capsys.readouterr().err


SPAN = ("--queue-depth", "8", "--write-ratio", "0.5", "--from", "40ms", "--for", "2ms")


def span_of(small, tmp_path: Path, *words: str) -> tuple[dict, Path]:
    path = tmp_path / "span.svg"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        command = ["timeline", small("bench-64gib"), *SPAN, *words, "-o", str(path), "--json"]
        assert cli.main(command) == 0
    return json.loads(out.getvalue()), path


def test_span_of_a_run_is_what_is_under_way_in_it(small, tmp_path: Path) -> None:
    values, _ = span_of(small, tmp_path, "--csv", str(tmp_path / "span.csv"))
    assert (values["from_ns"], values["to_ns"], values["duration_ns"]) == (
        *(40_000_000, 42_000_000, 2_000_000),
    )
    lines = (tmp_path / "span.csv").read_text().splitlines()
    columns = lines[0].split(",")
    rows = [dict(zip(columns, line.split(","), strict=True)) for line in lines[1:]]
    assert rows
    assert all(int(row["end_ns"]) > 40_000_000 for row in rows)
    assert all(int(row["start_ns"]) < 42_000_000 for row in rows)
    # Whole bars, also of what began before the span or ends behind it.
    lasting = {
        (row["kind"], int(row["end_ns"]) - int(row["start_ns"]))
        for row in rows
        if row["stage"] == "cell"
    }
    assert lasting - {("erase", 3_800_000)} == {("read", 75_000), ("program", 750_000)}
    for channel in {row["channel"] for row in rows}:
        assert_disjoint(
            {key: int(row[key]) for key in ("start_ns", "end_ns")}
            for row in rows
            if row["stage"] == "register" and row["channel"] == channel
        )


def test_drawing_of_a_span_has_channels_and_its_own_time(small, tmp_path: Path) -> None:
    _, path = span_of(small, tmp_path)
    text = path.read_text()
    ET.fromstring(text)  # noqa: S314
    for said in (
        "flash operations in 2.00 ms",
        "50 % writes: 4 KiB random reads, 4 KiB random writes, queue depth 8",
        "time since 40.0 ms of the run (ms)",
        "register transfer",
        "<title>workload: read of page ",
    ):
        assert said in text
    labels = re.findall(r">(channel \d+)<", text)
    assert labels
    assert labels == sorted(labels)


def test_legend_is_as_wide_as_the_plot() -> None:
    for count in range(1, len(_KINDS) + 1):
        figure = LaneFigure("t", "T", Axis("time (ms)"), ("lane",), (), _KINDS[:count])
        assert 1 <= lanes._legend_columns(figure) <= count
    # All of them are wider than a page.
    assert lanes._legend_columns(replace(figure, frame="for collection")) < len(_KINDS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for", "1ms", "--op", "read"], "--op and --record draw one request, --for a span"),
        (["--for", "0"], "--for is 0; allowed: more than 0"),
        (["--from", "1ms", "--op", "read", "--record", "4k"], "--from is for a span of a run"),
        (["--queue-depth", "4", "--op", "read", "--record", "4k"], "--queue-depth is for a span"),
        ([], "nothing to draw: give --op and --record for one request, or --for"),
        (["--for", "1s", "--queue-depth", "64"], "more than 4096 flash operations are under way"),
        (["--for", "1ms", "--scenario", "none.toml"], "there is no file none.toml"),
    ],
)
def test_span_that_cannot_be_drawn_is_one_line(words, said, small, tmp_path, capsys) -> None:
    out = str(tmp_path / "t.svg")
    assert cli.main(["timeline", small("bench-64gib"), *words, "-o", out]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert not Path(out).exists()


def test_span_in_which_nothing_happens_is_refused(small, tmp_path: Path, capsys) -> None:
    scenario = tmp_path / "one.toml"
    request = 'at_ns = 0\naction = "read"\noffset_bytes = 0\nsize_bytes = 4096\n'
    scenario.write_text(f'[[stream]]\nname = "a"\n[[stream.request]]\n{request}')
    words = ["timeline", small("bench-64gib"), "--scenario", str(scenario), "--csv"]
    words.append(str(tmp_path / "t.csv"))
    assert cli.main([*words, "--for", "1ms"]) == 0
    assert (tmp_path / "t.csv").read_text().splitlines()[1].startswith("0,read,host,a,0,")
    capsys.readouterr()
    assert cli.main([*words, "--from", "1s", "--for", "1ms", "--force"]) == 2
    said = capsys.readouterr().err
    assert "no flash operation is under way from 1.00 s to 1.00 s of the run: name another" in said
