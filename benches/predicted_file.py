"""A file of a million workloads: `drivelab predict --file` compared with the usual way.

The usual way reads the file with the csv module and asks LightGBM for one metric without an
interval. Most of its time is reading, the part that takes us least. Ours predicts three metrics
with their intervals, marks workloads outside what was measured, and writes everything. A model that
was trained on a grid is asked twice, because mixes between the trained write ratios are mixed.

    .venv/bin/python benches/predicted_file.py
"""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lightgbm
import numpy as np

from drivelab.models.features import FEATURE_SETS, FloatArray, workload_table
from drivelab.models.model import PerformanceModel
from drivelab.workloads.characteristics import FIELDS
from drivelab.workloads.parts import Parts

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from synthetic_drive import characteristics, grid_workloads, measurements, spread_workloads

ROWS = 1_000_000
TRAINED = Parts(training=1600, calibration=400)


def write_workloads(path: Path) -> None:
    """Write 20,000 workloads again and again; answers are not cached."""
    rows = [characteristics(row).as_tuple() for row in spread_workloads(20_000, 7)]
    lines = "".join(",".join(map(str, row)) + "\n" for row in rows)
    path.write_text(",".join(FIELDS) + "\n" + lines * (ROWS // len(rows)))


def usual_way(path: Path, trained: FloatArray) -> None:
    table = workload_table([characteristics(row) for row in trained])
    features = FEATURE_SETS["extended"]
    targets = table[:, 1]
    model = lightgbm.LGBMRegressor(n_estimators=150, num_leaves=8, verbosity=-1)
    booster = model.fit(features.project(table), targets).booster_
    start = time.perf_counter()
    with path.open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        read = workload_table(np.array([[float(cell) for cell in row] for row in rows]))
    middle = time.perf_counter()
    booster.predict(features.project(read))
    end = time.perf_counter()
    print(f"the usual way: read {middle - start:.1f} s, one metric {end - middle:.1f} s")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "asked.csv"
        write_workloads(asked)
        for name, draw in (("spread", spread_workloads), ("grid", grid_workloads)):
            trained = draw(TRAINED.total, 0)
            path = Path(folder) / f"{name}.json"
            measured = measurements(trained, noise=0.02)
            PerformanceModel.fit(measured, parts=TRAINED).save(path)
            command = [str(Path(sys.executable).with_name("drivelab")), "predict", str(path)]
            start = time.perf_counter()
            subprocess.run(
                [*command, "--file", str(asked), "--out", str(Path(folder) / "out.csv")], check=True
            )
            print(f"drivelab, trained on a {name}: {time.perf_counter() - start:.1f} s")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"most memory of these: {peak:.0f} MiB")
        usual_way(asked, spread_workloads(TRAINED.training, 0))


if __name__ == "__main__":
    main()
