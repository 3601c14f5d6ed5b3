"""Classes of workloads: what a file may contain, its stimuli, and the test that runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fake_session import MIB, FakeSession
from fake_test_run import run_fake

from drivelab.cli import main as cli
from drivelab.drives.real.fio.step import check_stimuli
from drivelab.errors import UsageError
from drivelab.pts.class_file import class_names, class_text, load_class
from drivelab.pts.report import build
from drivelab.pts.workload_class import WorkloadClass
from drivelab.workloads.stimulus import Stimulus

TEXT = """
title = "Mine"
summary = "two streams"
source = "measured here"

[[streams]]
name = "pages"
source = "measured here"
weight = 0.75
sizes = [{ size = "4KiB", share = 0.5 }, { size = "8KiB", share = 0.5 }]
read_ratio = 0.6
random_ratio = 0.8
zones = [{ accesses = 0.9, range = 0.1 }, { accesses = 0.1, range = 0.9 }]
threads = 2
queue_depth = 4
content = "database"

[[streams]]
name = "log"
source = "assumed"
weight = 0.25
sizes = [{ size = "8KiB", share = 1.0 }]
read_ratio = 0.0
random_ratio = 0.0
is_forced = true
"""
IN_TURN = f'streams_run = "in turn"\n{TEXT}'
TOGETHER = f'streams_run = "together"\n{TEXT}'


def loaded(tmp_path: Path, text: str = TEXT) -> WorkloadClass:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return load_class(str(path))


def test_a_stream_in_both_orders_is_two_stimuli(tmp_path: Path) -> None:
    mine = loaded(tmp_path)
    assert (mine.name, mine.title) == ("mine", "Mine")
    assert [(part.name, part.is_random) for part in mine.parts] == [
        ("pages, random", True),
        ("pages, in order", False),
        ("log", False),
    ]
    assert [part.weight for part in mine.parts] == pytest.approx([0.6, 0.15, 0.25])
    random, in_order, log = (
        Stimulus(range_bytes=MIB, **part.stimulus_values()) for part in mine.parts
    )
    assert random.sizes == in_order.sizes == ((4096, 0.5), (8192, 0.5))
    assert (random.zones, in_order.zones) == (((0.9, 0.1), (0.1, 0.9)), ((1.0, 1.0),))
    assert (random.queue_depth, in_order.queue_depth, random.content) == (4, 4, "database")
    assert (log.is_forced, log.read_ratio, log.threads, log.content) == (True, 0.0, 1, "random")


@pytest.mark.parametrize(
    ("threads", "random_ratio", "together"),
    [(2, 0.8, (1, 1)), (8, 0.8, (6, 2)), (1, 0.5, (1, 1)), (4, 0.01, (1, 3)), (4, 0.99, (3, 1))],
)
def test_both_orders_together_share_the_threads(
    tmp_path: Path, threads: int, random_ratio: float, together: tuple[int, int]
) -> None:
    text = TEXT.replace("threads = 2", f"threads = {threads}")
    text = text.replace("random_ratio = 0.8", f"random_ratio = {random_ratio}")
    mine = loaded(tmp_path, text)
    assert mine.streams_run == "in proportion"
    assert tuple(part.threads for part in mine.parts[:2]) == together
    in_turn = loaded(tmp_path, f'streams_run = "in turn"\n{text}')
    assert [part.threads for part in in_turn.parts] == [threads, threads, 1]


def test_the_figure_is_requests_over_the_time_that_they_take(tmp_path: Path) -> None:
    # Of 100 requests 60 take 6 s at 10 a second, 15 take 5 s at 3, 25 take 1 s at 25: in turn
    # 12 s, and together 6 s, when all have their share. In proportion all of them have it.
    assert loaded(tmp_path, IN_TURN).figure([10, 3, 25]) == pytest.approx(100 / 12)
    assert loaded(tmp_path, TOGETHER).figure([10, 3, 25]) == pytest.approx(100 / 6)
    assert loaded(tmp_path).figure([6, 1.5, 2.5]) == 10
    for text in (TEXT, TOGETHER, IN_TURN):
        assert loaded(tmp_path, text).figure([10, 0, 25]) == 0


def test_a_class_of_an_earlier_run_ran_in_turn(tmp_path: Path) -> None:
    values = loaded(tmp_path).to_json()
    del values["streams_run"]
    assert WorkloadClass.from_json(values) == loaded(tmp_path, IN_TURN)


def test_weights_are_shares_of_requests_by_size_and_mix(tmp_path: Path) -> None:
    weights = {(size, ratio): weight for size, ratio, weight in loaded(tmp_path).weights}
    assert weights == pytest.approx({(8192, 0.6): 0.375, (4096, 0.6): 0.375, (8192, 0.0): 0.25})


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ('title = "Mine"', "", "title is None; allowed: a text"),
        ('source = "assumed"', 'source = " "', "stream 2: source is ' '; .*'assumed' where nobody"),
        (
            "threads = 2",
            "thread = 2",
            "stream 1: unknown key 'thread'; did you mean threads. .*name, source",
        ),
        (
            "title =",
            "titel =",
            "unknown key 'titel'; did you mean title. allowed: title",
        ),
        (
            "title",
            "streams_run = 1\ntitle",
            "streams_run is 1; allowed: in proportion, together, in turn",
        ),
        ("weight = 0.25", "weight = 0.3", "weights of the streams add up to 1.05; allowed: 1"),
        ("weight = 0.25", "weight = 0", "stream 2: weight is 0; allowed: above 0 to 1"),
        ("weight = 0.25", 'weight = "a"', "stream 2: weight is 'a'; allowed: a number"),
        ("weight = 0.25", "weight = nan", "stream 2: weight is NaN; allowed: a number"),
        ("read_ratio = 0.6", "read_ratio = 60", "stream 1: read_ratio is 60; allowed: 0 to 1"),
        ("read_ratio = 0.6", "", "stream 1: read_ratio is None; allowed: a number"),
        ("random_ratio = 0.8", "random_ratio = -1", "random_ratio is -1; allowed: 0 to 1"),
        ('{ size = "4KiB", share = 0.5 }, ', "", "shares of sizes add up to 0.5; allowed: 1"),
        ('"4KiB"', "4096", "sizes 1: size is 4096; allowed: a text such as"),
        ('"4KiB"', '"4 Ki"', "sizes 1: size: '4 Ki' is not a size"),
        ('"4KiB"', '"100B"', "is '100B'; allowed: multiples of 512 bytes up to 64 MiB"),
        ('"4KiB"', '"128MiB"', "allowed: multiples of 512 bytes up to 64 MiB"),
        ('{ size = "4KiB", share', '{ size = "4KiB", shares', "unknown key 'shares'"),
        ("range = 0.9", "range = 0.8", "shares of zones add up to 0.9; allowed: 1"),
        ("random_ratio = 0.8", "random_ratio = 0", "in order have no zones; leave zones out"),
        ("threads = 2", "threads = 0", "threads is 0; allowed: 1 to 1024"),
        ("threads = 2", "threads = 2.5", "threads is 2.5; allowed: a whole number"),
        ("queue_depth = 4", "queue_depth = true", "queue_depth is True; allowed: a whole number"),
        ('"database"', '"text"', "content is 'text'; allowed: zero, database, random"),
        ("is_forced = true", "is_forced = 1", "is_forced is 1; allowed: true, false"),
        ('name = "log"', 'name = "pages"', "two streams are called 'pages'"),
        ("[[streams]]", "[[stream]]", "unknown key 'stream'"),
        ("title", "[title", "is not TOML"),
        ("weight = 0.25", f"weight = 1{'0' * 400}", "holds a number beyond 64 bits"),
        ("weight = 0.25", f"weight = {'1' * 5000}", "holds a number beyond 64 bits"),
        ("weight = 0.25", f"weight = {'[' * 5000}", "is nested too deeply"),
    ],
)
def test_what_is_not_allowed_is_named(tmp_path: Path, was: str, becomes: str, said: str) -> None:
    assert was in TEXT
    with pytest.raises(UsageError, match=said) as error:
        loaded(tmp_path, TEXT.replace(was, becomes))
    assert "\n" not in str(error.value)
    assert "mine.toml" in str(error.value)


def test_a_class_that_is_none_lists_those_there_are() -> None:
    for name in ("oltpp", "absent.toml"):
        with pytest.raises(UsageError, match=r"desktop-publishing, gaming, .*web-surfing"):
            load_class(name)


def test_the_classes_of_the_package() -> None:
    assert class_names() == [
        *("desktop-publishing", "gaming", "light-office", "logging", "mail", "oltp"),
        *("video-on-demand", "virtual-machines", "web-search", "web-surfing"),
    ]
    cited = re.compile(r"assumed|Coughlin et al. 2010|Huang et al. 2011|Lee et al. 2021|composite")
    for name in class_names():
        of = load_class(name)
        assert WorkloadClass.from_json(json.loads(json.dumps(of.to_json()))) == of
        assert sum(weight for *_, weight in of.weights) == pytest.approx(1)
        for source in (of.source, *(stream.source for stream in of.streams)):
            assert cited.search(source), source
        for part in of.parts:
            # Real drives take them too: whole per cent.
            check_stimuli([Stimulus(range_bytes=2**40, **part.stimulus_values())])


def mean_bytes(name: str, stream: int) -> float:
    return sum(size * share for size, share in load_class(name).streams[stream].sizes)


def test_what_is_cited_is_what_the_source_says() -> None:
    """Lee et al. 2021, table 4: data accessed over the records of 1000 requests of a direction."""
    gib = 2**30
    oltp = load_class("oltp")
    reads = sum(stream.weight * stream.read_ratio for stream in oltp.streams)
    assert reads == pytest.approx(0.48)
    assert 2.3 * gib / (637_000 * 0.48) == pytest.approx(mean_bytes("oltp", 0), rel=0.02)
    assert 2.5 * gib / (637_000 * 0.52) == pytest.approx(mean_bytes("oltp", 0), rel=0.02)
    assert 16.0 * gib / 1_305_000 == pytest.approx(mean_bytes("mail", 0), rel=0.01)
    assert 228.4 * gib / 1_877_000 == pytest.approx(mean_bytes("logging", 0), rel=0.01)
    for name in ("mail", "logging"):
        assert load_class(name).streams[0].read_ratio == 0


@pytest.mark.parametrize("text", [TEXT, TOGETHER, IN_TURN])
def test_a_class_runs_until_its_figure_is_steady(tmp_path: Path, text: str) -> None:
    session = FakeSession(settles_bytes=512 * MIB)
    mine = loaded(tmp_path, text)
    run_fake(tmp_path / "run", "class", session, workload_class=mine.to_json())
    report = build(tmp_path / "run")
    (section,) = report.result["sections"]
    assert (section["verdict"], section["rounds"]) == ("steady", 5)
    assert [cell["part"] for cell in section["cells"]] == [part.name for part in mine.parts]
    # 100 MiB/s over the mean size and 64 KiB; of 32 outstanding requests it has 8, 8 and 1 in
    # turn. Together it has 4, 4 and 1 of them, and each a third of the drive's time.
    depths = (4 / 3, 4 / 3, 1 / 3) if mine.is_at_once else (8, 8, 1)
    costs = (70 * 1024, 70 * 1024, 73728)
    speeds = [100 * MIB / cost * depth / 32 for cost, depth in zip(costs, depths, strict=True)]
    if mine.shares:
        # The log is slowest for its share, and all wait for it.
        assert min(speeds[0] / 0.6, speeds[1] / 0.15, speeds[2] / 0.25) == speeds[2] / 0.25
        speeds = [speeds[2] / 0.25 * share for share in (0.6, 0.15, 0.25)]
    expected = [int(speed * 60) / 60 for speed in speeds]
    assert [cell["iops_mean"] for cell in section["cells"]] == pytest.approx(expected)
    assert section["figure_iops_rounds"] == pytest.approx([mine.figure(expected)] * 5)
    assert ("total" in section) == mine.is_at_once
    if mine.is_at_once:
        assert section["total"]["iops_mean"] == pytest.approx(sum(expected))
        # The toy drive takes 2 W.
        assert section["total"]["iops_per_watt"] == pytest.approx(sum(expected) / 2)
        assert section["cells"][0]["iops_per_watt"] is None
        (power,) = (page for page in report.pages if page.title == "Power efficiency")
        (table,) = power.exhibits
        assert [row[0] for row in table.rows] == ["all streams"]
        shares = [each / sum(expected) for each in expected]
        assert [cell["share_measured"] for cell in section["cells"]] == pytest.approx(shares)
        (results,) = (page for page in report.pages if page.title.endswith("results"))
        (table,) = results.exhibits
        assert [row[1:3] for row in table.rows[:3]] == [
            (f"{100 * part.weight:g} %", f"{100 * share:.4g} %")
            for part, share in zip(mine.parts, shares, strict=True)
        ]
        assert ("Shares were kept within" in table.note) == bool(mine.shares)
    # Two steps for preconditioning, then five rounds.
    assert len(session.steps) == 1 + 5 * (1 if mine.is_at_once else 3)
    assert report.result["settings"]["workload_class"] == mine.to_json()
    assert dict(report.header)["specification"].endswith("not one of its tests")
    assert dict(report.header)["test"].endswith(": Mine")
    names = [page.title for page in report.pages]
    assert sum("response times" in name for name in names) == 2
    (*_, last) = report.pages
    assert [exhibit.name for exhibit in last.exhibits] == ["class-response-times-3", "class-levels"]


def test_the_test_wants_a_class(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"has to be named, with --class: desktop-publishing, .*FILE.toml"
    ):
        run_fake(tmp_path / "run", "class")


def test_classes_are_listed_and_printed(capsys: Any, tmp_path: Path) -> None:
    assert cli.main(["pts", "classes"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in class_names())
    assert cli.main(["pts", "classes", "oltp"]) == 0
    printed = capsys.readouterr().out
    assert printed == class_text("oltp")
    # What is printed can be edited and is then read by its path.
    assert loaded(tmp_path, printed).streams == load_class("oltp").streams
    assert cli.main(["pts", "classes", "no-such"]) == 2
    assert "there is no workload class 'no-such'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["class", "sim:x25m"], "a class has to be named"),
        (["class", "sim:x25m", "--class", "none"], "there is no workload class 'none'; there are "),
        (["class", "sim:x25m", "--class", "webserch"], "did you mean web-search? there are "),
        (["iops", "sim:x25m", "--class", "oltp"], "--class is for class; leave it out for iops"),
        (["all", "sim:x25m", "--class", "oltp"], "--class is for class; leave it out for all"),
    ],
)
def test_a_class_where_there_is_none_to_be_named(
    capsys: Any, tmp_path: Path, monkeypatch: Any, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["pts", "run", *words]) == 2
    assert said in capsys.readouterr().err
