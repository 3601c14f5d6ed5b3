"""The share of a design that is drawn at random, for intervals that hold what they promise.

Split conformal intervals are right on average for questions from the population that their
calibration workloads were drawn from (Lei et al. 2018, theorem 2.2). So these are drawn at
random, whatever the design balances elsewhere, and models never see them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, TypeVar

Item = TypeVar("Item")

# One workload in so many.
_SHARE: Final = 5


def calibration_count(count: int) -> int:
    """Return how many of `count` workloads calibrate: a fifth, rounded down."""
    return count // _SHARE


def shuffled(items: Sequence[Item], seed: int) -> list[Item]:
    """Return the items in a random order, every order equally likely.

    Parameters
    ----------
    items
        In an order that does not depend on the machine.
    seed
        Key of the random numbers.
    """
    # Only random() itself is promised to stay the same in later versions of Python.
    uniform = random.Random(f"calibration {seed}").random  # noqa: S311
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = int(uniform() * (last + 1))
        order[last], order[other] = order[other], order[last]
    return order
