"""Which sizes are repeated where the drive's time is limited, and lines go through them.

A pass at a small size takes long and tells of few sizes; one at a large size is soon over and tells
of many. So sizes are taken in the order of what they count in all access times, over what they
take, as far as the time that is left goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.profile.estimate import weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.profile.estimate import Test
    from drivelab.profile.settings import ProfileSettings


def affordable(
    plan: ProfileSettings,
    sizes: Sequence[int],
    repetitions: int,
    *,
    measured: Sequence[int],
    times_ns: Mapping[Test, Mapping[int, float]],
    left_ns: float,
) -> list[int]:
    """Choose of some sizes those that there is time for.

    Parameters
    ----------
    plan
        Says what a pass at a size sends.
    sizes
        In bytes, to choose from.
    repetitions
        Of each test at a size that is chosen.
    measured
        Sizes that were measured before; those to choose from may be among them.
    times_ns
        Estimated access times by test and size.
    left_ns
        Of the drive's time.

    Returns
    -------
    list
        The sizes, rising.
    """

    def cost_ns(size: int) -> float:
        return repetitions * sum(
            curve[size] * plan.one_pass(*test, size).requests for test, curve in times_ns.items()
        )

    rows = weights(plan.intervals, sorted({*measured, *sizes})).values()
    counts = {size: sum(abs(row.get(size, 0.0)) for row in rows) for size in sizes}
    costs = {size: cost_ns(size) for size in sizes}
    chosen = []
    for size in sorted(sizes, key=lambda each: (costs[each] / max(counts[each], 1e-9), each)):
        if costs[size] <= left_ns:
            chosen.append(size)
            left_ns -= costs[size]
    return sorted(chosen)
