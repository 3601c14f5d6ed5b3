"""A trace forecast by a model of a drive that it never ran on, compared with its replay there."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from drivelab import _core
from drivelab.cli import main as cli
from drivelab.models import trace_forecast
from drivelab.sealed_json import sealed_json, unsealed_json

pytestmark = pytest.mark.usefixtures("models_in_brief")

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
SECONDS = 8
# The layout of this model was searched among few (`models_in_brief`), and writes weigh little in
# what it was fitted to; VALIDATION.md has whole models.
TOLERANCE = 0.25


def mixed(requests: int) -> str:
    """Write reads and writes anywhere and in order, in bursts: 64 requests every 400 ms."""
    drawn = np.random.default_rng(7)
    lines, end = [], 0
    for each in range(requests):
        burst, place = divmod(each, 64)
        seconds = 0.4 * burst + 1e-4 * place
        is_write = drawn.random() < 0.3
        sectors = int(drawn.choice([8, 16, 64]))
        start = end if each % 3 else int(drawn.integers(0, 60_000)) * 8
        end = start + sectors
        lines.append(f"0,{start},{512 * sectors},{'w' if is_write else 'r'},{seconds:.6f}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(models_in_brief: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forecast")
    (folder / "mixed.spc").write_text(mixed(64 * SECONDS * 5 // 2))
    words = ["model", SMALL, "--design", "sobol:120", "--check", "0", "--no-sweeps"]
    assert cli.main([*words, "--writes", "burst", "--out", str(folder / "run")]) == 0
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    capsys.readouterr()
    assert cli.main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert cli.main(["predict", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    return said.err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("speed", ["1x", "2x"])
def test_a_forecast_is_near_the_replay(capsys, speed: str) -> None:
    trace = ("--trace", "mixed.spc", "--speed", speed)
    answer = asked(capsys, "predict", "run", *trace, "--window", "1s")
    replayed = asked(capsys, "measure", SMALL, *trace)
    assert answer["requests"] == replayed["requests"]
    for name in ("read", "write"):
        assert answer[name]["requests"] == replayed[name]["requests"]
    for found, true in ((answer, replayed), (answer["read"], replayed["read"])):
        assert found["latency_ns_mean"] == pytest.approx(true["latency_ns_mean"], rel=TOLERANCE)
    assert answer["saturated_windows"] == 0
    assert answer["late_ratio"] == 0


@pytest.mark.usefixtures("here")
def test_a_drive_that_falls_behind_completes_what_it_can(capsys) -> None:
    trace = ("--trace", "mixed.spc", "--speed", "1000x", "--depth", "32")
    answer = asked(capsys, "predict", "run", *trace, "--window", "1s")
    replayed = asked(capsys, "measure", SMALL, *trace)
    # All is due in the first windows; the others complete what is late.
    windows = answer["windows"]
    due = [place for place, count in enumerate(windows["due_requests"]) if count]
    assert all(windows["saturated"][place] for place in due)
    assert answer["late_ratio"] > 0.9
    # At most 32 are outstanding, whatever was asked, and the model saw no more than 64.
    assert max(filter(None, windows["queue_depth"])) <= 32 * (1 + 1e-9)
    assert answer["window_ns"] == 1e6
    end_ns = answer["windows"]["begin_ns"][-1] + answer["window_ns"] / 2
    assert end_ns == pytest.approx(replayed["duration_ns"], rel=TOLERANCE)


@pytest.mark.usefixtures("here")
def test_windows_are_written_as_they_are_shown(capsys) -> None:
    words = ("predict", "run", "--trace", "mixed.spc", "--window", "2s")
    answer = asked(capsys, *words, "--out", "windows.csv")
    with Path("windows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == answer["window_count"] == len(answer["windows"]["begin_ns"])
    assert list(rows[0]) == list(answer["windows"])
    assert sum(int(row["requests"]) for row in rows) == answer["requests"]
    assert sum(int(row["asked_requests"]) for row in rows) == answer["requests"]
    for row, latency in zip(rows, answer["windows"]["latency_ns_mean"], strict=True):
        assert float(row["latency_ns_mean"]) == pytest.approx(latency, rel=1e-5)
    assert sum(int(row["due_requests"]) for row in rows) == answer["requests"]


@pytest.mark.usefixtures("here")
def test_the_text_says_what_it_is_and_how_sure(capsys) -> None:
    capsys.readouterr()
    assert cli.main(["predict", "run", "--trace", "mixed.spc", "--window", "1s"]) == 0
    said = capsys.readouterr().out
    assert "on which it never ran" in said
    assert "nowhere: the drive keeps up" in said
    assert "no interval" in said
    assert max(map(len, said.splitlines())) <= 80
    assert "sent late" not in said
    capsys.readouterr()
    late = ("--trace", "mixed.spc", "--speed", "1000x", "--depth", "32", "--window", "1s")
    assert cli.main(["predict", "run", *late]) == 0
    said = capsys.readouterr().out
    assert "sent late" in said
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.usefixtures("here")
def test_a_report_marks_where_the_drive_falls_behind(capsys) -> None:
    words = ("predict", "run", "--trace", "mixed.spc", "--window", "1s", "--report", "page")
    answer = asked(capsys, *words)
    page = Path(answer["report"]).read_text()
    assert "on which it never ran" in page
    assert "would keep up with the recorded times" in page
    assert "falls behind" not in page
    assert "there is no interval" in page
    assert page.index("Every window") < page.index("How it was computed")
    with Path(answer["tables"], "windows.csv").open() as file:
        assert len(list(csv.DictReader(file))) == answer["window_count"]
    held = json.loads(Path(answer["result"]).read_text())
    assert held["windows"] == answer["windows"]
    # The same question in the same place is written again; another one is not.
    late = ("--trace", "mixed.spc", "--speed", "1000x", "--depth", "32", "--window", "1s")
    assert "page" in refused(capsys, "run", *late, "--report", "page")
    said = refused(capsys, "run", *late, "--report", "run")
    assert "run is a run, and has its own report; choose another folder" in said
    answer = asked(capsys, "predict", "run", *late, "--report", "late")
    page = Path(answer["report"]).read_text()
    assert "the drive falls behind" in page
    assert "latencies are those of a full queue" in page
    with Path(answer["tables"], "latency.csv").open() as file:
        marked = [row for row in csv.DictReader(file) if row["line"] == "the drive falls behind"]
    assert marked
    assert len(marked) <= 2 * answer["saturated_windows"]
    capsys.readouterr()
    assert cli.main(["predict", "run", *late, "--report", "late"]) == 0
    assert "wrote late/report.html" in capsys.readouterr().out


@pytest.mark.usefixtures("here")
def test_one_window_has_no_course(capsys) -> None:
    answer = asked(capsys, "predict", "run", "--trace", "mixed.spc", "--report", "one")
    assert answer["window_count"] == 1
    page = Path(answer["report"]).read_text()
    assert "All requests are in one window of" in page
    assert (Path(answer["tables"]) / "windows.csv").is_file()


@pytest.mark.usefixtures("here")
def test_bars_are_over_time_with_gaps(capsys, here: Path) -> None:
    (here / "gap.spc").write_text("0,0,4096,r,0\n0,80,4096,r,100\n")
    capsys.readouterr()
    assert cli.main(["predict", "run", "--trace", "gap.spc", "--window", "10s"]) == 0
    said = capsys.readouterr().out
    assert "11 windows of 10.0 s" in said
    assert "asked     █         █" in said
    assert "2 reads  " in said


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--trace", "mixed.spc", "--speed", "max", "--depth", "4"), "leave out --speed max"),
        (("--window", "1s"), "name its files with --trace"),
        (("--speed", "2x"), "name its files with --trace"),
        (("--report", "page"), "name its files with --trace"),
        (("--trace", "mixed.spc", "--window", "0.1ns"), "--window is too short"),
        (("--trace", "mixed.spc", "--window", "0s"), "--window is too short"),
        (("--trace", "mixed.spc", "--speed", "max"), "leave out --speed max"),
        (("--trace", "mixed.spc", "--file", "-"), "two questions"),
        (("--trace", "mixed.spc", "--level", "90"), "leave --level out"),
        (("--trace", "mixed.spc", "--estimator", "ols"), "leave it out"),
        (("--trace", "mixed.spc", "--set", "a=1"), "cannot predict a trace"),
        (("--trace", "mixed.spc", "--queue-depth", "4"), "leave out --queue-depth"),
        (("--trace", "mixed.spc", "--out", "-", "--json"), "choose one"),
        (("--trace", "nothing.spc"), "nothing.spc"),
        (("--trace", "far.spc"), "--fit wrap"),
        (("--trace", "flush.trace"), "no reads and no writes"),
        (("--trace", "ties.spc"), "all 3 requests of the trace have the same time"),
        (("--trace", "ties.spc"), "`drivelab measure DRIVE --trace FILE --speed max`"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_a_line(capsys, here: Path, words, says) -> None:
    (here / "far.spc").write_text("0,0,4096,r,0\n0,2000000000,4096,r,1\n")
    (here / "ties.spc").write_text("0,0,4096,r,5\n" * 3)
    (here / "flush.trace").write_text("fio version 3 iolog\n0 f add\n0 f open\n0 f sync 0 0\n")
    assert says in refused(capsys, "run", *words)


def test_a_trace_finds_a_buffer_as_large_as_probes_say(capsys, here: Path, monkeypatch) -> None:
    layouts = []

    def served(stream, capacity_bytes, layout, *rest):
        layouts.append(layout)
        return _core.forecast_trace(stream, capacity_bytes, layout, *rest)

    monkeypatch.setattr(trace_forecast, "_core", SimpleNamespace(forecast_trace=served))
    text = json.dumps(unsealed_json((here / "run" / "model.json").read_bytes()))
    pages = {}
    for has_buffer, buffer_bytes in ((16, None), (16, 4096), (16, 8 << 20), (0, 8 << 20)):
        said = json.loads(re.sub(r'"buffer_pages": \d+', f'"buffer_pages": {has_buffer}', text))
        said["provenance"]["buffer_bytes"] = buffer_bytes
        (here / "buffered.json").write_bytes(sealed_json(said))
        asked(capsys, "predict", "buffered.json", "--trace", "mixed.spc", "--window", "1s")
        pages[has_buffer, buffer_bytes] = layouts[-1]["buffer_pages"]
    member_pages = (8 << 20) // (layouts[-1]["page_bytes"] * layouts[-1]["members"])
    assert pages == {
        (16, None): 16,
        (16, 4096): 16,
        (16, 8 << 20): member_pages,
        (0, 8 << 20): 0,
    }


def test_a_drive_that_merges_blocks_is_refused(capsys, here: Path, monkeypatch) -> None:
    # The altered model explains nothing.
    monkeypatch.setattr(trace_forecast, "MOST_UNEXPLAINED", 1e6)
    text = json.dumps(unsealed_json((here / "run" / "model.json").read_bytes()))
    assert '"log_blocks": 0' in text
    merging = json.loads(text.replace('"log_blocks": 0', '"log_blocks": 4'))
    (here / "merging.json").write_bytes(sealed_json(merging))
    said = refused(capsys, "merging.json", "--trace", "mixed.spc")
    assert "maps whole blocks" in said
    assert "measure --trace" in said
    # Probes that show how many blocks can be written in turn make it possible.
    layouts = []

    def found(layout, capacity_bytes, latencies):
        layouts.append((layout.log_blocks, capacity_bytes, latencies))
        return 8

    monkeypatch.setattr(trace_forecast, "log_blocks", found)
    merging["provenance"]["rewrites_ns"] = {"67108864": 5e6, "134217728": 4e5}
    (here / "merging.json").write_bytes(sealed_json(merging))
    asked(capsys, "predict", "merging.json", "--trace", "mixed.spc", "--window", "1s")
    assert layouts == [(4, 1 << 31, {67108864: 5e6, 134217728: 4e5})]


@pytest.mark.usefixtures("here")
def test_a_model_that_does_not_explain_its_drive_says_so(capsys, monkeypatch) -> None:
    monkeypatch.setattr(trace_forecast, "MOST_UNEXPLAINED", 1e-6)
    assert "measure --trace" in refused(capsys, "run", "--trace", "mixed.spc")
