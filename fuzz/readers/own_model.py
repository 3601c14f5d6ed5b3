"""Models of your own measurements: an accepted model answers, and is written as it was read."""

from __future__ import annotations

from functools import cache

import numpy as np

from drivelab.models.own.model import Asked, OwnModel, fit_table
from drivelab.models.own.model_file import load, to_bytes
from drivelab.models.own.reading import read_files
from fuzz.reader import Reader, file_of, read_sealed, scratch


def _check(data: bytes) -> None:
    model = read_sealed("own.json", data, load)
    again = scratch() / "own-again.json"
    again.write_bytes(to_bytes(model))
    other = load(again)
    assert to_bytes(other) == again.read_bytes()
    table = np.array([[1.0] * len(model.columns), [0.0] * len(model.columns)])
    with np.errstate(all="ignore"):
        for name, target in model.targets.items():
            for estimator in target.predictors:
                said = target.predict(table, estimator)
                np.testing.assert_array_equal(said, other.targets[name].predict(table, estimator))
                ends = target.interval(said, 0.8, estimator)
                assert np.isfinite(ends[~np.isnan(ends)]).all()
    model.outside(table[0])


@cache
def _fitted() -> OwnModel:
    rows = "".join(f"{one},{'ab'[one % 2]},{1 + one % 5}\n" for one in range(12))
    path = file_of("seed.csv", f"depth,engine,p99_ms\n{rows}".encode())
    return fit_table(read_files([path]), (), Asked()).model


def _seeds() -> list[bytes]:
    sealed = to_bytes(_fitted())
    # As it is before it has its sum; changed, it is given one that fits.
    return [sealed.rpartition(b",\n")[0] + b"}", sealed]


READER = Reader(
    "own_model",
    ("drivelab.models.own.model_file", "drivelab.checked_json"),
    _check,
    _seeds,
)
