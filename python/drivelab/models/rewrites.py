"""How many blocks a drive that maps whole blocks can overwrite in turn.

Such a drive collects overwritten pages in a few log blocks of each unit. A write to a block without
one costs a merge; a log block also costs one when it is full. So writes that go round between a few
places are fast as long as every place keeps its log block::

    latency |          .  .  .    a merge for every write
            |
            |    .  .             a merge for every full log block
            +-----------------
             places: 2 4 8 16 32

Workloads that write anywhere need a merge for nearly every write and do not show this number.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.models.queueing import TRIED_LOGS
from drivelab.workloads.probes import is_distance, is_rewrites, places_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.models.queueing import Layout
    from drivelab.workloads.characteristics import Characteristics

#: Their key in a model's provenance.
REWRITES: Final = "rewrites_ns"
# Latencies differ clearly from this ratio on.
_CLEAR: Final = 3.0
# What noise leaves of the latencies at least, however well a number explains them.
_NOISE: Final = 0.01
# Root mean square of what a number of log blocks leaves of the latencies, as a ratio.
_FITS: Final = 0.3
# The next best number must leave this many times as much.
_BETTER: Final = 2.0
_MOST_DIGITS: Final = 18
_LONGEST_NS: Final = 1e12


def rewrites_ns(measurements: Sequence[Measurement]) -> dict[str, float]:
    """Return the mean latency of writes to a few places in turn, in ns, by their distance in bytes.

    The distance is text, as JSON needs it. Empty if none was measured.
    """
    return {
        str(one.write_stride + one.write_size): latency for one, latency in _rewritten(measurements)
    }


def fast_places(measurements: Sequence[Measurement], capacity_bytes: int) -> int | None:
    """Return the most places that are written fast in turn; None if more are not clearly slower."""
    found = sorted(
        (places_of(one, capacity_bytes), latency) for one, latency in _rewritten(measurements)
    )
    for (places, fast), (_, slow) in pairwise(found):
        if slow >= _CLEAR * fast:
            return places
    return None


def _rewritten(measurements: Sequence[Measurement]) -> list[tuple[Characteristics, float]]:
    """Return the writes to a few places and their mean latencies in ns, the fewest places first."""
    found = [
        (one.characteristics, one.latency_ns_mean)
        for one in measurements
        if is_rewrites(one.characteristics)
    ]
    return sorted(found, key=lambda each: -each[0].write_stride)


def read_rewrites(given: object) -> dict[int, float]:
    """Read what a model's provenance contains; empty if it contains nothing possible."""
    if not isinstance(given, dict):
        return {}
    found = {}
    for step, latency in given.items():
        if not isinstance(latency, int | float) or isinstance(latency, bool):
            return {}
        if not (step.isascii() and step.isdigit() and len(step) <= _MOST_DIGITS):
            return {}
        if not is_distance(int(step)):
            return {}
        if not 0 < latency < _LONGEST_NS:
            return {}
        found[int(step)] = float(latency)
    return found


def log_blocks(layout: Layout, capacity_bytes: int, latencies: Mapping[int, float]) -> int | None:
    """Return the log blocks of a unit that explain the latencies; None if no number clearly does.

    Parameters
    ----------
    layout
        The drive. Its own number of log blocks does not matter.
    capacity_bytes
        The drive's capacity.
    latencies
        Mean latency of writes to places at this distance in bytes, in ns.
    """
    from scipy.optimize import nnls

    if len(latencies) < 2:
        return None
    observed = np.array(list(latencies.values()))
    # Where no number of places is clearly slower, rounding and noise would decide.
    if observed.max() < _CLEAR * observed.min():
        return None
    left: dict[int, float] = {}
    for number in TRIED_LOGS["log_blocks"]:
        if not number:
            continue
        merges = [_merges(layout, capacity_bytes, step, number) for step in latencies]
        # A write takes the same everywhere, and its share of merges more.
        parts = np.column_stack([np.ones(len(merges)), merges]) / observed[:, np.newaxis]
        _, norm = nnls(parts, np.ones(len(merges)))
        left[number] = norm / math.sqrt(len(merges))
    best, second = sorted(left, key=lambda number: left[number])[:2]
    is_clear = left[best] <= _FITS and left[second] >= _BETTER * max(left[best], _NOISE)
    return best if is_clear else None


def _merges(layout: Layout, capacity_bytes: int, step: int, number: int) -> float:
    """Return the merges of a write to places at this distance in turn, on average."""
    pages = np.arange(0, capacity_bytes, step) // layout.page_bytes
    on_unit = Counter((pages % layout.units).tolist())
    rarely = 1 / layout.block_pages
    shares = (count * (rarely if count <= number else 1 - rarely) for count in on_unit.values())
    return sum(shares) / len(pages)
