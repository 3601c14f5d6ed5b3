"""A trace as a workload from Python: impossible ways to read it are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import drivelab as dl


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = (f"0,{64 * place},4096,r,{place / 1000}" for place in range(300))
    Path("a.spc").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"speed": "fast"}, "speed is 'fast'; allowed: 1e-06 to 1e+06, or 'max' for as fast as"),
        ({"speed": None}, "speed is None; allowed"),
        ({"time_unit_ns": 0}, "time_unit_ns is 0; allowed: a whole number, 1 to 3600000000000"),
        ({"address_unit": 0}, "address_unit is 0; allowed: a whole number, 1 to 1073741824"),
        ({"device_size": 5.5}, "device_size is 5.5; allowed: a whole number"),
        ({"sort_window": None}, "sort_window is None; allowed: a whole number, 0 to 1048576"),
        ({"columns": {"arrival": "at"}}, "only Parquet has columns to map: leave columns out"),
        (
            {"device_size": 4096},
            "skip bad lines with skip_bad_lines=True, or name the right format",
        ),
        ({"format": 5}, "format is 5; allowed: "),
        ({"skip_bad_lines": "yes"}, "skip_bad_lines is 'yes'; allowed: True or False"),
        ({"columns": {1: 2}}, "columns has (1, 2); allowed: what a column contains and its name"),
        (
            {"columns": ["a"]},
            "columns is ['a']; give what a column contains and its name, such as {'",
        ),
        ({"devices": 5}, "devices is 5; give a list of names such as ['0', '1']"),
        ({"devices": [5]}, "devices is (5,); allowed: a list of texts"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line(how: dict, says: str) -> None:
    with pytest.raises(dl.DrivelabError) as refused:
        dl.trace("a.spc", **how)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
