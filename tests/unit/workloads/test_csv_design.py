"""Workloads from a CSV file: what is read, what is refused and in which words."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from fake_drive import FakeDrive, workloads

from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.kind import campaign_rows
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import UsageError
from drivelab.runs.export import measurements_csv
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.design import parse_design
from drivelab.workloads.parts import Parts

SMALL = Path(__file__).parents[2] / "small_drive.toml"
HEAD = ",".join(FIELDS)
ROW = "0.5,4,4096,64KiB,1,0.25,0,8KiB"
MIXED = Characteristics(0.5, 4, 4096, 65536, 1.0, 0.25, 0, 8192)


@pytest.fixture
def table(tmp_path: Path):
    def write(*lines: str, ending: str = "\n") -> str:
        path = tmp_path / "workloads.csv"
        path.write_bytes(ending.join([*lines, ""]).encode())
        return str(path)

    return write


def read(path: str) -> list[Characteristics]:
    return parse_design(path).select(seed=0).workloads


def refusal(path: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_design(path)
    said = str(caught.value)
    assert said.startswith(path)
    assert "\n" not in said
    assert len(said) < len(path) + 330
    return said.removeprefix(path)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_rows_are_workloads(table, ending: str) -> None:
    assert read(table(HEAD, ROW, "", ROW.replace("0.5", "5e-1"), ending=ending)) == [MIXED, MIXED]


def test_columns_in_any_order_with_bytes_and_what_a_byte_order_mark_says(table) -> None:
    names = [f"{name}_bytes" if "size" in name or "stride" in name else name for name in FIELDS]
    cells = ROW.split(",")
    order = [5, 3, 7, 1, 0, 2, 6, 4]
    path = table(
        "\ufeff" + " ,".join(names[place] for place in order),
        ", ".join(f'"{cells[place]}"' if place == 3 else cells[place] for place in order),
    )
    assert read(path) == [MIXED]


def test_repeated_rows_are_measured_again_and_counted_once(table) -> None:
    rows = [f"0,{depth},4096,,1,,," for depth in range(1, 11)]
    path = table(HEAD, *rows, *rows, rows[0])
    design = parse_design(path)
    assert design.distinct == 10
    selection = design.select(seed=1)
    # Two of ten distinct ones calibrate, each with its repetitions.
    calibration = [selection.workloads[index] for index in selection.parts.range("calibration")]
    training = [selection.workloads[index] for index in selection.parts.range("training")]
    assert len(training) + len(calibration) == 21
    assert len({workload.key() for workload in calibration}) == 2
    assert not {each.key() for each in training} & {each.key() for each in calibration}
    assert sorted(each.queue_depth for each in selection.workloads) == sorted(
        [*range(1, 11), *range(1, 11), 1]
    )
    assert "the 21 rows of " in selection.population


def test_a_changed_file_is_another_population(table) -> None:
    first = parse_design(table(HEAD, ROW)).population
    assert parse_design(table(HEAD, ROW)).population == first
    assert parse_design(table(HEAD, ROW.replace("4096", "8192"))).population != first


def test_empty_cells_say_that_there_is_no_effect(table) -> None:
    path = table(HEAD, "0,1,4KiB,,1,,,", "1,1,,4KiB,,0.5,,0", "1,1,4KiB,4KiB,0,1,512,")
    assert read(path) == [
        Characteristics(),
        Characteristics(write_ratio=1.0, write_random=0.5),
        Characteristics(write_ratio=1.0),
    ]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (",4,4096,65536,1,0.25,0,0", "write_ratio"),
        ("0.5,,4096,65536,1,0.25,0,0", "queue_depth"),
        ("0.5,4,,65536,1,0.25,0,0", "read_size"),
        ("0,4,,65536,1,0.25,0,0", "read_size"),
        ("1,4,4096,,1,0.25,0,0", "write_size"),
        ("0.5,4,4096,65536,,0.25,0,0", "read_random"),
        ("0.5,4,4096,65536,1,,0,0", "write_random"),
        ("0.5,4,4096,65536,0.9,1,,0", "read_stride"),
        ("0.5,4,4096,65536,1,0.25,0,", "write_stride"),
    ],
)
def test_empty_cells_with_an_effect_are_refused(table, row: str, name: str) -> None:
    said = refusal(table(HEAD, ROW, row))
    assert said.startswith(f", line 3: {name} is empty")
    assert "; write " in said


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], " contains no workload; write one per line below the column names"),
        (["", "", ""], " contains no workload; "),
        ([HEAD], " contains no workload; "),
        ([HEAD.replace(",", ";"), "0;1"], ", line 1: no commas; separate the columns by commas"),
        ([HEAD.replace(",", "\t")], ", line 1: no commas; separate the columns by commas"),
        (["write_ratio"], ", line 1: no column queue_depth, read_size, write_size, read_random,"),
        ([HEAD + ",note"], ", line 1: 'note' is not a column of workloads; allowed: write_ratio,"),
        ([HEAD + ","], ", line 1: '' is not a column of workloads; allowed: "),
        ([HEAD.replace("read_size", "reed_size")], "did you mean read_size? allowed: "),
        ([HEAD.replace("write_ratio", "write_ratio_bytes")], "did you mean write_ratio? allowed"),
        ([HEAD + ",read_size_bytes"], ", line 1: two columns are read_size; keep one"),
        (["0.5,4,4096,4096,1,1,0,0"], ", line 1: '0.5' is not a column of workloads; allowed: "),
        ([HEAD, ROW, ROW + ",1"], ", line 3: 9 cells where 8 columns are named; write a cell"),
        ([HEAD, "0.5,4"], ", line 2: 2 cells where 8 columns are named; write a cell"),
        ([HEAD, "", ROW.replace("0.5", "nan")], ", line 3: write_ratio is 'nan'; allowed: a ratio"),
        ([HEAD, ROW.replace("0.5", "NaN")], ", line 2: write_ratio is 'NaN'; allowed: a ratio"),
        ([HEAD, ROW.replace("0.5", "50%")], ", line 2: write_ratio is '50%'; allowed: a ratio"),
        ([HEAD, ROW.replace("0.5", "-0.5")], ", line 2: write_ratio is '-0.5'; allowed: a ratio"),
        ([HEAD, ROW.replace("0.5", "1.01")], ", line 2: write_ratio is 1.01; allowed: a ratio"),
        ([HEAD, ROW.replace("0.5", "1e999")], ", line 2: write_ratio is inf; allowed: a ratio"),
        ([HEAD, ROW.replace("0.5", '"0,5"')], ", line 2: write_ratio is '0,5'; allowed: a ratio"),
        ([HEAD, ROW.replace(",4,", ",4.5,")], ", line 2: queue_depth is '4.5'; allowed: a whole"),
        ([HEAD, ROW.replace(",4,", ",0,")], ", line 2: queue_depth is 0; allowed: 1 to 65536"),
        ([HEAD, ROW.replace("4096", "4095")], ", line 2: read_size is 4095 bytes; allowed: a mult"),
        ([HEAD, ROW.replace("4096", "1GiB")], ", line 2: read_size is 1073741824 bytes; allowed"),
        ([HEAD, ROW.replace("4096", "big")], ", line 2: read_size: 'big' is not a size; write for"),
        ([HEAD, ROW.replace("8KiB", "-512")], ", line 2: write_stride: '-512' is not a size;"),
        ([HEAD, ROW.replace("4096", "9" * 200_000)], ", line 2: field larger than field limit"),
        ([HEAD, ROW.replace("4096", "9" * 10_000)], ", line 2: read_size: "),
        ([HEAD, ROW.replace("0.5", "x" * 10_000)], ", line 2: write_ratio is 'xxx"),
        ([HEAD, '"0.5"5,4,1,1,1,1,1,1'], ", line 2: ',' expected after '\"'; write plain numbers"),
        ([HEAD, '"0.5,4'], ", line 2: unexpected end of data; write plain numbers separated by"),
        ([HEAD, ROW.replace("0.5", "0\x00")], ", line 2: "),
    ],
)
def test_mistakes_are_reported_with_their_line(table, lines: list[str], said: str) -> None:
    assert said in refusal(table(*lines))


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "workloads.csv"
    path.write_bytes(f"{HEAD}\n{ROW}\n".encode() + b"0.5,\xff\xfe\n")
    assert refusal(str(path)) == ", line 3: not UTF-8 text; save the table as CSV in UTF-8"
    path.write_bytes(HEAD.encode("utf-16"))
    assert refusal(str(path)) == ", line 1: not UTF-8 text; save the table as CSV in UTF-8"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*nothing\.csv; name a CSV file"):
        parse_design(str(tmp_path / "nothing.csv"))
    (tmp_path / "folder.csv").mkdir()
    assert refusal(str(tmp_path / "folder.csv")) == " is a folder; name a CSV file of workloads"
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is not a regular file" in refusal(str(tmp_path / "pipe.csv"))
    with pytest.raises(UsageError, match="cannot be read"):
        parse_design("a\x00b.csv")
    with pytest.raises(UsageError, match="cannot be read: File name too long"):
        parse_design("x" * 300 + ".csv")


def test_huge_files_are_refused_before_they_are_read(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(257 * 2**20)
    assert refusal(str(path)).startswith(" is larger than 256 MiB; 1,000,000 workloads are the")
    monkeypatch.setattr("drivelab.workloads.csv_design.MAX_ROWS", 3)
    path.write_text("\n".join([HEAD, *[ROW] * 4]))
    assert refusal(str(path)) == ", line 5: 3 workloads are the most: split the file"
    path.write_text("\n".join([HEAD, *[ROW] * 3]))
    assert read(str(path)) == [MIXED] * 3


def test_a_fake_runs_export_is_a_design(tmp_path: Path) -> None:
    run_campaign(
        FakeDrive(),
        workloads(30),
        MeasurementPlan(requests=10),
        tmp_path / "run",
        design_name="fake",
        progress=False,
    ).close()
    export = tmp_path / "run" / "measurements.csv"
    design = parse_design(str(export))
    assert [workload.key() for workload in design.listed] == [each.key() for each in workloads(30)]


def test_a_simulated_runs_export_is_a_design(tmp_path: Path) -> None:
    asked = [
        MIXED,
        Characteristics(),
        Characteristics(write_ratio=1.0, write_random=0.0),
        Characteristics(write_ratio=0.1234, write_random=0.0, write_stride=1536),
    ]
    plan = MeasurementPlan(requests=500)
    with open_drive(f"sim:{SMALL}") as drive:
        measurements = list(drive.measure(list(enumerate(asked)), plan))
    export = measurements_csv(
        campaign_rows(measurements), {"name": "sim:small", "kind": "simulated"}
    )
    path = tmp_path / "export.CSV"
    path.write_text(export)
    assert list(parse_design(str(path)).listed) == asked


def test_part_of_an_export_says_which_columns_are_too_many(table) -> None:
    head = f"index,{HEAD},iops"
    said = refusal(table(head, f"0,{ROW},1000"))
    assert "'index' is not a column of workloads; allowed: write_ratio, queue_depth" in said
    assert said.endswith("or a run's whole measurements.csv")


def test_a_drive_that_can_run_none_is_reported(table) -> None:
    design = parse_design(table(HEAD, ROW, ROW))
    with pytest.raises(UsageError, match="has 2 workloads, and this drive can express none of"):
        design.select(0, accepts=lambda _: False)
    selection = design.select(0, accepts=lambda workload: workload.write_ratio > 0)
    assert (selection.parts, selection.left_out) == (Parts(training=2), 0)
    assert selection.population == design.population


def test_the_documents_example_is_read(table) -> None:
    text = (Path(__file__).parents[3] / "docs" / "workloads.md").read_text()
    example = [line.strip() for line in text.splitlines() if re.match("    [0-9w].*,.*,", line)]
    assert example[0] == HEAD
    assert read(table(*example)) == [
        Characteristics(),
        Characteristics(0.3, 8, 65536, 16384, 0.5, 1.0, 0, 0),
    ]
