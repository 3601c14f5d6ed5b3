"""The order in which the workloads of a campaign are measured.

The order is random, because a drive changes while it is measured: it fills up, warms up, or is
slowed by earlier writes. In the order of the design, these changes would look like effects of
characteristics. A random order also lets the time left be computed from the time taken.

If each workload needs a drive that has settled to its own kind of writing, the kinds follow each
other, each in random order. A real drive is then written as little as possible, and a simulated one
changes its state as rarely as possible.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.write_pattern import BURST, PIECE_BYTES, WritePattern, write_pattern
from drivelab.workloads.characteristics import Characteristics

#: Workloads that only read come first, because they need no writing.
_KINDS: Final[tuple[WritePattern | None, ...]] = (None, *PIECE_BYTES)


def planned_order(
    indices: Iterable[int],
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    left: WritePattern | None = None,
) -> list[int]:
    """Sort indices of `workloads` into the order of measuring.

    Parameters
    ----------
    indices
        The indices to sort.
    workloads
        All workloads.
    plan
        How the workloads are measured.
    left
        The kind of writing to which the drive has already settled; it comes first.
    """
    order = measuring_order(indices, plan.seed)
    if plan.writes == BURST:
        return order
    kinds = sorted(_KINDS, key=lambda kind: (kind is not None, kind != left))
    return sorted(order, key=lambda index: kinds.index(write_pattern(workloads[index])))


def measuring_order(indices: Iterable[int], seed: int) -> list[int]:
    """Shuffle indices in the same way on every machine.

    Each index has its own key, so that removing some does not change the order of the others.

    Parameters
    ----------
    indices
        Positions in the design.
    seed
        Seed of the campaign.
    """

    def key(index: int) -> tuple[bytes, int]:
        text = f"order of measuring {seed} {index}"
        return hashlib.blake2b(text.encode(), digest_size=8).digest(), index

    return sorted(indices, key=key)
