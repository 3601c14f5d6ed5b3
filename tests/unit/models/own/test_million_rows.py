"""A table of a million rows is answered by trees, and kriging says that it takes fewer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from drivelab.models.own.model import Asked, fit_table
from drivelab.models.own.reading import read_files


@pytest.mark.long
def test_a_million_rows_are_answered_by_trees(tmp_path: Path) -> None:
    count = 1_000_000
    rng = np.random.default_rng(0)
    depth, kib = 2 ** rng.integers(0, 7, count), 2 ** rng.integers(2, 9, count)
    share = rng.integers(0, 101, count) / 100
    latency_us = (80 + 2 * kib * (1 + share)) * depth**0.3 * np.exp(rng.normal(0, 0.05, count))
    path = tmp_path / "rows.csv"
    with path.open("w") as file:
        file.write("depth,size_kib,share,latency_us\n")
        np.savetxt(file, np.column_stack([depth, kib, share, latency_us]), "%g", ",")
    found = fit_table(read_files([path]), (), Asked())
    model = found.model.targets["latency_us"]
    assert model.rows == count
    assert set(model.cross_validated) == {"ols", "cart", "boosted"}
    # Noise of 5 % has a mean of 4 %, and nothing can be better than that.
    assert 0.035 < model.cross_validated["boosted"].mre < 0.05
    assert [line.partition(" rows,")[0] for line in found.remarks] == [
        "linear-leaf tree takes at most 50,000",
        "kriging takes at most 5,000",
    ]
