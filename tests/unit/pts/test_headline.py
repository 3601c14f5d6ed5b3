"""The figures of a test on the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_session import FakeSession
from fake_test_run import SETTLED

from drivelab.cli.pts_run_text import tell, text_of
from drivelab.pts.every_test import SPECIFIED
from drivelab.pts.headline import Figure, headline
from drivelab.pts.report import build
from drivelab.pts.run import run_test
from drivelab.pts.settings import Settings


@pytest.mark.parametrize("name", ["iops", "throughput", "latency"])
def test_the_headline_is_what_the_result_says(name: str, tmp_path: Path) -> None:
    settings = Settings.of_edition("client", scale=0.05)
    with FakeSession(**SETTLED) as session:
        outcome = run_test(SPECIFIED[name], session, settings, tmp_path / "run", shown=False)
    figures = {figure.name: figure for figure in headline(outcome.result)}
    windows = [window for part in outcome.result["sections"] for window in part["windows"]]
    for window in windows:
        assert figures[window["tracked"]].value == window["mean"]
    (*_, section) = outcome.result["sections"]
    if name == "throughput":
        reads = [cell for cell in section["cells"] if cell["read_ratio"] == 1]
        assert [figure.value for figure in headline(outcome.result) if "read" in figure.name][
            -1
        ] == reads[-1]["bandwidth_bytes_per_second_mean"] / 1e6
    if name == "latency":
        longest = section["response_times"]["latency_ns_max"]
        assert figures["longest"] == Figure("longest", longest / 1e6, "ms")
    summary = build(tmp_path / "run").pages[0]
    assert summary.exhibits[0].rows == tuple(
        (figure.name, figure.value, figure.unit) for figure in headline(outcome.result)
    )
    shown = tell(outcome)
    assert json.loads(json.dumps(shown["headline"])) == shown["headline"]
    text = text_of(shown)
    assert all(figure in text for figure in figures)


UNSCALED = {"scale": 1, "idle_seconds": 0}


def test_what_was_not_reached_is_said() -> None:
    section = {
        "name": "",
        "windows": [],
        "fresh_iops": 12240.0,
        "settled_iops": None,
        "lost_ratio": None,
        "steady_after_minutes": None,
    }
    assert headline({"test": "wsat", "settings": UNSCALED, "sections": [section]}) == [
        Figure("fresh out of the box", 12240.0, "IOPS"),
        Figure("settled", None, "IOPS"),
    ]


def test_what_is_left_is_shown_if_no_window_was_judged() -> None:
    section = {
        "fresh_iops": 100.0,
        "settled_iops": None,
        "lost_ratio": None,
        "steady_after_minutes": None,
        "minutes": {"iops": [100.0, 90.0, 30.0, 20.0, 20.0, 20.0, 10.0]},
    }
    assert headline({"test": "wsat", "settings": UNSCALED, "sections": [section]}) == [
        Figure("fresh out of the box", 100.0, "IOPS"),
        Figure("in the last 5 minutes, not settled", 20.0, "IOPS"),
        Figure("lost by then", 0.8, "ratio"),
        Figure("steady after", None, "minutes"),
    ]


def test_a_window_that_never_settled_is_not_called_settled() -> None:
    minutes = {"iops": [100.0, 20.0]}
    section = {"fresh_iops": 100.0, "settled_iops": 20.0, "lost_ratio": 0.8, "minutes": minutes}
    for after, name in ((None, "in the last window, not settled"), (31, "settled")):
        figures = headline(
            {
                "test": "wsat",
                "settings": UNSCALED,
                "sections": [{**section, "steady_after_minutes": after}],
            }
        )
        assert [figure.name for figure in figures][1] == name


def test_what_writes_settled_to_is_shown_once(tmp_path: Path) -> None:
    settings = Settings.of_edition("client", rule="white-paper")
    with FakeSession(**SETTLED) as session:
        outcome = run_test(SPECIFIED["wsat"], session, settings, tmp_path / "run", shown=False)
    (section,) = outcome.result["sections"]
    (window,) = section["windows"]
    figures = headline(outcome.result)
    assert [figure.name for figure in figures] == [
        "fresh out of the box",
        "settled",
        "lost by then",
        "steady after",
    ]
    assert figures[1].value == section["settled_iops"] == pytest.approx(window["mean"])


def test_sizes_are_named_as_in_the_windows() -> None:
    cell = {"block_bytes": 2**20, "read_ratio": 1, "bandwidth_bytes_per_second_mean": 2e6}
    result = {"test": "throughput", "settings": UNSCALED, "sections": [{"cells": [cell]}]}
    (figure,) = headline(result)
    assert figure == Figure("1024 KiB sequential read", 2.0, "MB/s")


def test_a_recovery_and_demands_are_shown_with_their_units() -> None:
    segment = {"windows": [], "recovery_minutes": 7}
    (recovery,) = headline({"test": "xsr", "settings": UNSCALED, "sections": [segment]})
    assert (recovery.value, recovery.unit) == (7, "minutes")
    scaled = {"test": "xsr", "settings": {"scale": 0.01}, "sections": [segment]}
    assert headline(scaled)[0].name.endswith(" after (min of 600 ms)")
    point = {"name": "MIN", "threads": 1, "queue_depth": 2, "iops_mean": 828.0}
    (demand,) = headline(
        {"test": "dirth", "settings": UNSCALED, "sections": [{"operating_points": [point]}]}
    )
    assert demand == Figure("MIN, 1 thread x 2", 828.0, "IOPS")


@pytest.mark.parametrize(
    ("depths", "names"),
    [
        ((1, 1, 1), ["MIN, MID and MAX, 2 threads x 1"]),
        ((1, 4, 4), ["MIN, 2 threads x 1", "MID and MAX, 2 threads x 4"]),
        ((1, 2, 4), ["MIN, 2 threads x 1", "MID, 2 threads x 2", "MAX, 2 threads x 4"]),
    ],
)
def test_equal_operating_points_are_shown_once(depths: tuple[int, ...], names: list[str]) -> None:
    points = [
        {"name": name, "threads": 2, "queue_depth": depth, "iops_mean": 100.0 * depth}
        for name, depth in zip(("MIN", "MID", "MAX"), depths, strict=True)
    ]
    section = {"operating_points": points}
    found = headline({"test": "ecw", "settings": UNSCALED, "sections": [section]})
    assert [figure.name for figure in found] == names


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (UNSCALED, "steady after"),
        ({"scale": 0.1, "idle_seconds": 0}, "steady after (min of 6.00 s)"),
        ({"scale": 1, "idle_seconds": 30}, "steady after (min of writes)"),
        ({"scale": 0.01, "idle_seconds": 30}, "steady after (min of 600 ms of writes)"),
    ],
)
def test_minutes_that_are_not_the_drives_are_reported(
    settings: dict[str, float], name: str
) -> None:
    section = {
        "fresh_iops": 100.0,
        "settled_iops": 40.0,
        "steady_after_minutes": 310,
        "minutes": {"iops": [100.0, 40.0]},
    }
    found = headline({"test": "wsat", "settings": settings, "sections": [section]})
    assert [figure.name for figure in found if figure.unit == "minutes"] == [name]
