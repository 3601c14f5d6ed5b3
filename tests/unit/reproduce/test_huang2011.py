"""Huang et al. 2011: the paper's numbers as printed, and every sentence held against the sweeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from swept_drive import SMALL_OTHERS, measured

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.reproduce import huang2011
from drivelab.reproduce.huang2011_figures import figure_orderings, figure_remarks
from drivelab.workloads.characteristics import Characteristics

SMALL = Path(__file__).parents[2] / "small_drive.toml"


def latency_ns(workload: Characteristics) -> float:
    """A drive that does what the paper says: two requests at a time, slow random writes."""
    read = 60e3 + 4 * workload.read_size
    write = 80e3 + 13 * workload.write_size + 30e3 * workload.write_random
    mixed = (1 - workload.write_ratio) * read + workload.write_ratio * write
    return mixed * max(1.0, workload.queue_depth / 2)


def failing(latency) -> set[str]:
    return {one.name for one in figure_orderings(measured(latency)) if not one.holds}


def test_a_drive_as_the_paper_describes_it_holds_every_sentence() -> None:
    assert failing(latency_ns) == set()
    # Rises and falls are held by their ends and their largest step back.
    assert (
        len(figure_orderings(measured(latency_ns)))
        == 2 * 3 + 2 * (2 + 1) + 2 * (1 + 2) + 2 * 2 + 1 + 3
    )


def faster_writes(workload: Characteristics) -> float:
    return latency_ns(workload) * (1 - 0.95 * workload.write_ratio)


def no_queue(workload: Characteristics) -> float:
    return latency_ns(workload) / max(1.0, workload.queue_depth / 2)


def cliff(workload: Characteristics) -> float:
    """Writes of 256 KiB meet a full drive."""
    full = workload.write_ratio == 1 and workload.write_size == 256 * 1024
    return latency_ns(workload) * (9 if full else 1)


def even(workload: Characteristics) -> float:
    """Random writes cost nothing more."""
    return latency_ns(workload) - 30e3 * workload.write_ratio * workload.write_random * max(
        1.0, workload.queue_depth / 2
    )


def slow_strides(workload: Characteristics) -> float:
    return latency_ns(workload) * (1.2 if workload.read_stride else 1)


@pytest.mark.parametrize(
    ("latency", "told"),
    [
        (
            faster_writes,
            {
                "figure 3: latency over the write ratio, end to end",
                "figure 3: bandwidth, falling, end to end",
                "figure 5: latency of 256 KiB reads below that of writes",
            },
        ),
        (
            no_queue,
            {
                "figure 4: latency of reads over the queue depth, end to end",
                "figure 4: change of the bandwidth of writes from queue depth 16 to 64",
            },
        ),
        (
            cliff,
            {
                "figure 5: share of the variance of write latency that a line over the write "
                "size leaves"
            },
        ),
        (
            even,
            {
                "figure 6: mean latency of sequential writes below that of random ones",
                "figure 7: mean throughput of random writes below that of sequential ones",
            },
        ),
        (slow_strides, {"figure 6: median difference of strided from random reads"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_another_drive_fails_what_is_said_of_it(latency, told: set[str]) -> None:
    assert told <= failing(latency)


def test_strided_writes_are_told_with_their_numbers() -> None:
    def stuck(workload: Characteristics) -> float:
        return latency_ns(workload) * (7 if workload.write_stride else 1)

    assert "7.00 times as long at the median" in figure_remarks(measured(stuck))[0]
    assert "1.00 times as long at the median" in figure_remarks(measured(latency_ns))[0]


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    folder = tmp_path_factory.mktemp("huang")
    return huang2011.reproduce(
        folder,
        drive=f"sim:{SMALL}",
        design="huang2011:100",
        check=20,
        plan=MeasurementPlan(requests=200),
        **SMALL_OTHERS,
    )


def test_tables_2_and_3_hold_the_printed_numbers(reproduction) -> None:
    basic, extended = reproduction.tables
    assert [basic.name, extended.name] == ["table_2", "table_3"]
    # Section IV.B, the rows of SSD_I: R2, MAE (mean), MRE of latency, bandwidth, throughput.
    printed = [
        [
            (row["published_r2"], row["published_mae"], row["published_mre_percent"])
            for row in table.records()
        ]
        for table in (basic, extended)
    ]
    assert printed == [
        [(0.627, 6.9, 63.0), (0.515, 21.87, 40.0), (0.5, 1547.0, 53.0)],
        [(0.986, 1.42, 12.0), (0.981, 3.91, 6.0), (0.97, 254.0, 6.0)],
    ]
    assert basic.column("published_mean") == extended.column("published_mean")
    for table in (basic, extended):
        assert basic.column("mean") == table.column("mean")
        for row in table.records():
            assert 0 < row["in_sample_mre_percent"] < row["cross_validated_mre_percent"]
            # Off the grid a model errs, but not wildly.
            assert 1 < row["off_grid_mre_percent"] < 100


def test_extended_is_held_against_basic_in_every_cell(reproduction) -> None:
    cells = [
        one for one in reproduction.orderings if "of extended" in one.name or "of basic" in one.name
    ]
    # Three performances, three statistics, in sample and cross-validated.
    assert len({one.name for one in cells}) == 3 * 3 * 2
    basic, extended = reproduction.tables
    (mre,) = (
        one for one in cells if one.name == "Bandwidth, in sample: MRE of extended below basic"
    )
    assert mre.smaller == extended.column("in_sample_mre_percent")[1]
    assert mre.larger == basic.column("in_sample_mre_percent")[1]
    (r2,) = (
        one for one in cells if one.name == "Mean latency, in sample: R2 of basic below extended"
    )
    assert (r2.smaller, r2.larger) == (
        basic.column("in_sample_r2")[0],
        extended.column("in_sample_r2")[0],
    )


def test_what_was_measured_is_kept_in_the_folder(tmp_path: Path, monkeypatch) -> None:
    words = {
        "drive": f"sim:{SMALL}",
        "design": "huang2011:40",
        "check": 0,
        "plan": MeasurementPlan(requests=50),
        **SMALL_OTHERS,
    }
    first = huang2011.reproduce(tmp_path, **words)
    asked: list[int] = []

    def nothing(_drive, work, _plan):
        asked.extend(index for index, _ in work)
        return iter(())

    monkeypatch.setattr(SimulatedDrive, "measure", nothing)
    assert huang2011.reproduce(tmp_path, **words) == first
    assert asked == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "array_i",
        "hdd_s",
        "run",
        "ssd_a",
        "ssd_s",
    ]
    assert first.tables[0].column("off_grid_mre_percent") == [None, None, None]
