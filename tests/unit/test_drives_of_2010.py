"""The presets for the studies of Coughlin et al. 2010: each distinct, each of its class."""

from __future__ import annotations

from typing import Any

import pytest

from drivelab._core import preset_names, preset_text
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets import read_preset
from drivelab.drives.simulated import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

SLC = [name for name in preset_names() if name.startswith("slc-")]
MLC = [name for name in preset_names() if name.startswith("mlc-")]


def resolved(name: str) -> dict[str, Any]:
    return read_preset(name).resolved()[0]


def test_they_are_as_many_as_in_the_paper() -> None:
    # Figure 2: nine of single-level cells, eight of multi-level ones.
    assert (len(SLC), len(MLC)) == (9, 8)


@pytest.mark.parametrize("name", SLC + MLC)
def test_each_is_a_drive_of_its_time_and_fitted_to_nothing(name: str) -> None:
    drive = resolved(name)
    geometry, text = drive["geometry"], preset_text(name)
    assert geometry["user_capacity_bytes"] <= 128 * 10**9
    assert geometry["page_size_bytes"] in (2048, 4096, 8192)
    flash = geometry["page_size_bytes"] * geometry["pages_per_block"]
    for factor in ("channels", "ways_per_channel", "dies_per_way", "planes_per_die"):
        flash *= geometry[factor]
    flash *= geometry["blocks_per_plane"]
    assert 0.07 <= flash / geometry["user_capacity_bytes"] - 1 <= 0.5
    assert drive["host"]["interface"] in ("sata", "sas")
    is_single = name.startswith("slc-")
    assert (drive["timing"]["program_cell_ns"] < 500_000) == is_single
    assert "# fitted" not in text
    assert "[published." not in text
    # Why there is another one stands in its first lines.
    words = text.replace("\n#", "")
    assert "Distinct by" in words or name in ("slc-a", "mlc-a")


def test_no_two_are_alike() -> None:
    hashes = [read_preset(name).resolved()[1] for name in SLC + MLC]
    assert len(set(hashes)) == len(hashes)
    schemes = {resolved(name).get("mapping", {}).get("scheme", "page") for name in SLC + MLC}
    assert schemes == {"page", "demand_cached_page", "block", "bast", "fast"}
    assert [name for name in SLC + MLC if "compression" in resolved(name)] == ["mlc-c"]


def test_the_disk_serves_what_a_15000_rpm_disk_can() -> None:
    """One random access: a third of the stroke, half a turn, little else."""
    plan = MeasurementPlan(warmup_requests=100, requests=2000)
    with SimulatedDrive.open("sim:sas-15k") as drive:
        (read,) = drive.measure([(0, Characteristics())], plan)
        (deep,) = drive.measure([(0, Characteristics(queue_depth=32))], plan)
    # 3.5 ms, 2 ms, and 0.07 ms of command, transfer and link.
    assert read.latency_ns_mean == pytest.approx(5.57e6, rel=0.03)
    assert deep.requests / deep.duration_ns > 2 * read.requests / read.duration_ns


def test_data_decides_how_fast_the_drive_of_figure_3_is() -> None:
    rates = {}
    workload = Characteristics(write_ratio=1.0, queue_depth=32)
    with SimulatedDrive.open("sim:mlc-c") as drive:
        for content in ("zero", "database", "random"):
            plan = MeasurementPlan(warmup_requests=20_000, requests=20_000, content=content)
            (told,) = drive.measure([(0, workload)], plan)
            rates[content] = told.requests / told.duration_ns
    assert rates["zero"] > rates["database"] > 1.5 * rates["random"]
