"""What Coughlin et al. 2010 say about drives, checked on made-up ones; and one run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_study import course, peaked, study

from drivelab.pts.procedures.iops import SIZES
from drivelab.reproduce.snia2010 import (
    DISK,
    MLC,
    SLC,
    Study,
    lost_percent,
    peak_bytes,
    reproduction_of,
)
from drivelab.reproduce.snia2010_runs import Job, result_of


def failing(changed: Study) -> list[str]:
    return [statement.name for statement in reproduction_of(changed).failures]


def test_drives_as_the_paper_describes_them_hold() -> None:
    reproduction = reproduction_of(study())
    assert not reproduction.failures
    # Seventeen drives and the disk, two of figure 3; four counts and two of figure 3.
    assert (len(reproduction.claims), len(reproduction.orderings)) == (20, 6)
    first = reproduction.tables[0].records(drive="slc-a")[0]
    assert first["lost_percent"] == pytest.approx(70.0)


@pytest.mark.parametrize(
    ("lost", "holds"), [(0.44, False), (0.46, True), (0.94, True), (0.96, False)]
)
def test_a_drive_that_loses_other_shares_fails(lost: float, holds: bool) -> None:
    changed = study()
    saturation = dict(changed.saturation) | {"mlc-b": course(lost)}
    failed = failing(Study(saturation, changed.blocks, changed.contents))
    assert failed == ([] if holds else ["figure 1, mlc-b: lost by write saturation"])


def test_a_drive_that_did_not_settle_is_what_it_was_at_the_end() -> None:
    assert lost_percent(course(0.6, settled=None)) == pytest.approx(60.0)


@pytest.mark.parametrize(("late", "holds"), [(6, True), (7, False)])
def test_six_of_ten_settle_in_time(late: int, holds: bool) -> None:
    """Eleven of seventeen are 65 %, ten are 59 %."""
    changed = study()
    saturation = dict(changed.saturation)
    for place, drive in enumerate(SLC[:late]):
        saturation[drive] = course(0.7, settled=None if place % 2 else 701)
    failed = failing(Study(saturation, changed.blocks, changed.contents))
    assert (failed == []) == holds


@pytest.mark.parametrize(
    ("drive", "series", "what"),
    [
        (DISK, dict.fromkeys(SIZES, 1e-3), "behind sas-15k"),
        (DISK, dict.fromkeys(SIZES, 9000.0), "ahead of sas-15k"),
    ],
)
def test_the_disk_is_ahead_of_some_with_large_blocks_alone(
    drive: str, series: dict[int, float], what: str
) -> None:
    changed = study()
    (failed,) = failing(
        Study(changed.saturation, dict(changed.blocks) | {drive: series}, changed.contents)
    )
    assert what in failed


def test_peaks_elsewhere_fail() -> None:
    changed = study()
    blocks = dict(changed.blocks) | {drive: peaked(512) for drive in SLC}
    (failed,) = failing(Study(changed.saturation, blocks, changed.contents))
    assert "peak at 4 to 8 KiB" in failed
    contents = dict(changed.contents) | {"database": peaked(512), "random": peaked(4096, 2000.0)}
    failed_names = failing(Study(changed.saturation, changed.blocks, contents))
    assert len(failed_names) == 4
    assert peak_bytes(dict.fromkeys(SIZES, 5.0)) == 512


def test_figures_are_drawn(tmp_path: Path) -> None:
    drawings = reproduction_of(study()).drawings
    assert sorted(drawings) == ["figure_1.svg", "figure_2.svg", "figure_3.svg"]
    texts = {name: draw() for name, draw in drawings.items()}
    assert all(text == drawings[name]() for name, text in texts.items())
    assert all(drive in texts["figure_2.svg"] for drive in (*SLC, *MLC, DISK))


def test_a_run_is_kept_and_read_again(tmp_path: Path) -> None:
    job = Job("blocks", "slc-d", scale=0.002)
    first = result_of(job, tmp_path / job.name)
    (section,) = json.loads(first)["sections"]
    assert {cell["block_bytes"] for cell in section["cells"]} == set(SIZES)
    assert {cell["read_ratio"] for cell in section["cells"]} == {0.65}
    assert json.loads(first)["stamp"] == "not a PTS result"
    stored = (tmp_path / job.name / "run.sqlite").stat().st_mtime_ns
    assert result_of(job, tmp_path / job.name) == first
    assert (tmp_path / job.name / "run.sqlite").stat().st_mtime_ns == stored
