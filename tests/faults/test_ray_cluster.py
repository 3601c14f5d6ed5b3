"""A Ray cluster of three nodes on this machine; actors and a node are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from brief_models import PROGRAM

SMALL = f"sim:{Path(__file__).parents[1] / 'small_drive.toml'}"
MODEL = ("model", SMALL, "--design", "huang2011:60", "--check", "0", "--no-sweeps")
LONG = ("--requests", "20000")
COMMAND = [sys.executable, "-c", PROGRAM]
# Ray's nodes belong to a process of their own: its warnings and threads are not the tests'.
CLUSTER = """
import os, sys
# A busy machine takes longer than the half a minute that Ray waits.
os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
print(cluster.address, flush=True)
for line in sys.stdin:
    cluster.remove_node(nodes.pop(), allow_graceful=False)
    print("removed", flush=True)
cluster.shutdown()
"""

pytestmark = pytest.mark.faults


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    # Not imported here: what it warns of is not ours.
    if find_spec("ray") is None:
        pytest.skip("needs Ray: make test-faults installs it")
    monkeypatch.chdir(tmp_path)
    pipe = subprocess.PIPE
    with (
        Path("cluster.log").open("w+") as log,
        subprocess.Popen(
            [sys.executable, "-c", CLUSTER], stdin=pipe, stdout=pipe, stderr=log, text=True
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.count(":") == 1, Path("cluster.log").read_text()
        monkeypatch.setenv("RAY_ADDRESS", address)
        yield process
        process.stdin.close()
        process.wait(60)


def actors(text: str = "ray::_Worker") -> list[int]:
    """Give the processes of actors."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes()
        except OSError:
            continue
        if words.startswith(text.encode()):
            found.append(int(each.parent.name))
    return found


def measurements(run: str) -> bytes:
    return Path(run, "measurements.csv").read_bytes()


def test_a_cluster_measures_as_one_machine_does(cluster: Any) -> None:
    drawn = random.Random(3)
    words = [*COMMAND, *MODEL, *LONG]
    on_ray = [*words, "--out", "ray", "--executor", "ray"]
    with Path("said").open("w") as said, subprocess.Popen(on_ray, stdout=said) as process:
        killed, is_whole = 0, True
        while killed < 3 and process.poll() is None:
            time.sleep(drawn.uniform(0.2, 0.6))
            alive = actors()
            if alive:
                os.kill(drawn.choice(alive), signal.SIGKILL)
                killed += 1
            if killed == 2 and is_whole:
                is_whole = False
                print("remove", file=cluster.stdin, flush=True)
                assert cluster.stdout.readline() == "removed\n"
        assert process.wait(300) == 0
    assert killed == 3
    # What Ray has to say of a node that ended is not part of the result.
    assert "raylet" not in Path("said").read_text()
    assert not actors()
    assert subprocess.run([*words, "--out", "alone"], check=True).returncode == 0
    assert measurements("ray") == measurements("alone")
    # So is a search for the best drive.
    choose = ["choose", "--drives", f"{SMALL},analytic:x25m-yoo2014", "--json"]
    choose += ["--repetitions", "2", "--requests", "2000"]
    answers = [
        subprocess.run([*COMMAND, *choose, *more], check=True, capture_output=True).stdout
        for more in ([], ["--executor", "ray"])
    ]
    assert answers[0] == answers[1]
