"""The part of a design that is drawn at random, so that intervals have their stated coverage.

Split conformal intervals are right on average for questions from the population of their
calibration workloads (Lei et al. 2018, theorem 2.2). So these workloads are drawn at random, even
if the design balances the others, and models are never trained on them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, TypeVar

Item = TypeVar("Item")

# One of this many workloads is for calibration.
_SHARE: Final = 5


def calibration_count(count: int) -> int:
    """Return the number of calibration workloads out of `count`: a fifth, rounded down."""
    return count // _SHARE


def shuffled(items: Sequence[Item], seed: int) -> list[Item]:
    """Return the items in random order, with all orders equally likely.

    Parameters
    ----------
    items
        Items in an order that is the same on every machine.
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
