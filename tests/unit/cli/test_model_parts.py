"""`drivelab model`: the parts of a run, from the options to the fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_drive import FakeDrive, workloads

from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.finished import finished_run
from drivelab.cli import main as cli
from drivelab.drives.plan import MeasurementPlan
from drivelab.models.model import PerformanceModel
from drivelab.store import RunStore
from drivelab.workloads.parts import Parts

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

SMALL = Path(__file__).parents[2] / "small_drive.toml"
WORDS = ["model", f"sim:{SMALL}", "--requests", "30", "--warmup-requests", "10", "--json"]


def test_a_run_is_its_design_and_a_check_and_the_sweeps(tmp_path: Path, capsys) -> None:
    words = [*WORDS, "--design", "sobol:15", "--check", "4", "--out", str(tmp_path / "run")]
    assert cli.main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    parts = {"training": 12, "calibration": 3, "check": 4, "sweeps": 75, "chosen": 0, "probes": 0}
    parts |= {"fills": 0}
    assert answer["parts"] == parts
    assert answer["workloads"] == answer["distinct_workloads"] == 94
    assert "queue depth 1 to 64 and sizes 1 to 256 KiB" in answer["population"]
    with RunStore.open(tmp_path / "run") as store:
        stored = store.header["design"]["parts"]
    assert Parts.from_json(stored).counts == parts
    evaluation = PerformanceModel.load(tmp_path / "run" / "model.json").evaluation
    assert evaluation.indices.tolist() == list(range(15))


def test_another_check_or_no_sweeps_is_another_campaign(tmp_path: Path, capsys) -> None:
    words = [*WORDS, "--design", "huang2011:12", "--out", str(tmp_path / "run")]
    assert cli.main([*words, "--check", "2", "--no-sweeps"]) == 0
    capsys.readouterr()
    assert cli.main([*words, "--check", "3", "--no-sweeps"]) == 2
    assert "design check: 2 before, 3 now" in capsys.readouterr().err
    assert cli.main([*words, "--check", "2"]) == 2
    # Some sweeps are in the design's sample.
    assert "design sweeps: 0 before, 7" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ({"check": 5, "sweeps": True, "population": "forty"}, True),
        ({"check": 5, "sweeps": True, "population": "fifty"}, False),
        ({"check": 5, "sweeps": True}, True),
        ({"check": 4, "sweeps": True}, False),
        ({"check": 5, "sweeps": False}, False),
    ],
)
def test_a_finished_run_on_a_removed_file_has_the_parts_asked_for(
    tmp_path: Path, asked, known: bool
) -> None:
    name = str(tmp_path / "bench.bin")
    drive = FakeDrive("real", identity={"path": name})
    drive.name = name
    plan = MeasurementPlan(requests=10)
    run_campaign(
        drive,
        workloads(40),
        plan,
        tmp_path / "run",
        design_name="huang2011:30",
        parts=Parts(25, 5, 5, 5),
        population="forty; of these, what this drive can run",
        progress=False,
    ).close()
    store = finished_run(tmp_path / "run", name, plan, design_name="huang2011:30", **asked)
    assert (store is not None) == known
    if store is not None:
        store.close()


def test_a_drive_checks_its_models_by_its_kind(capsys) -> None:
    """On a simulated drive a thousand by default; on a real one they would cost an hour."""
    from argparse import ArgumentParser

    from drivelab.cli.design_options import add_design_options, check_of

    parser = ArgumentParser()
    parser.add_argument("drive")
    add_design_options(parser)
    for drive, words, expected in (
        ("sim:x25m", [], 1000),
        ("analytic:x25m-yoo2014", [], 1000),
        ("./file.bin", [], 0),
        ("./file.bin", ["--check", "7"], 7),
    ):
        assert check_of(parser.parse_args([drive, *words])) == expected
