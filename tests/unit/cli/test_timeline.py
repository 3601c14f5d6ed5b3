"""`drivelab timeline`: the drawing, its page, its table and JSON, of a request or a span."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
import xml.etree.ElementTree as ET
import zlib
from functools import partial
from pathlib import Path

import pytest
from timed_operations import assert_disjoint, small_preset

from drivelab.cli import main as cli
from drivelab.timeline.stages import COLUMNS


@pytest.fixture
def small(tmp_path: Path):
    """Give `small("x25m-yoo2014")`: the path of the preset with little flash."""
    return partial(small_preset, tmp_path)


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
    assert "2 flash operations on 2 units, done after 1.09 ms" in capsys.readouterr().out


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
    assert "next to this file" not in text
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
    body = text[text.index("<body") :]
    assert workload in re.sub("<[^>]+>", "", body[: body.index("<svg")])
    assert "This is a short span of one run" in text


def test_page_of_a_span_says_which_part_of_the_drive_holds_data(small, tmp_path: Path) -> None:
    scenario, path = tmp_path / "part.toml", tmp_path / "span.html"
    scenario.write_text(
        'requests = 1000\n[[stream]]\nname = "w"\nqueue_depth = 4\nwrite_ratio = 1\n'
        "[occupancy]\nfilled = 0.5\n"
    )
    words = ["timeline", small("bench-64gib"), "--scenario", str(scenario), "--for", "1ms"]
    assert cli.main([*words, "-o", str(path)]) == 0
    text = path.read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "only 50 % of the drive holds data, at its beginning" in text


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
        (["--record", "4k"], "nothing to write: give -o FILE.svg, FILE.html or FILE.pdf, --csv"),
        (["--record", "4k", "-o", "x.png"], "x.png does not end in .svg or .html or .pdf, which"),
        (["--record", "4k", "--csv", "x.svg"], "x.svg does not end in .csv"),
        (["--record", "4k", "-o", "none/x.svg"], "there is no folder none"),
        (["--record", "0", "--json"], "a record of 0 bytes cannot be drawn"),
        (["--record", "100", "--json"], "allowed: a multiple of 512 up to 16777216"),
        (["--record", "17MiB", "--json"], "a record of 17825792 bytes cannot be drawn"),
        (["--record", "4k", "--op", "erase", "--json"], "it takes read, write"),
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for", "1ms", "--op", "read"], "--op and --record draw one request, --for a span"),
        (["--for", "0"], "--for is 0; allowed: more than 0"),
        (["--from", "1ms", "--op", "read", "--record", "4k"], "--from is for a span of a run"),
        (["--queue-depth", "4", "--op", "read", "--record", "4k"], "--queue-depth is for a span"),
        ([], "nothing to draw: give --op and --record for one request, or --for"),
        (["--for", "1s", "--queue-depth", "64"], "more than 4096 flash operations are in the span"),
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
    assert "there is no flash operation from 1.00 s to 1.00 s of the run: name another" in said


@pytest.mark.parametrize(
    ("drive", "op", "why"),
    [
        ("zones", "write", "a write of 64 KiB at the start of the drive: the drive refuses it"),
        ("zn540", "read", "a read of 64 KiB at the start of the drive: the drive has no data"),
    ],
)
def test_request_without_a_flash_operation_is_refused(
    drive: str, op: str, why: str, tmp_path: Path, capsys
) -> None:
    path = Path(__file__).parents[3] / "examples" / f"{drive}.toml"
    for ending in (".svg", ".html"):
        out = tmp_path / f"t{ending}"
        words = ["timeline", str(path), "--op", op, "--record", "64KiB", "-o", str(out)]
        assert cli.main(words) == 2
        said = capsys.readouterr().err
        assert f"there is no flash operation in {why}" in said
        assert "; draw a span of a run, --for with a workload or --scenario" in said
        assert said.count("\n") == 1
        assert not out.exists()


def test_cores_have_lanes_where_the_firmware_takes_time(small, tmp_path: Path, capsys) -> None:
    table = "[firmware]\ntime = 'fixed'\ncores = 2\ncommand_ns = 7_000\n"
    path = small("x25m-yoo2014", table)
    svg = tmp_path / "t.svg"
    words = ["timeline", path, "--op", "write", "--record", "8KiB"]
    assert cli.main([*words, "-o", str(svg), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    piece = {"core": 0, "cause": "host", "start_ns": 0, "end_ns": 7_000}
    assert values["core_work"] == [piece]
    assert values["operations"][0]["dispatch_start_ns"] == 7_000
    assert values["duration_ns"] == 7_000 + 33_000 + 1_055_000
    drawn = svg.read_text()
    assert "core 0" in drawn
    assert "firmware at work" in drawn
