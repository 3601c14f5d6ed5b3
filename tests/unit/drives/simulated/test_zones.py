"""A drive with zones measures what it takes, and refuses what it would only partly count."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab.cli.main import main
from drivelab.drives.naming import open_simulated
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import UsageError
from drivelab.live.haste import check_haste
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.whole_pass import WholePass
from drivelab.workloads.workload import Workload

EXAMPLES = Path(__file__).parents[4] / "examples"
ZONED = f"sim:{EXAMPLES / 'zones.toml'}"
LOGS = EXAMPLES / "zoned-logs.toml"


@pytest.fixture(scope="module")
def drive() -> SimulatedDrive:
    return open_simulated(ZONED)


def measured(drive: SimulatedDrive, workload: Workload) -> float:
    plan = MeasurementPlan.of_kind("simulated", seed=1, requests=300)
    (found,) = drive.measure([(0, workload)], plan)
    return found.iops


@pytest.mark.parametrize(
    "workload",
    [
        Characteristics(write_ratio=0.5, queue_depth=4),
        WholePass("write", is_random=False, request_bytes=65_536, file_bytes=2**20),
    ],
)
def test_writes_anywhere_are_refused(drive: SimulatedDrive, workload: Workload) -> None:
    with pytest.raises(UsageError, match="writes anywhere, so its writes would be refused"):
        measured(drive, workload)


def test_reads_and_streams_with_zones_are_measured(drive: SimulatedDrive) -> None:
    assert measured(drive, Characteristics(write_ratio=0.0, queue_depth=4)) > 1_000
    assert measured(drive, Scenario(LOGS.read_text())) > 1_000


@pytest.mark.parametrize(
    "words",
    [
        ["measure", ZONED, "--write-ratio", "0.5"],
        ["choose", "file-server", "--drives", f"{ZONED},sim:x25m"],
        ["model", ZONED, "--measurements", "40", "--out", "out"],
        ["profile", ZONED, "--file-size", "512MiB", "--out", "out"],
        ["pts", "run", "iops", ZONED, "--out", "out"],
        ["serve", ZONED, "--socket", "s"],
    ],
)
def test_commands_end_in_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "has zones" in last
    assert "docs/zones.md" in last


def test_a_drive_whose_writes_take_no_time_is_not_served_with_times() -> None:
    with (
        open_simulated(f"sim:{EXAMPLES / 'placement.toml'}") as drive,
        pytest.raises(UsageError, match=r"answers a write in 0 ns, which no --dilate"),
    ):
        check_haste(drive, 1000.0)
