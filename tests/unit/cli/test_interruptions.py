"""The main job stopped by Ctrl-C, by a kill or by a full disk: measurements are kept."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from drivelab.campaign.campaign import accepted_by, run_campaign
from drivelab.drives.asked import plan_for
from drivelab.drives.naming import open_drive
from drivelab.errors import RunError, UsageError
from drivelab.store import RunStore
from drivelab.workloads.design import parse_design

pytestmark = pytest.mark.usefixtures("models_in_outline", "without_drawings")

DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
WORKLOADS = 48
# Long enough that a signal sent after the first results never comes too late.
REQUESTS = "3000"
DESIGN = f"huang2011:{WORKLOADS}"
COMMAND = (sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())")


def main_job(path: Path, design: str) -> list[str]:
    words = (
        *("model", DRIVE, "--design", design, "--requests", REQUESTS, "--out", str(path)),
        *("--check", "0", "--no-sweeps"),
    )
    return [*COMMAND, *words]


def stored(path: Path) -> int:
    try:
        with RunStore.open(path) as store:
            return len(store.done())
    except (UsageError, RunError):  # not created yet
        return 0


def started(path: Path, design: str = DESIGN, **settings: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        main_job(path, design),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )


def wait_for_more(path: Path, process: subprocess.Popen[str]) -> int:
    """Wait until the campaign has stored something new; give how many it had before."""
    before = stored(path)
    deadline = time.monotonic() + 120
    while stored(path) == before and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return before


def finish(path: Path, design: str = DESIGN) -> bytes:
    """Go on as the command does, without the models and the report; give the export."""
    with open_drive(DRIVE) as drive:
        selection = parse_design(design).select(0, accepted_by(drive))
        plan = plan_for(DRIVE, seed=0, asked={"requests": int(REQUESTS), "writes": "sustained"})
        run_campaign(
            drive,
            selection.workloads,
            plan,
            path,
            design_name=design,
            parts=selection.parts,
            population=selection.population,
            progress=False,
        ).close()
    assert stored(path) == len(selection.workloads)
    return (path / "measurements.csv").read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> bytes:
    return finish(tmp_path_factory.mktemp("undisturbed") / "run")


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "resume with: drivelab model"),
        (signal.SIGTERM, 143, "resume with: drivelab model"),
        (signal.SIGHUP, 129, "resume with: drivelab model"),
    ],
)
def test_stopped_campaign_goes_on(tmp_path: Path, undisturbed, number, code, said) -> None:
    with started(tmp_path / "run") as process:
        wait_for_more(tmp_path / "run", process)
        process.send_signal(number)
        output, complaint = process.communicate()
    assert (process.returncode, output) == (code, "")
    last = complaint.splitlines()[-1]
    assert last.startswith("drivelab: ")
    assert said in last
    assert f"of {WORKLOADS} measurements are saved in {tmp_path / 'run'}" in last
    assert "Traceback" not in complaint
    assert 0 < stored(tmp_path / "run") < WORKLOADS
    assert finish(tmp_path / "run") == undisturbed


# Every run stores a batch before it is killed, so the larger number of kills needs more workloads.
@pytest.mark.parametrize(
    ("kills", "workloads"), [(3, WORKLOADS), pytest.param(20, 480, marks=pytest.mark.faults)]
)
def test_killed_campaign_goes_on(tmp_path: Path, kills: int, workloads: int) -> None:
    design = f"huang2011:{workloads}"
    moments = random.Random(kills)
    interrupted = 0
    for _ in range(kills):
        with started(tmp_path / "run", design) as process:
            before = wait_for_more(tmp_path / "run", process)
            time.sleep(moments.uniform(0.0, 0.02))
            process.kill()
        assert stored(tmp_path / "run") >= before
        interrupted += stored(tmp_path / "run") < workloads
    # A machine that stops for a moment may let some kills come too late, into the fit.
    assert interrupted > kills // 4
    assert finish(tmp_path / "run", design) == finish(tmp_path / "undisturbed", design)


def limited_files() -> None:
    # The kernel fails writes beyond this size as a full disk does.
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))


def test_full_disk_is_one_line_and_the_campaign_goes_on(tmp_path: Path, undisturbed) -> None:
    with started(tmp_path / "run", preexec_fn=limited_files) as process:
        output, complaint = process.communicate()
    assert (process.returncode, output) == (1, "")
    assert complaint.startswith("drivelab: no space left for")
    assert complaint.count("\n") == 1
    assert "free some space" in complaint
    assert f"of {WORKLOADS} measurements are saved in" in complaint
    assert 0 < stored(tmp_path / "run") < WORKLOADS
    assert finish(tmp_path / "run") == undisturbed


def test_second_process_is_refused_while_one_measures(tmp_path: Path) -> None:
    with RunStore.open_to_append(tmp_path / "run", {}), started(tmp_path / "run") as second:
        output, complaint = second.communicate()
    assert (second.returncode, output) == (1, "")
    assert complaint.startswith("drivelab: another process is measuring into")
    assert complaint.count("\n") == 1
