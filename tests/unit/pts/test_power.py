"""A user's power log, joined to the steps of a test by time; integrals computed by hand."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_session import MIB, FakeSession
from fake_test_run import run_fake

from drivelab.cli import main as cli
from drivelab.drives.measurement import Measurement
from drivelab.errors import DamagedError, UsageError
from drivelab.exhibits import Table
from drivelab.pts.journal import read_record
from drivelab.pts.power import PowerLog, read_kept_power_log, read_power_log
from drivelab.pts.report import build
from drivelab.store import RunStore

BEGAN = 1_700_000_000.0


class TimedSession(FakeSession):
    """A real drive whose steps say when they began, and not what they took."""

    def __init__(self) -> None:
        super().__init__("real", settles_bytes=512 * MIB)
        self.now = BEGAN

    def run(self, *args: Any, **options: Any) -> Measurement:
        result = super().run(*args, **options)
        began, self.now = self.now, self.now + result.duration_ns / 1e9 + 0.5
        return replace(result, extra={"began_unix_seconds": began})


def test_energy_is_the_integral_between_readings() -> None:
    log = PowerLog((0.0, 10.0, 20.0), (2.0, 4.0, 0.0))
    assert log.joules(0, 20) == pytest.approx(30 + 20)
    assert log.joules(0, 10) == pytest.approx(30)
    # From 3 W to 4 W, then to 2 W.
    assert log.joules(5, 15) == pytest.approx(5 * 3.5 + 5 * 3)
    assert log.joules(11, 12) == pytest.approx((3.6 + 3.2) / 2)


def test_what_a_log_does_not_cover_has_no_energy() -> None:
    log = PowerLog((0.0, 10.0, 20.001, 30.0), (5.0, 5.0, 5.0, 5.0))
    assert log.joules(-1, 5) is None
    assert log.joules(25, 30.5) is None
    # The log pauses for more than ten seconds.
    assert log.joules(5, 15) is None
    assert log.joules(12, 13) is None
    assert log.joules(20.001, 30) == pytest.approx(5 * 9.999)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "power.log"
    path.write_text(text)
    return path


def test_times_are_unix_seconds_or_have_a_zone(tmp_path: Path) -> None:
    text = "volts, Watts ,time\n5,1.5,1700000000\n\n5,2,2023-11-14T22:13:21Z\n"
    text += "5,2.5,2023-11-14T23:13:21.5+01:00\n"
    log = read_power_log(written(tmp_path, text))
    assert log.times == (1_700_000_000.0, 1_700_000_001.0, 1_700_000_001.5)
    assert log.watts == (1.5, 2.0, 2.5)
    # As spreadsheets write it.
    assert read_power_log(written(tmp_path, "\ufefftime,watts\n1,2\n2,3\n")).watts == (2.0, 3.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no column 'time'; a power log is a CSV that begins with the line time,watts"),
        ("time,power\n1,2\n", "has no column 'watts'"),
        ("time,watts\n1,2\n", "has 1 readings; allowed: at least 2"),
        ("time,watts\n1,2\n1,2\n", "line 3 is not later than the reading before"),
        ("time,watts\n1,2\n2,-1\n", "line 3: the power is '-1'; allowed: a number of watts"),
        ("time,watts\n1,2\n2,nan\n", "line 3: the power is 'nan'"),
        ("time,watts\n1,2\n2,3 W\n", "line 3: the power is '3 W'"),
        ("time,watts\n2026-11-22T12:00:00,2\n", "line 2: the time is .* with its zone, as"),
        ("time,watts\nnoon,2\n", "line 2: the time is 'noon'"),
        ("time,watts\ninf,2\n", "line 2: the time is 'inf'"),
        (f"time,watts\n1,{'2' * 200_000}\n", "is not a CSV of time,watts: field larger than"),
        ("time,watts\n1\n", "line 2 has 1 cells; allowed: 2"),
    ],
)
def test_a_log_that_is_none_says_why(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_power_log(written(tmp_path, text))


def test_a_log_gives_iops_per_watt(tmp_path: Path, capsys: Any) -> None:
    run = tmp_path / "run"
    session = TimedSession()
    run_fake(run, "latency", session)
    assert all(cell["iops_per_watt"] is None for cell in cells(run))
    # 2.5 W throughout, a reading every five seconds.
    log = constant_log(tmp_path, BEGAN - 5, session.now + 5, 2.5)
    assert cli.main(["pts", "report", str(run), "--power-log", str(log)]) == 0
    assert len(cells(run)) == 9
    for cell in cells(run):
        assert cell["iops_per_watt"] == pytest.approx(cell["iops_mean"] / 2.5, rel=1e-6)
    (table,) = (
        exhibit
        for page in build(run).pages
        for exhibit in page.exhibits
        if isinstance(exhibit, Table) and exhibit.name == "efficiency"
    )
    assert len(table.rows) == 9
    label, iops, watts, efficiency = table.rows[0]
    assert (label, watts) == ("8 KiB random R/W 100/0, 1 x 1", pytest.approx(2.5))
    assert iops == pytest.approx(2.5 * efficiency)
    # It is kept: the report made again has it too.
    capsys.readouterr()
    assert cli.main(["pts", "report", str(run)]) == 0
    assert [bool(cell["iops_per_watt"]) for cell in cells(run)] == [True] * 9


def test_a_log_that_gives_no_stimulus_its_efficiency_is_refused(
    tmp_path: Path, capsys: Any
) -> None:
    run = tmp_path / "run"
    session = TimedSession()
    run_fake(run, "latency", session)
    end = session.now + 5
    words = ["pts", "report", str(run), "--power-log"]
    assert cli.main([*words, str(constant_log(tmp_path, BEGAN - 5, end, 2.5))]) == 0
    kept = (run / "power.csv").read_bytes()
    # Preconditioning alone; all of it, from a meter that shows nothing.
    for until, watts in ((BEGAN + 30, 2.5), (end, 0.0)):
        capsys.readouterr()
        assert cli.main([*words, str(constant_log(tmp_path, BEGAN - 5, until, watts))]) == 2
        line = capsys.readouterr().err
        assert "the power log gives IOPS/W of none of the 9 stimuli: it has to cover" in line
        assert (run / "power.csv").read_bytes() == kept


def test_no_changed_bit_of_a_kept_log_is_believed(tmp_path: Path, capsys: Any) -> None:
    run = tmp_path / "run"
    session = TimedSession()
    run_fake(run, "latency", session)
    log = constant_log(tmp_path, BEGAN - 5, session.now + 5, 2.5)
    words = ["pts", "report", str(run)]
    assert cli.main([*words, "--power-log", str(log)]) == 0
    kept = run / "power.csv"
    data = kept.read_bytes()
    assert read_kept_power_log(run) == read_power_log(log)
    places = range(8 * len(data))
    for place in (*places[-800:], *random.Random(0).sample(places, 500)):
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        kept.write_bytes(flipped)
        with pytest.raises(DamagedError, match="is damaged, or of an older Drivelab"):
            read_kept_power_log(run)
    for wrong in (b"", data[:-1], log.read_bytes(), data.replace(b"\n", b"\r\n")):
        kept.write_bytes(wrong)
        with pytest.raises(DamagedError):
            read_kept_power_log(run)
    capsys.readouterr()
    assert cli.main(words) == 1
    assert f"give the log again: drivelab {' '.join(words)} --power-log" in capsys.readouterr().err
    assert cli.main([*words, "--power-log", str(log)]) == 0
    assert kept.read_bytes() == data


def test_a_log_of_some_stimuli_says_of_how_many(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_fake(run, "latency", TimedSession())
    with RunStore.open(run) as store:
        last = read_record(store).of_phase("rounds")[-1]
    # It ends within the last step of the window.
    log = constant_log(tmp_path, BEGAN - 5, last.result.extra["began_unix_seconds"] + 30, 2.5)
    assert cli.main(["pts", "report", str(run), "--power-log", str(log)]) == 0
    assert [bool(cell["iops_per_watt"]) for cell in cells(run)] == [True] * 8 + [False]
    said = "8 of 9 stimuli are covered by the power log; the others have no IOPS/W."
    assert json.loads((run / "result.json").read_text())["cautions"].count(said) == 1
    assert said in [one.seen for one in build(run).pages[0].cautions]


def constant_log(folder: Path, begin: float, end: float, watts: float) -> Path:
    times = [begin + 5 * number for number in range(int(end - begin) // 5 + 1)]
    rows = [f"{time:.1f},{watts}" for time in times]
    return written(folder, "\n".join(["time,watts", *rows]) + "\n")


def cells(run: Path) -> list[dict[str, Any]]:
    return json.loads((run / "result.json").read_text())["sections"][0]["cells"]


def test_a_log_of_another_day_is_refused(tmp_path: Path, capsys: Any) -> None:
    run = tmp_path / "run"
    run_fake(run, "latency", TimedSession())
    log = written(tmp_path, "time,watts\n2020-01-01T00:00:00Z,1\n2020-01-01T00:00:05Z,1\n")
    assert cli.main(["pts", "report", str(run), "--power-log", str(log)]) == 2
    line = capsys.readouterr().err
    assert "does not cover the test: it goes from 2020-01-01T00:00:00Z to 2020-01-01" in line
    assert "the test from 2023-11-14T22:13:20Z to 2023-11-1" in line
    assert not (run / "power.csv").exists()


@pytest.mark.parametrize(
    ("session", "said"),
    [
        (FakeSession("real", settles_bytes=512 * MIB), "do not say when they began"),
        (FakeSession(settles_bytes=512 * MIB), "a simulated drive has no power"),
    ],
)
def test_a_run_without_times_is_refused(
    tmp_path: Path, capsys: Any, session: FakeSession, said: str
) -> None:
    run_fake(tmp_path / "run", "latency", session)
    log = written(tmp_path, "time,watts\n1,1\n2,1\n")
    assert cli.main(["pts", "report", str(tmp_path / "run"), "--power-log", str(log)]) == 2
    assert said in capsys.readouterr().err


def test_a_simulated_drive_with_an_energy_model_needs_no_log(tmp_path: Path) -> None:
    run_fake(tmp_path / "run", "throughput", FakeSession(settles_bytes=512 * MIB), threads=1)
    page = next(page for page in build(tmp_path / "run").pages if page.title == "Power efficiency")
    (table,) = page.exhibits
    assert isinstance(table, Table)
    # The toy drive takes 2 W.
    assert [row[2] for row in table.rows] == pytest.approx([2.0, 2.0], rel=1e-6)
    assert table.note == "Requests over the joules of the drive's energy model."


def test_the_example_with_energy_reports_iops_per_watt(tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "x25m-with-energy.toml"
    words = ("latency", f"sim:{example}", "--scale", "0.001", "--keep-states", "0")
    assert cli.main(["pts", "run", *words, "--out", str(tmp_path / "run")]) == 0
    (section,) = json.loads((tmp_path / "run" / "result.json").read_text())["sections"]
    (reads,) = (
        cell
        for cell in section["cells"]
        if (cell["block_bytes"], cell["read_ratio"]) == (4096, 1.0)
    )
    # A page, its bytes on the channel, and the drive itself for 85 us, as x25m is fitted to.
    joules = 2e-6 + 4096 * 80e-12 + 0.6 * 85e-6
    # A step of 60 ms ends between two requests: one in 700.
    assert reads["iops_per_watt"] == pytest.approx(1 / joules, rel=2 / 700)
