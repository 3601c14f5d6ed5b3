"""Reproducing a paper: published numbers next to ours, and a failed claim is reported."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import TerminatedError, UsageError
from drivelab.exhibits import numbers
from drivelab.reproduce import papers, yoo2014
from drivelab.reproduce.claims import Claim, Ordering
from drivelab.reproduce.yoo2014_live import LiveRates, live_rates

# Less flash than the paper's drive, enough for its file: nothing compared depends on it.
SMALL = (
    'base = "x25m-yoo2014"\nname = "small"\n'
    "[geometry]\nblocks_per_plane = 64\nover_provisioning_ratio = 1.0\n"
)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("presets") / "small.toml"
    path.write_text(SMALL)
    return str(path)


@pytest.fixture(scope="module")
def worn(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("presets") / "worn.toml"
    path.write_text(SMALL + "[timing]\nprogram_cell_ns = 941_000\n")
    return str(path)


@pytest.fixture(scope="module")
def reproduction(small: str):
    return yoo2014.reproduce(small, is_served=False)


def test_every_claim_holds(reproduction) -> None:
    assert reproduction.failures == ()
    # Inputs, two tables on two drives, VSSIM, shortest and longest of 18 workloads.
    assert len(reproduction.claims) == 10 + 2 * (2 + 4) + 4 + 2 * 18
    assert all(claim.reason for claim in reproduction.claims)


def test_tables_4_and_5_are_next_to_ours(reproduction) -> None:
    table_4, table_5 = reproduction.tables[:2]
    (write, read) = table_4.records()
    assert (write["published_x25m"], write["published_model"]) == (944.6, 947.9)
    assert write["closed_form"] == write["simulator"] == pytest.approx(1e9 / 1_055_000)
    assert read["simulator_from_x25m_percent"] == pytest.approx(1.05, abs=0.005)
    sequential_read = table_5.records(workload="Seq Read")[0]
    assert sequential_read["published_vssim"] == 211.9
    assert sequential_read["simulator"] == pytest.approx(0.5 / 2.270e-3)


def test_curves_of_figures_10_and_11(reproduction) -> None:
    writes, reads = reproduction.tables[2:]
    assert writes.column("record_bytes") == [4096 * 2**power for power in range(8)]
    # Equation 6: 33 (N - 1) + 395 (ceil(N / 20) - 1) + 1055 us; equation 7: 16 (N - 1) + 238 us.
    pages = [2**power for power in range(8)]
    assert writes.column("simulator_latency_ns") == [
        33_000 * (n - 1) + 395_000 * (math.ceil(n / 20) - 1) + 1_055_000 for n in pages
    ]
    assert reads.column("closed_form_latency_ns") == [16_000 * (n - 1) + 238_000 for n in pages]
    assert reads.column("simulator_mib_per_second")[-1] == pytest.approx(220.3, abs=0.05)


def test_measured_points_of_the_figures_are_quoted_only(reproduction) -> None:
    assert any("4 %" in text for text in reproduction.quoted)
    assert any("1.3 %" in text for text in reproduction.quoted)
    assert not any("figure" in claim.name for claim in reproduction.claims)


def test_what_fio_finds_is_held_against_the_simulator(small: str, monkeypatch) -> None:
    rates = {("read", 4096, True): 4096 * 4000.0, ("write", 4096, True): 4096 * 900.0}
    monkeypatch.setattr(yoo2014, "live_rates", lambda *_: LiveRates(rates))
    found = yoo2014.reproduce(small)
    table_4, table_5 = found.tables[:2]
    assert numbers(table_4.column("live")) == pytest.approx([900.0, 4000.0])
    assert table_5.column("live")[:2] == [None, None]
    # 4,000 of 4,201.7 are 4.8 % fewer, 900 of 947.9 are 5.05 %.
    assert [claim.name for claim in found.failures] == [
        "table 5, Rand Write: fio on the live drive against the simulator"
    ]


def test_a_late_live_drive_is_reported_and_not_judged(small: str, monkeypatch) -> None:
    late = LiveRates({("read", 4096, True): 4096.0}, "half of the replies went out late")
    monkeypatch.setattr(yoo2014, "live_rates", lambda *_: late)
    found = yoo2014.reproduce(small)
    assert not found.failures
    assert found.quoted[-1] == "Live drive: half of the replies went out late"


def test_fio_measures_the_live_drive(small: str) -> None:
    with SimulatedDrive.open(f"sim:{small}") as drive:
        live = live_rates(drive, [("read", 65536, False)], seconds=0.3)
    # However busy the machine is: never faster than the drive, which takes 478 us. Without its
    # twenty times slower time it would be reported as at most a twentieth of that.
    rate = live.bytes_per_second["read", 65536, False]
    assert rate <= 65536 / 478e-6
    assert rate > 65536 / 478e-6 / 20


def test_without_fio_nothing_is_measured(small: str, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "")
    with SimulatedDrive.open(f"sim:{small}") as drive:
        live = live_rates(drive, [("read", 65536, False)], seconds=0.3)
    assert not live.bytes_per_second
    assert "fio, which is not installed" in str(live.caution)


def test_printed_error_of_table_4_writes_is_not_what_its_numbers_give() -> None:
    point = yoo2014.TABLE_4[0]
    assert point.error_percent == 0.5
    assert (point.model - point.measured) / point.measured * 100 == pytest.approx(0.35, abs=0.005)


def test_another_drive_fails_its_claims(worn: str) -> None:
    failures = yoo2014.reproduce(worn, is_served=False).failures
    assert {claim.name for claim in failures} == {
        "preset, timing.program_cell_ns",
        "table 4, Write: closed form against the paper's model",
        "table 4, Write: simulator against the paper's model",
        "table 5, Rand Write: closed form against the paper's model",
        "table 5, Rand Write: simulator against the paper's model",
        "table 5, Rand Write: the simulator's difference from VSSIM",
    } | {
        # 512 KiB: 7 us of 7616 more, 65.59 instead of 65.65 MiB/s.
        "table 5, Seq Write: closed form against the paper's model",
        "table 5, Seq Write: simulator against the paper's model",
        "table 5, Seq Write: the simulator's difference from VSSIM",
    }


@pytest.mark.parametrize(
    ("ours", "holds"),
    [(10.0, True), (10.5, True), (9.5, True), (10.51, False), (math.nan, False), (1e999, False)],
)
def test_claim_holds_within_its_tolerance(ours: float, holds: bool) -> None:
    claim = Claim("a", ours, 10.0, "ns", 0.5, "because")
    assert claim.holds is holds
    assert set(claim.to_json()) >= {"name", "ours", "published", "difference", "holds"}


@pytest.mark.parametrize(
    ("smaller", "larger", "holds"),
    [(1.0, 2.0, True), (2.0, 2.0, False), (3.0, 2.0, False), (math.nan, 2.0, False)],
)
def test_ordering_holds_when_the_first_is_smaller(smaller, larger, holds) -> None:
    ordering = Ordering("a", smaller, larger, "ms", "because")
    assert ordering.holds is holds
    assert set(ordering.to_json()) >= {"name", "smaller", "larger", "holds"}


@pytest.fixture
def on(monkeypatch):
    """Give `on(path)`: the command then runs on that drive."""

    def use(path: str) -> None:
        monkeypatch.setitem(
            papers.PAPERS, "yoo2014", lambda _: yoo2014.reproduce(path, is_served=False)
        )

    return use


def test_command_writes_tables_and_figures(small, on, tmp_path: Path, capsys) -> None:
    on(small)
    out = tmp_path / "deep" / "out"
    assert cli.main(["reproduce", "yoo2014", "--out", str(out), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["holds"] is True
    assert set(values) == {
        "paper",
        "reference",
        "holds",
        "tables",
        "claims",
        "orderings",
        "quoted",
        "files",
    }
    assert list(values["tables"]) == ["table_4", "table_5", "figure_10", "figure_11"]
    assert sorted(values["files"]) == sorted(str(path) for path in out.iterdir())
    for name in ("figure_10.svg", "figure_11.svg", "figure_3.svg", "figure_9.svg"):
        assert "</svg>" in (out / name).read_text()
    with (out / "claims.csv").open() as text:
        rows = list(csv.DictReader(text))
    assert len(rows) == len(values["claims"])
    assert {row["holds"] for row in rows} == {"1"}


def test_command_prints_for_people(small, on, capsys) -> None:
    on(small)
    assert cli.main(["reproduce", "yoo2014"]) == 0
    text = capsys.readouterr().out
    for part in ("Table 4", "Figure 11", "220.3", "4,201.7", "62 of 62 claims hold", "1.3 %"):
        assert part in text


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_failing_claim_is_exit_1_after_everything_was_said(worn, on, more, capsys) -> None:
    on(worn)
    assert cli.main(["reproduce", "yoo2014", *more]) == 1
    captured = capsys.readouterr()
    assert "claims fail, the first: preset, timing.program_cell_ns: 941,000 ns" in captured.err
    assert captured.err.count("\n") == 1
    if more:
        assert json.loads(captured.out)["holds"] is False
    else:
        assert "fails: table 4, Write: simulator" in captured.out


@pytest.mark.parametrize(
    ("paper", "code", "said"),
    [
        ("lee2021", 130, "stopped; nothing was saved; with --out DIR the same command resumes"),
        ("boito2015", 143, "terminated; nothing was saved"),
    ],
)
def test_what_was_stopped_and_is_not_kept_says_so(
    monkeypatch, capsys, paper: str, code: int, said: str
) -> None:
    def stopped(folder: Path | None) -> None:
        assert folder is None
        # As a run says that is kept in a folder for temporary files.
        if code == 143:
            raise TerminatedError(15, "terminated; 3 of 15 are kept in /tmp/gone")
        raise KeyboardInterrupt("stopped; 3 of 15 are kept in /tmp/gone; go on with it")

    monkeypatch.setitem(papers.PAPERS, paper, stopped)
    assert cli.main(["reproduce", paper]) == code
    assert capsys.readouterr().err == f"drivelab: {said}\n"


def test_what_was_stopped_and_is_kept_says_where(monkeypatch, capsys, tmp_path: Path) -> None:
    def stopped(folder: Path | None) -> None:
        raise KeyboardInterrupt(f"stopped; 3 of 15 are kept in {folder}")

    monkeypatch.setitem(papers.PAPERS, "lee2021", stopped)
    assert cli.main(["reproduce", "lee2021", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == f"drivelab: stopped; 3 of 15 are kept in {tmp_path}\n"


def test_unknown_paper_lists_the_known(capsys) -> None:
    with pytest.raises(UsageError):
        papers.reproduce("huang")
    assert cli.main(["reproduce", "huang"]) == 2
    assert (
        "no paper 'huang'; did you mean huang2011? the papers are boito2015, huang2011, lee2021, "
        "snia2010, yoo2014" in capsys.readouterr().err
    )


def test_out_that_is_a_file_is_a_mistake(tmp_path: Path, capsys) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    assert cli.main(["reproduce", "yoo2014", "--out", str(path)]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert path.read_text() == "mine"
