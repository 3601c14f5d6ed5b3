"""When a run that asks round by round has enough."""

from __future__ import annotations

import math

import pytest

from drivelab.errors import UsageError
from drivelab.models.goal import Goal


def test_the_usual_goal_is_300_measurements_and_another_one_a_limit_of_1200() -> None:
    assert (Goal().most, Goal(error_ratio=0.05).most, Goal(budget_seconds=3600).most) == (
        300,
        1200,
        1200,
    )
    assert Goal(130, 0.05, 60).most == 130


def test_a_goal_is_said_in_words() -> None:
    assert Goal().describe() == "300 measurements"
    assert Goal(None, 0.05, 3600).describe() == (
        "1,200 measurements, an expected error of 5 % or 1 h 0 min of the drive's time, whichever "
        "comes first"
    )


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"measurements": 5}, "5 measurements; allowed: 10 to 5,000"),
        ({"measurements": 5001}, "allowed: 10 to 5,000"),
        ({"error_ratio": 0.0}, "an error of 0 %"),
        ({"error_ratio": 2.0}, "an error of 200 %"),
        ({"error_ratio": math.nan}, "allowed: above 0 and below 100 %"),
        ({"budget_seconds": 0.0}, "a budget of 0 s"),
        ({"budget_seconds": math.inf}, "at most 30 days"),
    ],
)
def test_an_impossible_goal_is_refused(goal: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Goal(**goal)
