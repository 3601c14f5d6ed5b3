"""Tables that Drivelab exported itself: their targets are known, and their results no features."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_run import measurement

from drivelab.campaign.kind import campaign_rows
from drivelab.errors import UsageError
from drivelab.models.measured import METRICS
from drivelab.models.own.model import ALL, Asked, fit_table
from drivelab.models.own.reading import read_files
from drivelab.runs.columns import exported_results
from drivelab.runs.export import measurements_csv
from drivelab.workloads.characteristics import FIELDS, Characteristics

pytestmark = pytest.mark.usefixtures("models_in_outline")

DRIVE = {"name": "sim:x25m", "kind": "simulated"}


def exported(path: Path) -> Path:
    asked = [
        Characteristics(write_ratio=place % 3 / 2, queue_depth=1 + place, read_size=4096)
        for place in range(24)
    ]
    measured = [measurement(place, each) for place, each in enumerate(asked)]
    path.write_text(measurements_csv(campaign_rows(measured), DRIVE))
    return path


def test_the_usual_targets_need_no_name(tmp_path: Path) -> None:
    found = fit_table(read_files([exported(tmp_path / "a.csv")]), (), Asked())
    assert list(found.model.targets) == list(METRICS)
    assert [column.name for column in found.model.columns] == list(FIELDS)


def test_models_see_no_result_even_if_they_see_all(tmp_path: Path) -> None:
    table = read_files([exported(tmp_path / "a.csv"), exported(tmp_path / "b.csv")])
    found = fit_table(table, (), Asked(targets=("iops",), features=(ALL,)))
    seen = {column.name for column in found.model.columns}
    assert seen - set(FIELDS) == {"drive", "drive_kind", "index"}
    (said,) = [one for one in found.remarks if "Drivelab's own export" in one]
    assert "duration_ns, requests, stopped_by" in said


def test_a_result_cannot_group_rows(tmp_path: Path) -> None:
    table = read_files([exported(tmp_path / "a.csv")])
    with pytest.raises(UsageError, match="requests is a result of Drivelab's own export"):
        fit_table(table, (), Asked(group="requests"))


def test_an_appended_column_is_the_users_own(tmp_path: Path) -> None:
    path = exported(tmp_path / "a.csv")
    lines = path.read_text().splitlines()
    racks = ["rack", *(str(place % 6) for place in range(len(lines) - 1))]
    lines = [f"{line},{rack}" for line, rack in zip(lines, racks, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    table = read_files([path])
    found = fit_table(table, (), Asked(group="rack"))
    assert list(found.model.targets) == list(METRICS)
    found = fit_table(table, (), Asked(targets=("iops",), features=(ALL,)))
    assert "rack" in {column.name for column in found.model.columns}


def test_other_tables_are_asked_about_as_before(tmp_path: Path) -> None:
    path = exported(tmp_path / "a.csv")
    path.write_text(path.read_text().replace("drive_kind", "kind", 1))
    with pytest.raises(UsageError, match="columns look like results; name those to model with"):
        fit_table(read_files([path]), (), Asked())
    # One of them in an export's company is enough.
    other = exported(tmp_path / "b.csv")
    with pytest.raises(UsageError, match="columns look like results; name those to model with"):
        fit_table(read_files([other, path]), (), Asked())


def test_what_an_export_is() -> None:
    head = ["drive", "drive_kind", "index", "part"]
    window = ["duration_ns", "requests", "stopped_by"]
    results = [*window, "bandwidth_bytes_per_second", "iops", "block_erases"]
    assert exported_results([*head, *results]) == tuple(results)
    assert exported_results([*head, *results[:4]]) == ()
    assert exported_results([*head[1:], *results]) == ()
    assert exported_results([*head, "duration_ns", "iops", *results[1:4]]) == ()
    assert exported_results([]) == ()
