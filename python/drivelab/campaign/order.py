"""In which order the workloads of a campaign are measured.

At random, because a drive changes while it is measured (it fills, warms up, is slowed by
what was written before): in the design's order those changes would look like effects of the
characteristics that change along it. It also lets the time left be told from the time taken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


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
