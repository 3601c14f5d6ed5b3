"""Comparing drives: which is better at what, with rates that follow a formula."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import made_pts_results as made
import pytest

from drivelab.cli import main as cli
from drivelab.cli.pts_compare_text import text_of
from drivelab.errors import DamagedError, UsageError
from drivelab.exhibits import BarFigure, ColumnFigure, LineFigure, Report, Table
from drivelab.pts.class_file import load_class
from drivelab.pts.compared import read_results
from drivelab.pts.compared_cells import IOPS, at_size_and_mix, beats, cells_of, words_of
from drivelab.pts.compared_report import compare
from drivelab.pts.merit import merit_classes, merits
from drivelab.sealed_json import sealed_json
from drivelab.student import Interval

#: Half-width of every interval over its mean.
HALF = 2.7764451051977987 * 0.01 * math.sqrt(0.5)


def saved(folder: Path, *results: dict[str, Any]) -> list[str]:
    names = []
    for place, result in enumerate(results):
        path = folder / f"{place}.json"
        path.write_bytes(sealed_json(result))
        names.append(str(path))
    return names


def exhibits(report: Report, kind: type) -> dict[str, Any]:
    return {
        one.name: one for page in report.pages for one in page.exhibits if isinstance(one, kind)
    }


def test_a_cell_is_found_and_between_cells_rates_follow_the_formula() -> None:
    cells = [cells_of(made.result(speed=speed), IOPS) for speed in (1.0, 3.0)]
    exact = at_size_and_mix(cells, 4096, 0.65)
    assert exact.is_measured
    assert exact.rounds[0] == tuple(made.rate(4096, 0.65) * share for share in made.WOBBLE)
    # Between four cells, two, two; rates of the formula are linear there in logarithms.
    for size, reads in ((12288, 0.7), (12288, 0.65), (4096, 0.2), (700, 0.99)):
        between = at_size_and_mix(cells, size, reads)
        assert not between.is_measured
        for speed, rounds in zip((1.0, 3.0), between.rounds, strict=True):
            expected = [made.rate(size, reads, speed) * share for share in made.WOBBLE]
            assert rounds == pytest.approx(expected)


@pytest.mark.parametrize(("size", "reads"), [(256, 0.0), (2**21, 0.0)])
def test_outside_of_what_was_measured_is_refused(size: int, reads: float) -> None:
    cells = [cells_of(made.result(), IOPS)] * 2
    with pytest.raises(UsageError, match=r"allowed: 0.5 KiB to 1024 KiB, read ratios 0 to 1"):
        at_size_and_mix(cells, size, reads)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [((10, 12), (7, 9), 1), ((7, 9), (10, 12), -1), ((7, 10), (10, 12), 0), ((7, 12), (8, 9), 0)],
)
def test_a_drive_wins_where_intervals_do_not_meet(
    one: tuple[float, float], other: tuple[float, float], expected: int
) -> None:
    first, second = (Interval(sum(ends) / 2, *ends) for ends in (one, other))
    assert beats(first, second, IOPS) == expected
    times = made_latency()
    assert beats(first, second, times) == -expected
    assert beats(Interval(10.0, None, None), second, IOPS) == 0


def made_latency() -> Any:
    from drivelab.pts.compared_cells import measure_of

    return measure_of("latency")


def test_bars_standings_and_columns_of_three_drives() -> None:
    drives = [made.drive("slow"), made.drive("fast", speed=2.0), made.drive("equal", speed=1.01)]
    report = compare(drives)
    bars = exhibits(report, BarFigure)
    assert bars["asked"].groups == ("4 KiB R/W 0/100",)
    mean = made.rate(4096, 0.0)
    (value,), (ends,) = bars["asked"].bars[1][1:]
    assert value == pytest.approx(2 * mean)
    assert ends == pytest.approx((2 * mean * (1 - HALF), 2 * mean * (1 + HALF)))
    normalised = bars["normalised"]
    assert normalised.groups == ("4 KiB R/W 0/100", "64 KiB R/W 65/35", "1024 KiB R/W 100/0")
    assert normalised.bars[1][1] == pytest.approx((2.0, 2.0, 2.0))
    # Both means scatter: 1 % together, at eight degrees of freedom.
    share = 0.01 * 2.3060041
    assert normalised.bars[1][2][0] == pytest.approx((2 * (1 - share), 2 * (1 + share)))
    assert normalised.bars[0][1:] == ((1.0, 1.0, 1.0), (None, None, None))
    table = exhibits(report, Table)["wins"]
    # 1 % apart, with intervals of 2 %: not decided.
    assert [(row[1], *row[5:]) for row in table.rows] == [
        ("fast (simulated)", 2, 0, 0),
        ("equal (simulated)", 0, 1, 1),
        ("slow (simulated)", 0, 1, 1),
    ]
    columns = exhibits(report, ColumnFigure)
    assert len(columns) == 7
    assert columns["columns-35"].values[1][3] == pytest.approx(made.rate(32768, 0.35, 2.0))
    overall = exhibits(report, Table)["wins-overall"]
    assert overall.rows[1] == ("fast (simulated)", 56, 112, 0, 0)
    assert overall.rows[0] == ("slow (simulated)", 0, 0, 56, 56)


def test_a_latency_that_is_less_wins() -> None:
    drives = [made.drive("slow", test="latency"), made.drive("fast", speed=2.0, test="latency")]
    values = compare(drives).result
    assert (values["unit"], values["is_less_better"]) == ("ms", True)
    slow, fast = values["standings"]
    assert (slow["wins"], fast["wins"], fast["losses"]) == (0, 1, 0)
    # Means of the rounds' reciprocals.
    share = sum(1 / each for each in made.WOBBLE) / 5
    assert fast["mean"] == pytest.approx(128e3 / made.rate(4096, 0.0, 2.0) * share)


def test_figure_of_merit_is_the_weighted_harmonic_mean() -> None:
    cells = [cells_of(made.result(speed=speed), IOPS) for speed in (1.0, 5.0)]
    of = load_class("oltp")
    # 4 % of the requests are the log's.
    weights = {(8192, 0.5): 0.96, (4096, 0.0): 0.02, (8192, 0.0): 0.012, (16384, 0.0): 0.008}
    assert {(size, reads): share for size, reads, share in of.weights} == pytest.approx(weights)
    expected = 1 / sum(share / made.rate(*cell) for cell, share in weights.items())
    one, five = merits(of, cells)
    assert one == pytest.approx([expected * share for share in made.WOBBLE])
    assert five == pytest.approx([5 * expected * share for share in made.WOBBLE])


def test_every_class_has_weights_that_add_up_and_says_where_they_come_from() -> None:
    assert len(merit_classes()) >= 4
    for of in merit_classes().values():
        assert sum(share for _, _, share in of.weights) == pytest.approx(1)
        assert of.source
    report = compare([made.drive("a"), made.drive("b")], merit="web-search")
    assert exhibits(report, BarFigure)["merit"].groups[0] == "Web search"
    rows = exhibits(report, Table)["merit-weights"].rows
    assert rows[0] == ("Web search", "128 KiB", "R/W 0/100", 1.0)
    sources = dict(exhibits(report, Table)["merit-sources"].rows)
    assert sources["Web search"] == merit_classes()["web-search"].source


def test_small_blocks_that_a_drive_cannot_serve_are_left_out_on_all() -> None:
    coarse = made.drive("coarse")
    cells = coarse.result["sections"][0]["cells"]
    coarse.result["sections"][0]["cells"] = [each for each in cells if each["block_bytes"] > 512]
    report = compare([made.drive("fine"), coarse])
    assert exhibits(report, Table)["wins-overall"].title.startswith("Over all 49 stimuli")


def test_simulated_and_real_are_distinguished_everywhere() -> None:
    drives = [made.drive("model"), made.drive("disk", kind="real")]
    report = compare(drives)
    assert dict(report.header)["numbers"] == "1 real and 1 simulated drives"
    assert "Not measured on hardware: model (simulated)." in report.pages[0].cautions[0].seen
    for figure in exhibits(report, BarFigure).values():
        assert [name for name, _, _ in figure.bars] == ["model (simulated)", "disk (real)"]
    for columns in exhibits(report, ColumnFigure).values():
        assert columns.y.categories == ("model (simulated)", "disk (real)")


def test_cautions_are_in_the_result_and_on_the_terminal() -> None:
    drives = [made.drive("a"), made.drive("b", verdict="not_steady")]
    report = compare(drives)
    assert report.result["cautions"] == [one.seen for one in report.pages[0].cautions]
    text = text_of({**report.result, "stamp": "", "report": "", "pdf": ""})
    for caution in report.result["cautions"]:
        assert f"note     {caution}" in text.splitlines()


def test_what_differed_is_reported() -> None:
    drives = [made.drive("a"), made.drive("b", settings={"queue_depth": 8}, verdict="not_steady")]
    report = compare(drives)
    assert tuple(report.result["cautions"])[1:] == (
        "b (simulated) never settled: its last rounds are compared.",
        "Not alike, queue depth: a (simulated) 32, b (simulated) 8.",
    )
    assert dict(report.header)["outstanding"] == "differs (see page 1)"
    # What the test sent, which the settings alone do not say.
    header = {**made.result()["header"], "outstanding": "1 thread x queue depth 32"}
    alike = compare([made.drive(name, header=header) for name in "ab"])
    assert dict(alike.header)["outstanding"] == "1 thread x queue depth 32"


def test_a_drive_without_its_variability_is_labelled() -> None:
    drives = [made.drive("a"), made.drive("b"), made.drive("c", kind="real")]
    drives[1].result["drive"]["identity"] = {"variability": "off"}
    message = "Not alike, variability: b (simulated) without it."
    assert message in compare(drives).result["cautions"]
    assert message not in compare(drives[1:]).result["cautions"]


def test_what_the_test_sent_is_in_the_header() -> None:
    header = {**made.result()["header"], "test": "DIRTH (PTS-E): 8 KiB random R/W 65/35"}
    report = compare([made.drive(name, header=header) for name in "ab"])
    assert dict(report.header)["test"] == "DIRTH (PTS-E): 8 KiB random R/W 65/35"


def test_a_scaled_result_stamps_the_comparison() -> None:
    scaled = {"stamp": "not a PTS result", "settings": {"scale": 0.1}}
    report = compare([made.drive("a", **scaled), made.drive("b", **scaled)])
    assert report.stamp == "not a PTS result"


def test_write_saturation_is_normalised_to_fresh_out_of_the_box() -> None:
    drives = [made.saturation("a", 1000.0, 100.0), made.saturation("b", 400.0, 300.0)]
    report = compare(drives)
    lines = exhibits(report, LineFigure)["saturation-normalised"].lines
    assert (lines[0].y[0], lines[0].y[-1], lines[1].y[-1]) == (1.0, 0.1, 0.75)
    table = exhibits(report, Table)["saturation-table"]
    assert table.rows[0] == ("a (simulated)", 1000.0, 100.0, 100.0, 90.0, 60.0, 120, 2.0)
    assert report.result["saturation"][1]["lost_ratio"] == 0.25
    with pytest.raises(UsageError, match="'wsat' has no block sizes and mixes"):
        compare(drives, block_bytes=4096)
    del drives[1].result["sections"][0]["minutes"]
    with pytest.raises(UsageError, match="runs/b lacks minutes of its section: run the test to"):
        compare(drives)


@pytest.mark.parametrize(
    ("verdict", "after", "word"), [("bounded", "never", "never"), ("incomplete", None, "-")]
)
def test_what_was_cut_short_is_not_said_to_settle_never(
    verdict: str,
    after: str | None,
    word: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    drives = [made.saturation("a", 1000.0, 100.0), made.saturation("b", 400.0, 300.0)]
    for drive in drives:
        drive.result["sections"][0] |= {"verdict": verdict, "steady_after_minutes": None}
    report = compare(drives)
    assert exhibits(report, Table)["saturation-table"].rows[0][5] == after
    assert report.result["saturation"][0]["verdict"] == verdict
    names = saved(tmp_path, *(drive.result for drive in drives))
    cli.main(["pts", "compare", *names, "--out", str(tmp_path / "out")])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert {row[-1] for row in rows if row and row[0] in ("a", "b") and "%" in row} == {word}


def test_a_test_over_time_that_lacks_a_value_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = made.saturation("b", 400.0, 300.0).result
    short["sections"][0]["minutes"]["iops"].pop()
    names = saved(tmp_path, made.saturation("a", 1000.0, 100.0).result, short)
    error_text = complaint(capsys, *names)
    assert "1.json: sections[0].minutes is {'end_minutes': " in error_text
    assert "allowed: an object with as many iops as end_minutes; write it again" in error_text
    for test, section, missing in (
        ("hir", {"wait_states": [{}]}, "wait_states.wait_ratio"),
        ("hir", {}, "wait_states"),
        ("xsr", {"segments": [], "cells": []}, "recovery_minutes"),
    ):
        sections = [{"name": "", "verdict": "steady", "rounds": 5, "cells": [], **section}]
        names = saved(tmp_path, *(made.result(test=test, sections=sections) for _ in range(2)))
        assert f"0.json lacks {missing} of its section: " in complaint(capsys, *names)


def test_a_test_over_time_is_shown_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drives = [made.saturation("a", 1000.0, 100.0), made.saturation("b", 400.0, 300.0)]
    names = saved(tmp_path, *(drive.result for drive in drives))
    assert cli.main(["pts", "compare", *names, "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "steady after (min)\n" in out
    assert "note     All drives are simulated: nothing here was measured on hardware.\n" in out
    rows = [line.split() for line in out.splitlines()]
    assert [row[2:8] for row in rows if row and row[0] in ("a", "b")] == [
        ["1,000", "100.0", "100.0", "90.0", "%", "60"],
        ["400.0", "300.0", "300.0", "25.0", "%", "60"],
    ]


def test_scaled_minutes_are_called_so_in_comparisons_too() -> None:
    scaled = {"scale": 0.05, "idle_seconds": 0.0}
    drives = [made.saturation("a", 1000.0, 100.0), made.saturation("b", 400.0, 300.0)]
    for drive in drives:
        drive.result["settings"] |= scaled
    report = compare(drives)
    assert "settled after (min of 3.00 s)" in exhibits(report, Table)["saturation-table"].columns
    paths = dict.fromkeys(("report", "pdf"), "")
    text = text_of({**report.result, "stamp": "", **paths})
    assert "steady after (min of 3.00 s)" in text
    segment = {"last_bandwidth_bytes_per_second": 2e6, "bandwidth_bytes_per_second": [1e6, 2e6]}
    section = {"name": "", "verdict": "untested", "cells": [], "segments": [segment] * 3}
    section["recovery_minutes"] = 7
    drives = [made.drive(name, test="xsr", sections=[section]) for name in ("a", "b")]
    for drive in drives:
        drive.result["settings"] |= scaled
    report = compare(drives)
    assert (
        exhibits(report, Table)["recovery-table"].columns[-1] == "recovered after (min of 3.00 s)"
    )
    assert exhibits(report, LineFigure)["recovery"].x.label == "time (min of 3.00 s)"
    assert "recovered after (min of 3.00 s)" in text_of({**report.result, "stamp": "", **paths})


def test_the_drives_are_distinguished_in_one_line_each() -> None:
    one, other = made.drive("a"), made.drive("b", kind="real")
    one.result["header"]["purge"] = "done (simulated: every block erased)"
    other.result["header"]["purge"] = "done (nvme-format)"
    table = exhibits(compare([one, other]), Table)["drives"]
    place = table.columns.index("purge")
    assert [row[place] for row in table.rows] == ["done", "done (nvme-format)"]


def test_efficiency_is_shown_if_a_drive_reports_its_energy() -> None:
    drives = [made.drive("a"), made.drive("b")]
    assert "efficiency" not in exhibits(compare(drives), BarFigure)
    # The last cell: 0.5 KiB writes; the last but one: 4 KiB writes.
    drives[1].result["sections"][0]["cells"][-2]["iops_per_watt"] = 750.0
    figure = exhibits(compare(drives), BarFigure)["efficiency"]
    assert figure.groups == ("4 KiB R/W 0/100",)
    assert [values for _, values, _ in figure.bars] == [(None,), (750.0,)]


def test_a_class_is_compared_by_its_own_figure() -> None:
    def of(name: str, speed: float) -> Any:
        one = made.drive(name, speed=speed, test="class", title="Workload class test")
        rounds = [1000 * speed * share for share in made.WOBBLE]
        one.result["sections"][0]["windows"] = [{"tracked": "figure of oltp", "values": rounds}]
        return one

    drives = [of("a", 1.0), of("b", 2.0)]
    values = compare(drives).result
    assert [each["mean"] for each in values["standings"]] == pytest.approx([1000, 2000])
    assert values["standings"][1]["wins"] == 1
    assert values["block_bytes"] is None
    with pytest.raises(UsageError, match="'class' has no block sizes and mixes to choose from"):
        compare(drives, read_ratio=0.5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"test": "latency"}, "test iops and latency"),
        ({"edition": "client"}, "edition enterprise and client"),
        ({"settings": {"scale": 0.1}}, "--scale 1.0 and 0.1"),
        ({"settings": {"content": "zero"}}, "data pattern random and zero"),
        (
            {"settings": {"workload_class": {"name": "oltp"}}},
            "--class none and oltp (7cb9a530)",
        ),
    ],
)
def test_other_tests_and_modes_are_refused(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    names = saved(tmp_path, made.result(), made.result("sim:two", **changes))
    with pytest.raises(UsageError) as raised:
        read_results(names)
    assert str(raised.value) == (
        f"{names[0]} and {names[1]} cannot be compared: {words}; compare runs of one test in one "
        "mode"
    )


def test_names_are_short_unique_and_say_what_a_drive_is(tmp_path: Path) -> None:
    real = made.result("/dev/nvme0n1", kind="real")
    real["header"]["model"] = "SSD 980"
    results = [made.result("sim:x25m"), made.result("sim:dir/mine.toml"), real]
    names = saved(tmp_path, *results, results[0])
    labels = [drive.label for drive in read_results(names)]
    assert labels == [
        "x25m, 0.json (simulated)",
        "mine (simulated)",
        "SSD 980 (real)",
        "x25m, 3.json (simulated)",
    ]


def complaint(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["pts", "compare", *words]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    return err


def test_bad_input_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = saved(tmp_path, made.result(), made.result("sim:two"))
    (tmp_path / "text.json").write_text("no json")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "old.json").write_bytes(sealed_json(made.result(layout=0)))
    for place, cut in enumerate(("edition", "settings", "sections")):
        lacking = {key: value for key, value in made.result().items() if key != cut}
        (tmp_path / f"lacking-{place}.json").write_bytes(sealed_json(lacking))
    damaged = made.result()
    del damaged["sections"][0]["cells"][5]["iops_rounds"]
    (tmp_path / "lacking-3.json").write_bytes(sealed_json(damaged))
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x")
    one = names[0]
    assert "1 result is named; a comparison takes 2 to 20" in complaint(capsys, one)
    assert "takes 2 to 20" in complaint(capsys, *itertools.repeat(one, 21))
    assert "nowhere does not exist; name the folder" in complaint(capsys, one, "nowhere")
    assert "is not a result of `drivelab pts run`: " in complaint(capsys, one, "text.json")
    Path("deep.json").write_text("[" * 100_000)
    assert "is not a result of `drivelab pts run`: " in complaint(capsys, one, "deep.json")
    assert "is not a result of `drivelab pts run`; name" in complaint(capsys, one, "list.json")
    assert "old.json has layout 0, and this version reads 1" in complaint(capsys, one, "old.json")
    for place, key in enumerate(
        ("edition", "settings.scale", "sections", "sections[].cells[].iops_rounds")
    ):
        error_text = complaint(capsys, one, f"lacking-{place}.json")
        assert f"lacking-{place}.json lacks {key}: write it again" in error_text
    assert "empty is not a run of `drivelab pts run`" in complaint(capsys, one, "empty")
    assert "--test says 'wsat'" in complaint(capsys, *names, "--test", "wsat")
    assert "no workload class 'x'; there are desktop-publishing, " in complaint(
        capsys, *names, "--class", "x"
    )
    assert "2048 KiB with a read ratio of 0 is outside of what was measured" in complaint(
        capsys, *names, "--block-size", "2MiB"
    )
    assert "holds notes.txt, which no report made" in complaint(capsys, *names, "--out", "mine")
    Path("thesis").mkdir()
    Path("thesis/report.pdf").write_text("years of work")
    assert "report.pdf exists, and nothing shows" in complaint(capsys, *names, "--out", "thesis")
    assert "is a file; a report is a folder" in complaint(capsys, *names, "--out", "0.json")
    assert not (tmp_path / "runs").exists()


def test_words_of_cells() -> None:
    assert words_of(("", "4096", 0.65, True, 0, 0)) == "4 KiB R/W 65/35"
    assert words_of(("128 KiB", "131072", 1.0, False, 0, 0)) == "128 KiB R/W 100/0 sequential"
    assert words_of(("", "512:0.5,4096:0.5", 0.4, True, 32, 8)) == "32 threads x 8"


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("drive", "kind"), "none", "drive.kind is 'none'; allowed: real, simulated"),
        (("drive", "capacity_bytes"), "80 GB", "drive.capacity_bytes is '80 GB'; allowed: 0, or"),
        (("settings", "threads"), [], "settings.threads is []; allowed: 0, or a number from"),
        (("edition",), "home", "edition is 'home'; allowed: enterprise or client"),
        (("settings", "workload_class"), {}, "an object with a name, or null"),
        (("sections",), [], "lacks sections[].name"),
        (("sections", 0, "cells"), -1, "sections[0].cells is -1; allowed: a list"),
        (
            ("sections", 0, "cells", 2, "read_ratio"),
            2,
            "sections[0].cells[2].read_ratio is 2; allo",
        ),
        (("sections", 0, "cells", 2, "sizes", 0), 1, "sizes[0] is 1; allowed: a size and a share"),
        (("sections", 0, "windows"), [{"tracked": "x"}], "lacks sections[].windows[].values"),
        (
            ("sections", 0, "cells", 2, "iops_rounds", 0),
            1e308,
            "iops_rounds[0] is 1e+308; allowed: 0, or a number from 1e-20 to 1e+20",
        ),
        (("sections", 0, "cells", 2, "iops_rounds", 0), 1e-300, "iops_rounds[0] is 1e-300; allo"),
        (("sections", 0, "cells", 2, "iops_rounds", 0), True, "iops_rounds[0] is True; allowed"),
        (
            ("sections", 0, "cells", 2, "iops_rounds"),
            [],
            "cells[2].iops_rounds is []; allowed: a list that is not empty",
        ),
    ],
)
def test_a_value_of_another_kind_in_a_file_is_named_with_its_place(
    tmp_path: Path, place: tuple[Any, ...], value: Any, message: str
) -> None:
    edited = made.result()
    inner: Any = edited
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(UsageError) as caught:
        read_results(saved(tmp_path, made.result(), edited))
    assert message in str(caught.value)
    assert "write it again with `drivelab pts report`" in str(caught.value)


def test_a_cell_that_a_drive_has_no_value_of_is_named() -> None:
    one, other = made.drive("one"), made.drive("other")
    cells = other.result["sections"][0]["cells"]
    gone = next(cell for cell in cells if (cell["block_bytes"], cell["read_ratio"]) == (4096, 0.0))
    gone["iops_rounds"] = []
    with pytest.raises(UsageError, match="has no value at 4 KiB R/W 0/100; choose another"):
        compare([one, other])


def test_no_changed_bit_of_a_result_is_believed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = saved(tmp_path, made.result(), made.result("sim:two"))
    path = Path(names[1])
    data = path.read_bytes()
    read_results(names)
    ends = [place for place in range(8 * len(data)) if not 400 < place < 8 * len(data) - 800]
    for place in (*ends, *random.Random(0).sample(range(8 * len(data)), 1000)):
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(DamagedError, match="checksum"):
            read_results(names)
    for length in (40, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(DamagedError, match="write it again with `drivelab pts report`"):
            read_results(names)
    assert cli.main(["pts", "compare", *names]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    # As an older Drivelab wrote it.
    path.write_text(json.dumps(made.result()))
    with pytest.raises(DamagedError, match=r"or of an older Drivelab; write it again with"):
        read_results(names)
