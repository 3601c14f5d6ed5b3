"""In which order the workloads of a campaign are measured.

At random, because a drive changes while it is measured (it fills, warms up, is slowed by
what was written before): in the design's order those changes would look like effects of the
characteristics that change along it. The time left can then be computed from the time taken.

Where each workload begins with a drive that its own kind of writing has settled, kinds come one
after the other, each in random order: a real drive is then written as seldom as can be, and a
simulated one changes its state as seldom.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.write_pattern import BURST, PIECE_BYTES, WritePattern, write_pattern
from drivelab.workloads.characteristics import Characteristics

#: What only reads comes first: it needs no writing.
_KINDS: Final[tuple[WritePattern | None, ...]] = (None, *PIECE_BYTES)


def planned_order(
    indices: Iterable[int],
    workloads: Sequence[Characteristics],
    plan: MeasurementPlan,
    left: WritePattern | None = None,
) -> list[int]:
    """Put places in `workloads` in the order in which they are measured.

    Parameters
    ----------
    indices
        The places.
    workloads
        All that there are.
    plan
        How they are measured.
    left
        The kind of writing that the drive has settled to already, which comes first then.
    """
    order = measuring_order(indices, plan.seed)
    if plan.writes == BURST:
        return order
    kinds = sorted(_KINDS, key=lambda kind: (kind is not None, kind != left))
    return sorted(order, key=lambda index: kinds.index(write_pattern(workloads[index])))


def measuring_order(indices: Iterable[int], seed: int) -> list[int]:
    """Shuffle indices, the same way on every machine.

    Each index has its own key, so that taking some away leaves the order of the others.

    Parameters
    ----------
    indices
        Places in the design.
    seed
        Of the campaign.
    """

    def key(index: int) -> tuple[bytes, int]:
        text = f"order of measuring {seed} {index}"
        return hashlib.blake2b(text.encode(), digest_size=8).digest(), index

    return sorted(indices, key=key)
