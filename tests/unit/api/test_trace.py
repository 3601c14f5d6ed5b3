"""A trace as a workload from Python: what is no way to read it is refused."""

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
        ({"format": 5}, "format is 5; allowed: "),
        ({"skip_bad_lines": "yes"}, "skip_bad_lines is 'yes'; allowed: True or False"),
        ({"columns": {1: 2}}, "columns has (1, 2); allowed: what a column holds and its name"),
        ({"columns": ["a"]}, "columns is ['a']; give what a column holds and its name, such as {'"),
        ({"devices": 5}, "devices is 5; give a list of names such as ['0', '1']"),
        ({"devices": [5]}, "devices is (5,); allowed: a list of texts"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line(how: dict, says: str) -> None:
    with pytest.raises(dl.DrivelabError) as refused:
        dl.trace("a.spc", **how)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
