"""From a run folder, with a real store and real models, to the report next to them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from made_run import header, measurement, workloads

from drivelab.errors import UsageError
from drivelab.models.model import PerformanceModel
from drivelab.pages.run import build_report
from drivelab.store import RunStore

pytestmark = pytest.mark.usefixtures("models_in_outline")

COUNT = 24


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "run"
    measurements = [measurement(place, one) for place, one in enumerate(workloads(COUNT))]
    described = header()
    described["design"]["workloads"] = COUNT
    with RunStore.open_to_append(path, described) as store:
        for one in measurements:
            store.append(one.to_json(), one.index)
    PerformanceModel.fit(measurements).save(path / "model.json")
    return path


def test_a_run_becomes_the_same_report_each_time(modelled: Path) -> None:
    page = build_report(modelled)
    first = page.read_bytes()
    assert page == modelled / "report.html"
    saved = {path.name: path.read_bytes() for path in (modelled / "data").iterdir()}
    assert sorted(saved) == [
        "accuracy.csv",
        "effects.csv",
        "every-workload.csv",
        "importance.csv",
        "index.txt",
        "latency_percentiles.csv",
        "limits.csv",
        "predictions.csv",
        "tree.csv",
        "tree.txt",
        "workloads.csv",
    ]
    assert build_report(modelled).read_bytes() == first
    assert {path.name: path.read_bytes() for path in (modelled / "data").iterdir()} == saved
    assert b"under 24 workloads" in first


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run"):
        build_report(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_models_says_how_to_get_them(modelled: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(modelled, run)
    (run / "model.json").unlink()
    with pytest.raises(UsageError, match=r"no model\.json yet: run the `drivelab model`"):
        build_report(run)


def test_models_of_other_measurements_are_refused(modelled: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(modelled, run)
    others = [measurement(place, one) for place, one in enumerate(workloads(COUNT - 1))]
    PerformanceModel.fit(others).save(run / "model.json")
    with pytest.raises(UsageError, match="fitted to other measurements"):
        build_report(run)
