"""What takes long to make is made once for all workers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from made_once import made_once


def test_the_first_makes_it_and_the_others_wait(tmp_path: Path) -> None:
    made = []

    def make(path: Path) -> None:
        made.append(path)
        path.mkdir()
        (path / "page").write_text("whole")

    with ThreadPoolExecutor(8) as workers:
        found = list(workers.map(lambda _: made_once(tmp_path, "a b", make), range(8)))
    assert set(found) == {tmp_path / "a b"}
    assert [(one / "page").read_text() for one in found] == ["whole"] * 8
    assert len(made) == 1


@pytest.mark.parametrize("is_folder", [True, False])
def test_what_failed_half_made_is_made_again(tmp_path: Path, *, is_folder: bool) -> None:
    def fail(path: Path) -> None:
        path.mkdir() if is_folder else path.write_text("half")
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        made_once(tmp_path, "it", fail)

    def succeed(path: Path) -> None:
        path.write_text("whole")

    found = made_once(tmp_path, "it", succeed)
    assert found.read_text() == "whole"
