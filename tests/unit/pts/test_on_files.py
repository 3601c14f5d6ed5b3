"""Long tests on a real file, through fio: shortened, with every kind of their steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli import main as cli
from drivelab.pts import demand
from drivelab.pts.procedures import hir, xsr
from drivelab.pts.rounds import run_rounds

ROUNDS = 5
# A minute is 0.36 s, and the active range of 75 % still holds a request of 1 MiB.
SCALE, SIZE = "0.006", "256MiB"


@pytest.fixture(scope="module")
def file(require_tool: Callable[[str], Path], drive_folder: Path) -> Path:
    require_tool("fio")
    return drive_folder / "long.bin"


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small part of a file may never settle."""
    monkeypatch.setitem(run_rounds.__kwdefaults__, "most_rounds", ROUNDS)


def result_of(test: str, file: Path, folder: Path) -> dict[str, Any]:
    words = ("--client", "--size", SIZE, "--scale", SCALE, "--keep", "--out", str(folder))
    # 1 where steady state was never reached, which the result says too.
    assert cli.main(["pts", "run", test, str(file), *words]) in (0, 1)
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    assert result["verdict"] != "incomplete"
    assert (folder / "report.html").stat().st_size > 10_000
    return result


def test_host_idle_recovery(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = (1, 10)
    monkeypatch.setattr(hir, "WAIT_STATES", waits)
    monkeypatch.setattr(hir, "ACCESSES", 2)
    monkeypatch.setattr(hir, "BASELINE_MINUTES", 1)
    monkeypatch.setattr(hir, "_ROUND_MINUTES", 1)
    (section,) = result_of("hir", file, tmp_path / "run")["sections"]
    assert section["rounds"] == ROUNDS
    assert tuple(each["wait_ratio"] for each in section["wait_states"]) == waits
    for state in section["wait_states"]:
        assert (len(state["iops"]), len(state["baseline_iops"])) == (2, 1)
        assert state["gain_ratio"] == pytest.approx(
            state["iops_mean"] / state["baseline_iops_mean"]
        )


def test_cross_stimulus_recovery(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xsr, "SEGMENTS", tuple(replace(each, minutes=2) for each in xsr.SEGMENTS))
    result = result_of("xsr", file, tmp_path / "run")
    (section,) = result["sections"]
    assert [each["minutes"] for each in section["segments"]] == [2, 2, 2]
    assert all(min(each["bandwidth_bytes_per_second"]) > 0 for each in section["segments"])
    assert [cell["block_bytes"] for cell in section["cells"]] == [2**20, 8192, 2**20]
    assert result["verdict"] == "untested"


def test_demand_intensity(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demands = (4, 1)
    monkeypatch.setattr(demand, "DEMANDS", demands)
    monkeypatch.setattr(demand, "_MOST", demands[0])
    monkeypatch.setattr(demand, "_STEPS_A_ROUND", 1 + len(demands) ** 2)
    for name in ("WRITE_MINUTES", "POINT_WRITE_MINUTES", "POINT_MINUTES"):
        monkeypatch.setattr(demand, name, 1)
    rounds, writes = result_of("dirth", file, tmp_path / "run")["sections"]
    assert (rounds["rounds"], writes["rounds"]) == (ROUNDS, ROUNDS)
    points = [(cell["threads"], cell["queue_depth"]) for cell in rounds["cells"]]
    assert points == [(4, 4), (4, 1), (1, 4), (1, 1)]
    found = {each["name"]: each for each in rounds["operating_points"]}
    assert (found["MIN"]["threads"], found["MIN"]["queue_depth"]) == (1, 1)
    for point in found.values():
        response = point["response_times"]
        assert sum(response["latency_ns_histogram"].values()) == response["requests"] > 0
