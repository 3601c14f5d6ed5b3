"""Drives and measurements from Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import drivelab as dl
from drivelab.campaign.kind import campaign_rows
from drivelab.cli import main as cli
from drivelab.runs.export import measurements_csv

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
MIXED = dl.Characteristics(write_ratio=0.3, queue_depth=4, read_size="64KiB")


@pytest.fixture(scope="module")
def small() -> dl.Drive:
    return dl.drive(SMALL)


@pytest.fixture(scope="module")
def measured(small: dl.Drive) -> dl.Measurements:
    workloads = [MIXED, dl.Characteristics(), dl.Characteristics(write_ratio=1, write_random=0)]
    return small.measure(workloads, requests=300)


def test_a_measurement_is_what_the_command_measures(small: dl.Drive, capsys) -> None:
    one = small.measure(MIXED, seconds=0.05, seed=3)
    words = ["measure", SMALL, "--write-ratio", "0.3", "--queue-depth", "4"]
    words += ["--read-size", "64KiB", "--seconds", "0.05", "--seed", "3", "--json"]
    assert cli.main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["latency_ns_mean"] == one.latency_ns_mean
    assert answer["requests"] == one.requests
    assert answer["iops"] == one.iops
    assert (one.drive, one.drive_kind, one.index) == (SMALL, "simulated", 0)


def test_sizes_are_bytes_or_text() -> None:
    assert dl.Characteristics(read_size="4k", write_stride="1MiB") == dl.Characteristics(
        read_size=4096, write_stride=2**20
    )
    with pytest.raises(dl.DrivelabError, match=r"^write_size: '4 apples' is not a size"):
        dl.Characteristics(write_size="4 apples")
    # What a program wrote has numbers.
    with pytest.raises(dl.DrivelabError, match="read_size is '4096' bytes"):
        dl.Characteristics.from_json(dl.Characteristics().to_json() | {"read_size": "4096"})


def test_several_workloads_are_like_a_list(measured: dl.Measurements) -> None:
    assert len(measured) == 3
    assert next(iter(measured)).characteristics == MIXED
    assert measured[-1].index == 2
    assert isinstance(measured[1:], dl.Measurements)
    assert [one.index for one in measured[1:]] == [1, 2]


def test_one_in_a_list_is_a_list_of_one(small: dl.Drive) -> None:
    (one,) = small.measure([MIXED], requests=100)
    assert one == small.measure(MIXED, requests=100)
    assert len(small.measure([], requests=100)) == 0


def test_tables_are_the_exported_one(measured: dl.Measurements, tmp_path: Path) -> None:
    text = measurements_csv(campaign_rows(list(measured)), {"name": SMALL, "kind": "simulated"})
    (tmp_path / "measurements.csv").write_text(text)
    expected = pd.read_csv(tmp_path / "measurements.csv")
    frame = measured.to_pandas()
    assert list(frame.columns) == list(expected.columns) == list(measured.to_columns())
    assert frame.to_csv(index=False) == text
    assert str(frame["requests"].dtype) == "int64"
    assert str(frame["read_size_bytes"].dtype) == "Int64"
    table = measured.to_arrow()
    assert isinstance(table, pa.Table)
    assert table.to_pydict() == measured.to_columns()
    assert table.schema.field("latency_ns_mean").type == pa.float64()
    assert table.schema.field("requests").type == pa.int64()


def test_others_read_measurements_as_they_are(measured: dl.Measurements) -> None:
    # Those who take sequences for lists of objects must not find one.
    assert not isinstance(measured, Sequence)
    connection = duckdb.connect()
    connection.register("measured", measured)
    query = "select count(*), sum(requests), sum(requests) from measured where read_size_bytes > 0"
    assert connection.execute(query).fetchall() == [(2, 600, 600)]


def test_a_missing_library_is_one_clear_line(measured: dl.Measurements, monkeypatch) -> None:
    for name, call in (("pandas", measured.to_pandas), ("pyarrow", measured.to_arrow)):
        monkeypatch.setitem(__import__("sys").modules, name, None)
        with pytest.raises(dl.DrivelabError, match=f"pip install {name}"):
            call()


def test_a_notebook_shows_what_was_simulated(measured: dl.Measurements) -> None:
    page = measured[0]._repr_html_()
    assert "<th>simulated</th>" in page
    assert "30 % writes: 64 KiB random reads" in page
    table = measured._repr_html_()
    assert table.count("<tr>") == 4
    assert "3 workloads simulated on sim:" in table
    assert repr(measured) == f"<3 measurements of {SMALL}, simulated>"


def test_what_a_notebook_shows_is_text() -> None:
    one = dl.Measurements([], "sim:<b>", "simulated")
    assert "<b>" not in one._repr_html_()


def test_a_long_table_shows_its_first_rows(small: dl.Drive) -> None:
    many = small.measure([dl.Characteristics()] * 12, requests=20)
    page = many._repr_html_()
    assert page.count("<tr>") == 11
    assert "the first 10 shown" in page


def test_a_table_is_measured_by_its_rows(small: dl.Drive) -> None:
    columns = {"queue_depth": [1, 8], "read_size": "64KiB"}
    for table in (columns, pd.DataFrame(columns), pa.table(pd.DataFrame(columns))):
        found = small.measure(table, requests=100)
        assert [one.characteristics for one in found] == [
            dl.Characteristics(queue_depth=1, read_size=65536),
            dl.Characteristics(queue_depth=8, read_size=65536),
        ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda drive: drive.measure(dl.Characteristics(write_ratio=2)),
            "write_ratio is 2; allowed",
        ),
        (lambda drive: drive.measure("4k random reads"), "is not a workload; give Characteristics"),
        (lambda drive: drive.measure(7), "7 is not a workload"),
        (lambda drive: drive.measure([MIXED, 7]), "workload 1 is 7"),
        (
            lambda drive: drive.measure({"queue": [1]}),
            "no column of workloads; allowed: write_ratio",
        ),
        (lambda drive: drive.measure(MIXED, seconds=-1), "seconds is -1; allowed"),
        (
            lambda drive: drive.measure(MIXED, requests=5, max_requests=9),
            "max_requests is for half_width_ratio; give requests",
        ),
        (lambda _: dl.drive(SMALL, size="1GiB"), "size has no effect on"),
        (lambda _: dl.drive(SMALL, keep=True), "keep has no effect on"),
        (lambda _: dl.drive("./x.bin", variability=False), "variability=False has no effect on"),
        (lambda _: dl.drive("x25m"), "did you mean sim:x25m"),
        (lambda _: dl.drive("./x.bin", size="big"), "'big' is not a size"),
    ],
)
def test_a_mistake_is_one_clear_line(small: dl.Drive, call, message: str) -> None:
    with pytest.raises(dl.DrivelabError) as caught:
        call(small)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_drive_says_what_it_is(small: dl.Drive) -> None:
    assert (small.name, small.kind, small.capacity_bytes) == (SMALL, "simulated", 2**31)
    assert "2 GiB" in repr(small)
    assert "x25m with a tenth of its flash" in small._repr_html_()
    assert small.identity["preset"]["name"] == "small"


def test_variability_is_left_out_where_asked() -> None:
    with dl.drive("sim:micron-c400", variability=False) as drive:
        assert drive.opened.variability == "off"
