"""Which known name was meant."""

from __future__ import annotations

import pytest

from drivelab.near_names import meant, nearest


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("measur", "did you mean measure? "),
        ("MEASURE", "did you mean measure? "),
        ("queue-dept", "did you mean queue_depth? "),
        ("xyz", ""),
        ("", ""),
    ],
)
def test_near_names_are_guessed_and_others_are_not(asked: str, said: str) -> None:
    assert meant(asked, ["measure", "model", "queue_depth", "simulate"]) == said


def test_the_nearest_comes_first_and_there_are_not_many() -> None:
    known = ["mlc-a", "mlc-b", "mlc-c", "mlc-d"]
    assert nearest("mlc-bb", known)[0] == "mlc-b"
    assert len(nearest("mlc", known)) == 3
    assert nearest("mlc-bb", known, 1) == ["mlc-b"]
