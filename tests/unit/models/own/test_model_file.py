"""The file of a model: read as it was written, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_table import own_rows, written

from drivelab.errors import DamagedError, DrivelabError, UsageError
from drivelab.models.own.model import Asked, OwnModel, fit_table
from drivelab.models.own.model_file import is_own, load, to_bytes
from drivelab.models.own.reading import read_files
from drivelab.sealed_json import sealed_json

pytestmark = pytest.mark.usefixtures("models_in_outline")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> OwnModel:
    path = written(tmp_path_factory.mktemp("own") / "rows.csv", own_rows(40))
    return fit_table(read_files([path]), (), Asked(targets=("latency_us",))).model


def test_it_answers_as_before(model: OwnModel, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(to_bytes(model))
    again = load(tmp_path)
    assert is_own(tmp_path)
    assert is_own(path)
    assert to_bytes(again) == to_bytes(model)
    row = model.settings({"depth": "8", "block_size_kib": "16", "engine": "psync"})
    for estimator in model.targets["latency_us"].predictors:
        one, other = (each.targets["latency_us"].predict(row, estimator) for each in (model, again))
        np.testing.assert_array_equal(one, other)
    assert again.targets["latency_us"].best == model.targets["latency_us"].best
    assert again.targets["latency_us"].half_widths == model.targets["latency_us"].half_widths


def test_what_was_changed_is_damaged(model: OwnModel, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(to_bytes(model).replace(b"psync", b"Psync"))
    with pytest.raises(DamagedError, match="its checksum does not fit; fit the model again"):
        load(path)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Give the way to every value of a JSON, of long lists to the first two."""
    found = [way] if way else []
    if isinstance(value, dict):
        for name, one in value.items():
            found += places(one, (*way, name))
    elif isinstance(value, list):
        for number, one in enumerate(value[:2]):
            found += places(one, (*way, number))
    return found


def refusal(path: Path) -> str:
    """Give why a file is not a model; empty where it answers."""
    try:
        read = load(path)
    except DrivelabError as error:
        return str(error)
    row = np.full((1, len(read.columns)), 1.0)
    for target in read.targets.values():
        for estimator in target.predictors:
            target.interval(target.predict(row, estimator), 0.9, estimator)
    return ""


def test_any_value_that_is_another_is_a_line_or_answers(model: OwnModel, tmp_path: Path) -> None:
    plain = json.loads(to_bytes(model))
    del plain["sha256"]
    path = tmp_path / "model.json"
    refused: list[str] = []
    for way in places(plain):
        for other in (None, -1, 10**9, {}):
            changed = json.loads(json.dumps(plain))
            holder = changed
            for step in way[:-1]:
                holder = holder[step]
            holder[way[-1]] = other
            path.write_bytes(sealed_json(changed))
            refused.append(refusal(path))
    said = [line for line in refused if line]
    assert len(said) > 200
    assert not [line for line in said if "\n" in line]


def test_what_is_none(tmp_path: Path) -> None:
    assert not is_own(tmp_path)
    assert not is_own(tmp_path / "nothing")
    with pytest.raises(UsageError, match="does not exist; name a model, or its folder"):
        load(tmp_path)
    path = tmp_path / "model.json"
    for data in (b"", b"{}", b'{"format": "drivelab model of own measurements"}'):
        path.write_bytes(data)
        with pytest.raises(DrivelabError):
            load(path)
