"""`drivelab fit` of a CSV file of measurements, and of the closed form."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from drivelab.campaign.campaign import run_campaign
from drivelab.cli import main as cli
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.preset_fit.measured_table import read_table
from drivelab.preset_fit.observed import read_run
from drivelab.workloads.design import parse_design

Rows = list[dict[str, str]]

PLAN = MeasurementPlan.of_kind("simulated", seed=3, requests=4000, warmup_requests=2000)
RPM = 10_000
CHARACTERISTICS = (
    *("write_ratio", "queue_depth", "read_size_bytes", "write_size_bytes", "read_random"),
    *("write_random", "read_stride_bytes", "write_stride_bytes"),
)
NOTHING = dict.fromkeys(
    (
        *("bandwidth_bytes_per_second", "latency_ns_p99", "read_latency_ns_mean"),
        "write_latency_ns_mean",
    ),
    "",
)
#: Eight record sizes a direction, of a drive with 16 units: W_ch 50 us, W_page 1632 us.
CURVE = "analytic:x25m-yoo2014"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a disk that rotates more slowly than its base preset."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "hidden.toml").write_text(
        f'name = "hidden"\nbase = "sas-15k"\n[mechanics]\nrotation_rpm = {RPM}\n'
    )
    with open_drive(f"sim:{folder / 'hidden.toml'}") as drive:
        workloads = parse_design("sobol:32").select(1, block_bytes=512).workloads
        run_campaign(
            drive, workloads, PLAN, folder / "run", design_name="sobol", progress=False
        ).close()
    assert cli.main(["runs", "export", str(folder / "run"), "--csv", str(folder / "rows.csv")]) == 0
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(path: Path) -> Rows:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Rows, columns: Sequence[str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def curve(path: Path) -> Path:
    """Write the bandwidths of a formula with hidden values."""
    (path / "hidden.toml").write_text(
        'name = "hidden"\nbase = "x25m-yoo2014"\n'
        "[geometry]\nchannels = 8\nblocks_per_plane = 2560\n[closed_form]\nrho = 16\n"
        "[timing]\nwrite_dispatch_ns = 50000\nprogram_cell_ns = 1500000\n"
    )
    lines = [",".join((*CHARACTERISTICS, "bandwidth_bytes_per_second"))]
    with open_drive(f"analytic:{path / 'hidden.toml'}") as drive:
        for power in range(8):
            size = 4096 << power
            record = drive.closed_form.record("write", size)
            lines.append(f"1,1,,{size},,0,,0,{size / record['record_ns'] * 1e9}")
    (path / "curve.csv").write_text("\n".join(lines) + "\n")
    return path / "curve.csv"


def test_a_run_and_its_table_have_the_same_measurements(run: Path) -> None:
    whole, table = read_run(run / "run"), read_table(run / "rows.csv", writes="burst")
    assert table.drive == whole.drive
    for one, other in ((whole.fitted, table.fitted), (whole.held_out, table.held_out)):
        assert [each.key() for each in one.workloads] == [each.key() for each in other.workloads]
        for name in ("mean", "read", "write", "p99"):
            found = getattr(other.behaviour, name)
            assert found == pytest.approx(getattr(one.behaviour, name), rel=1e-12, nan_ok=True)


def only_latency(rows: Rows) -> tuple[Rows, list[str]]:
    return rows, ["latency_ns_mean"]


def only_rate(rows: Rows) -> tuple[Rows, list[str]]:
    return rows, ["iops"]


@pytest.mark.parametrize("choose", [only_latency, only_rate])
def test_a_table_of_latencies_or_rates_alone_finds_the_hidden_value(
    run: Path, tmp_path: Path, choose: Callable[[Rows], tuple[Rows, list[str]]]
) -> None:
    rows, results = choose(rows_of(run / "rows.csv"))
    path = write(tmp_path / "own.csv", rows, (*CHARACTERISTICS, *results))
    command = ["fit", str(path), "--base", "sas-15k", "-o", str(tmp_path / "mine.toml")]
    command += ["--fit", "mechanics.rotation_rpm", "--generations", "0"]
    assert cli.main([*command, "--out", str(tmp_path / "page"), "--json"]) == 0
    answer = json.loads((tmp_path / "page" / "result.json").read_text())
    assert answer["error"]["latency_p99_ratio"] is None
    [value] = answer["values"]
    # As of a run: a value that is determined is known within a tenth.
    assert value["is_told"]
    assert value["value"] == pytest.approx(RPM, rel=0.1)
    assert (answer["run"], answer["drive"]) == (str(path), "own.csv")
    assert "99 % latency" not in answer["headline"]
    page = (tmp_path / "page" / "report.html").read_text()
    assert "99 % latency" not in page
    assert "Real drive" not in page


def test_a_curve_gives_the_closed_form(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curve(here)
    command = ["fit", "curve.csv", "--base", CURVE, "-o", "mine.toml", "--out", "page"]
    assert cli.main([*command, "--hold", "timing.write_register_ns,build"]) == 0
    said = capsys.readouterr().out
    assert "closed form is off by 0.0 % in the mean latency" in said
    assert "analytic:mine.toml --op write" in said
    answer = json.loads(Path("page/result.json").read_text())
    found = {one["name"]: one["value"] for one in answer["values"]}
    assert found == {
        "timing.write_dispatch_ns": pytest.approx(50_000, abs=2),
        "timing.program_cell_ns": pytest.approx(1_500_000, abs=20),
        "closed_form.rho": 16,
    }
    assert answer["simulations"] == 0
    with open_drive("analytic:mine.toml") as drive:
        preset = drive.identity()["preset"]
        assert preset["geometry"]["channels"] == 8
        assert preset["closed_form"]["rho"] == 16
    page = Path("page/report.html").read_text()
    assert "A closed form fitted to curve.csv" in page
    assert Path("page/data/write-curve.csv").exists()
    assert not Path("page/data/read-curve.csv").exists()


def test_a_row_of_another_part_may_contradict(run: Path, here: Path) -> None:
    """Fills of a run write the same, until a buffer is full and after that."""
    rows = rows_of(run / "rows.csv")
    more = [{**rows[0], "part": "fills", "latency_ns_mean": "1e11", "iops": "", **NOTHING}]
    path = write(here / "rows.csv", [*rows, *more], tuple(rows[0]))
    table, whole = read_table(path, writes="burst"), read_run(run / "run")
    assert len(table.fitted.workloads) == len(whole.fitted.workloads)


def test_repetitions_are_held_out_together(here: Path) -> None:
    lines = curve(here).read_text().splitlines()
    (here / "again.csv").write_text("\n".join([lines[0], *lines[1:] * 5]) + "\n")
    table = read_table(here / "again.csv", writes="burst", accepts=lambda _: True)
    assert (len(table.fitted.workloads), len(table.held_out.workloads)) == (30, 10)
    assert {one.write_size for one in table.held_out.workloads} == {4096 << 3, 4096 << 7}


def test_rows_marked_for_the_check_judge_the_closed_form(here: Path) -> None:
    head, *lines = curve(here).read_text().splitlines()
    parts = ["training", "check", "training", "training", "check", *["training"] * 3]
    marked = [f"{head},part", *(f"{line},{part}" for line, part in zip(lines, parts, strict=True))]
    (here / "marked.csv").write_text("\n".join(marked) + "\n")
    table = read_table(here / "marked.csv", writes="burst", accepts=lambda _: True)
    assert [one.write_size for one in table.held_out.workloads] == [4096 << 1, 4096 << 4]
    assert len(table.fitted.workloads) == 6


Change = Callable[[Rows], Rows]


def changed(place: int, **cells: str) -> Change:
    def change(rows: Rows) -> Rows:
        rows[place] |= cells
        return rows

    return change


def twice_and_otherwise(rows: Rows) -> Rows:
    return [*rows, {**rows[0], "latency_ns_mean": "1e12"}]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (changed(0, latency_ns_mean="-1"), "line 2: latency_ns_mean is '-1'; allowed: a number"),
        (changed(1, latency_ns_mean="nan"), "line 3: latency_ns_mean is 'nan'; allowed"),
        (changed(1, latency_ns_mean="1e18"), "is '1e18'; allowed: a number from 1 to 1e12"),
        (changed(1, latency_ns_mean="", iops="1e-300"), "line 3: iops is '1e-300', with queue_"),
        (changed(1, latency_ns_mean="", iops="inf"), "line 3: iops is 'inf'; allowed: a number"),
        (changed(1, read_latency_ns_mean="1", write_latency_ns_mean="1"), "correct one of them"),
        (changed(1, part="check"), "has 1 rows whose part is check, and the result is judged by"),
        (changed(2, latency_ns_mean="soon"), "line 4: latency_ns_mean is 'soon'; allowed"),
        (changed(2, latency_ns_mean=""), "line 4: no result; write latency_ns_mean, iops or "),
        (changed(2, iops="1e12"), "line 4: iops is '1e12', with queue_depth .* allowed: 1 ns"),
        (changed(2, part="held"), "line 4: 'held' is no part of a run; allowed: training"),
        (changed(2, drive="b"), "line 4: measurements of 'b' after those of 'a'; keep the rows"),
        (changed(2, queue_depth="0"), "line 4: queue_depth"),
        (changed(2, iops="0.1"), "line 4: latency_ns_mean means .*, and the rate .*correct one"),
        (twice_and_otherwise, "line 34: the same workload as in .*line 2 takes .* keep the right"),
        (lambda rows: rows[:20], "rows.csv has 15 workloads to fit to and 5 others to judge by"),
    ],
)
def test_mistakes_in_a_table_get_one_line(
    run: Path,
    here: Path,
    capsys: pytest.CaptureFixture[str],
    change: Change,
    reason: str,
) -> None:
    rows = [
        {**{name: row[name] for name in (*CHARACTERISTICS, "latency_ns_mean")}, "drive": "a"}
        for row in rows_of(run / "rows.csv")
    ]
    results = ("latency_ns_mean", "iops", "read_latency_ns_mean", "write_latency_ns_mean")
    columns = ("drive", "part", *CHARACTERISTICS, *results)
    write(Path("rows.csv"), change(rows), columns)
    assert cli.main(["fit", "rows.csv", "--base", "sas-15k", "-o", "mine.toml"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert re.search(reason, said), said
    assert [path.name for path in here.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["curve.csv", "--base", f"{CURVE},x25m"], "a closed form is fitted alone: name only"),
        (["curve.csv", "--base", "analytic:sas-15k"], "is a disk, and the closed form is that of"),
        (["curve.csv", "--base", "analytic:x25m"], "does not hold for x25m: .*--base x25m"),
        (["curve.csv", "--base", CURVE, "--workers", "2"], "--workers is for simulations"),
        (["curve.csv", "--base", "x25m"], "has 6 workloads to fit to and 2 others to judge by"),
        (["curve.csv"], "has 6 workloads to fit to"),
        (["few.csv", "--base", CURVE], "has 2 single requests of whole pages .*several request"),
        (["gone.csv", "--base", CURVE], "there is no file gone.csv"),
        (["curve.txt", "--base", CURVE], "'mbps' is not a column of workloads; allowed: write_"),
    ],
)
def test_mistakes_with_a_closed_form_get_one_line(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reason: str,
) -> None:
    text = curve(here).read_text()
    Path("few.csv").write_text("\n".join(text.splitlines()[:3]) + "\n")
    Path("curve.txt").write_text(text.replace("bandwidth_bytes_per_second", "mbps"))
    assert cli.main(["fit", *arguments, "-o", "mine.toml"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert re.search(reason, said), said
    assert not Path("mine.toml").exists()


def test_a_run_says_itself_how_it_wrote(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command: list[Any] = ["fit", str(run / "run"), "--base", "sas-15k", "--writes", "burst"]
    assert cli.main([*command, "-o", str(run / "mine.toml")]) == 2
    assert "which says how it wrote: leave it out" in capsys.readouterr().err
