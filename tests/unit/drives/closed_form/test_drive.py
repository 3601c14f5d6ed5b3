"""The closed form as a drive and as a command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from drivelab._core import ClosedForm, preset_names, preset_text
from drivelab.cli import main as cli
from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.measurement import Measurement
from drivelab.drives.naming import list_presets, open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.workloads.characteristics import Characteristics

READ = Characteristics()
WRITE = Characteristics(write_ratio=1.0)


@pytest.fixture
def drive() -> AnalyticDrive:
    return AnalyticDrive.open("x25m-yoo2014")


def test_an_equation_keeps_nothing_for_a_next_step(drive: AnalyticDrive) -> None:
    with pytest.raises(CannotAnswerError, match="that a step could change; name sim:x25m-"):
        drive.session()


def test_measurements_carry_the_equations_latency(drive: AnalyticDrive) -> None:
    work = [(3, WRITE), (7, replace(READ, read_size=512 * 1024, read_random=0.0))]
    write, read = drive.measure(work, MeasurementPlan(requests=500))
    assert (write.index, read.index) == (3, 7)
    assert write.read is None
    assert write.write is not None
    # W_page = 33 + 82 + 940 us; t_record of 128 pages read = 16 x 127 + 238 us.
    assert write.latency_ns_mean == write.percentile_ns(99) == 1_055_000
    assert write.iops == pytest.approx(947.867, abs=0.001)
    assert read.latency_ns_mean == 2_270_000
    assert read.bandwidth_bytes_per_second == pytest.approx(512 * 1024 / 2.27e-3)
    assert (read.requests, read.duration_ns) == (500, 500 * 2_270_000)
    assert Measurement.from_json(json.loads(json.dumps(read.to_json()))) == read


@pytest.mark.parametrize(
    ("workload", "said"),
    [
        (replace(READ, write_ratio=0.3), ["write_ratio is 0.3, not 0 or 1"]),
        (replace(READ, queue_depth=2), ["queue_depth is 2, not 1"]),
        (replace(READ, read_size=512), ["read_size is 512 bytes, not a multiple of the page"]),
        (replace(WRITE, write_size=6144), ["write_size is 6144 bytes"]),
        (
            Characteristics(write_ratio=0.5, queue_depth=9, write_size=512),
            ["write_ratio is 0.5", "queue_depth is 9", "write_size is 512"],
        ),
    ],
)
def test_other_workloads_are_refused_with_every_reason(
    workload: Characteristics, said: list[str], drive: AnalyticDrive
) -> None:
    with pytest.raises(CannotAnswerError) as caught:
        drive.check(workload)
    for part in ["analytic:x25m-yoo2014 answers one kind of operation", *said]:
        assert part in str(caught.value)
    with pytest.raises(CannotAnswerError):
        list(drive.measure([(0, workload)], MeasurementPlan()))


def test_size_of_the_other_direction_does_not_matter(drive: AnalyticDrive) -> None:
    drive.check(replace(READ, write_size=512))
    drive.check(replace(WRITE, read_size=512))


def test_impossible_workload_is_a_mistake_and_no_refusal(drive: AnalyticDrive) -> None:
    with pytest.raises(UsageError) as caught:
        drive.check(replace(READ, queue_depth=0))
    assert not isinstance(caught.value, CannotAnswerError)


def test_drive_outside_the_condition_is_refused() -> None:
    with pytest.raises(CannotAnswerError, match='"per_die", not "in_order"'):
        AnalyticDrive.open("bench-64gib")
    with pytest.raises(UsageError, match="no preset"):
        AnalyticDrive.open("nonesuch")


def test_identity_holds_what_decides_the_answers(drive: AnalyticDrive) -> None:
    identity = drive.identity()
    assert (identity["kind"], identity["name"]) == ("closed_form", "analytic:x25m-yoo2014")
    assert identity["preset"]["timing"]["program_cell_ns"] == 940_000
    assert len(identity["config_hash"]) == 16
    assert json.loads(json.dumps(identity)) == identity
    with drive as same:
        assert same is drive
        assert same.capacity_bytes == 80_000_000_000


def test_native_class_gives_every_part() -> None:
    closed_form = ClosedForm(preset_text("x25m-yoo2014"), {})
    assert (closed_form.name, closed_form.rho, closed_form.page_size_bytes) == (
        "x25m-yoo2014",
        20,
        4096,
    )
    assert closed_form.record("write", 512 * 1024) == {
        "pages": 128,
        "rho": 20,
        "cycles": 7,
        "last_cycle_pages": 8,
        "page_ns": 1_055_000,
        "wait_ns": 395_000,
        "cycle_ns": 1_055_000,
        "last_cycle_ns": 1_286_000,
        "record_ns": 7_616_000,
    }
    with pytest.raises(UsageError, match='no operation "erase"; allowed: read, write'):
        closed_form.record("erase", 4096)


def test_one_direction_may_be_refused_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "x25m-yoo2014"\nname = "mine"\n[timing]\nread_dispatch_ns = 8199\n')
    drive = AnalyticDrive.open(str(path))
    drive.check(WRITE)
    assert [m.latency_ns_mean for m in drive.measure([(0, WRITE)], MeasurementPlan())] == [1055e3]
    with pytest.raises(CannotAnswerError, match="for reads channels x dispatch"):
        list(drive.measure([(0, READ)], MeasurementPlan()))


def test_fresh_drive_has_nothing_to_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "x25m-yoo2014"\nname = "mine"\ncondition = "fresh"\n')
    drive = AnalyticDrive.open(f"analytic:{path}")
    drive.check(WRITE)
    with pytest.raises(CannotAnswerError, match="fresh and has no data to read"):
        drive.check(READ)


def test_presets_inside_the_condition_are_listed_under_both_prefixes() -> None:
    names = [entry.name for entry in list_presets()]
    assert [name for name in names if name.startswith("analytic:")] == [
        "analytic:x25m-yoo2014",
        "analytic:x25m-yoo2014-planes",
    ]
    assert {f"sim:{name}" for name in preset_names()} <= set(names)
    for name in names:
        if name.startswith("analytic:"):
            with open_drive(name) as drive:
                assert (drive.name, drive.kind) == (name, "closed_form")


@pytest.mark.parametrize("prefix", ["", "sim:", "analytic:"])
def test_command_prints_stable_keys(prefix: str, capsys) -> None:
    words = [f"{prefix}x25m-yoo2014", "--op", "write", "--record", "512KiB", "--file-size", "512M"]
    assert cli.main(["analytic", *words, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values.pop("iops") == pytest.approx(131.303, abs=0.001)
    assert values.pop("bandwidth_bytes_per_second") == pytest.approx(68.84e6, rel=1e-4)
    assert values.pop("bandwidth_mib_per_second") == pytest.approx(65.65, abs=0.005)
    assert values == {
        "drive": "analytic:x25m-yoo2014",
        "op": "write",
        "record_bytes": 524288,
        "page_size_bytes": 4096,
        "latency_ns": 7_616_000,
        "pages": 128,
        "rho": 20,
        "cycles": 7,
        "last_cycle_pages": 8,
        "page_ns": 1_055_000,
        "wait_ns": 395_000,
        "cycle_ns": 1_055_000,
        "last_cycle_ns": 1_286_000,
        "file_bytes": 2**29,
        "file_records": 1024,
        "file_duration_ns": 1024 * 7_616_000,
    }


def test_command_prints_for_people(capsys) -> None:
    words = ["x25m-yoo2014", "--op", "read", "--record", "4k", "--file-size", "512MiB"]
    assert cli.main(["analytic", *words]) == 0
    text = capsys.readouterr().out
    for part in ("238 us (238,000 ns)", "4,201.7 IOPS", "MB/s = 16.4 MiB/s", "t_wait      none"):
        assert part in text
    assert "131,072 records" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x25m", "--op", "read", "--record", "4k"], "the closed form does not hold for x25m: "),
        (["x25m-yoo2014", "--op", "read", "--record", "5k"], "multiple of the page size, 4096"),
        (["x25m-yoo2014", "--op", "read", "--record", "0"], "a record of 0 bytes"),
        (["x25m-yoo2014", "--op", "trim", "--record", "4k"], "it takes read, write"),
        (["x25m-yoo2014", "--op", "read"], "--record"),
        (["none", "--op", "read", "--record", "4k"], "the presets are apex"),
        (["none.toml", "--op", "read", "--record", "4k"], "there is no file none.toml"),
        (
            ["x25m-yoo2014", "--op", "read", "--record", "8k", "--file-size", "12k"],
            "a file of 12288 bytes is not possible; allowed: a multiple of the record, 8192",
        ),
        (
            ["x25m-yoo2014", "--op", "read", "--record", "8k", "--file-size", "0"],
            "a file of 0 bytes",
        ),
    ],
)
def test_mistake_is_one_line(words: list[str], said: str, capsys) -> None:
    assert cli.main(["analytic", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_drive_without_any_time_has_no_rates(tmp_path: Path, capsys) -> None:
    times = "read_dispatch write_dispatch read_register write_register read_cell program_cell"
    path = tmp_path / "instant.toml"
    path.write_text(
        'base = "x25m-yoo2014"\nname = "instant"\n[timing]\n'
        + "".join(f"{name}_ns = 0\n" for name in times.split())
    )
    words = ["analytic", str(path), "--op", "read", "--record", "4k"]
    assert cli.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iops"] is None
    assert cli.main(words) == 0
    assert "unlimited" in capsys.readouterr().out
