"""`drivelab fit` of sustained writes: spare blocks are found, and arrays are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab.campaign.campaign import run_campaign
from drivelab.cli import main as cli
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.workloads.design import parse_design

BLOCKS = "geometry.blocks_per_plane"
PROGRAM = "timing.program_cell_ns"
# 96 MiB of a flash of 128 MiB: settled in a moment. A quarter of the spare blocks is kept free.
SMALL = """
base = "x25m"
name = "{name}"
summary = "a very small x25m"

[geometry]
channels = 2
ways_per_channel = 2
planes_per_die = 1
blocks_per_plane = {blocks}         # assumed: small
pages_per_block = 16
user_capacity_bytes = 100_663_296   # assumed: small

[timing]
program_cell_ns = {program}         # assumed: slow

[collection]
reserve_blocks_per_plane = 4        # assumed: few
"""


def write_preset(folder: Path, name: str, blocks: int, program: int) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(SMALL.format(name=name, blocks=blocks, program=program))
    return path


def measured(folder: Path, drive: str, workloads: int, requests: int) -> Path:
    plan = MeasurementPlan.of_kind(
        "simulated", seed=3, requests=requests, warmup_requests=requests // 2, writes="sustained"
    )
    with open_drive(drive) as opened:
        chosen = parse_design(f"sobol:{workloads}").select(1, block_bytes=512).workloads
        run_campaign(
            opened, chosen, plan, folder / "run", design_name="sobol", progress=False
        ).close()
    return folder / "run"


@pytest.mark.long
def test_spare_blocks_and_times_are_found(tmp_path: Path) -> None:
    write_preset(tmp_path, "small", 512, 1_150_000)
    hidden = write_preset(tmp_path, "hidden", 440, 1_600_000)
    run = measured(tmp_path, f"sim:{hidden}", 40, 3000)
    command = ["fit", str(run), "--base", str(tmp_path / "small.toml"), "--generations", "0"]
    command += ["-o", str(tmp_path / "mine.toml"), "--fit", f"{BLOCKS},{PROGRAM}"]
    assert cli.main([*command, "--out", str(tmp_path / "page")]) == 0
    answer = json.loads((tmp_path / "page" / "result.json").read_text())
    found = {one["name"]: one for one in answer["values"]}
    # 384 hold the user's data, and 6 are never spare.
    spare = (found[BLOCKS]["value"] - 390) / (440 - 390)
    assert found[BLOCKS]["is_told"]
    assert spare == pytest.approx(1, abs=0.1)
    assert found[PROGRAM]["value"] == pytest.approx(1_600_000, rel=0.05)
    # With twice as many spare blocks, less than half as much is written besides the host's data.
    assert answer["base_error"]["latency_mean_ratio"] > 0.1
    assert answer["error"]["latency_mean_ratio"] < 0.05


def test_an_array_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_preset(tmp_path, "small", 512, 1_150_000)
    array = tmp_path / "two.toml"
    array.write_text('base = "array-x25m"\nname = "two"\nmember = "small"\n')
    run = measured(tmp_path, f"sim:{array}", 4, 50)
    for bases in (["--base", "x25m"], []):
        assert cli.main(["fit", str(run), *bases, "-o", str(tmp_path / "mine.toml")]) == 2
        error_text = capsys.readouterr().err
        assert f"measured an array, sim:{array}" in error_text
        assert "fit a run of one member" in error_text
        assert error_text.count("\n") == 1
    assert not (tmp_path / "mine.toml").exists()
