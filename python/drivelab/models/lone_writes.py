"""How long a write takes that does not wait, as far as closed loops show it.

A drive with a write buffer acknowledges a write before it is on the flash. A closed loop of writes
keeps the buffer full, so its writes wait for programs. But some of many workloads write so little
that each write finds space. No write is faster than those, so the highest line below all measured
writes shows what a lone write takes, by its size::

    latency |   .   .:
            |  . : ' _--      the line touches the workloads whose buffer never was full
            | ._--''
            +------------ size
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.models.features import PAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement

#: Its key in a model's provenance.
KEY: Final = "lone_writes"
# Means of fewer writes may be below a lone write's time by chance.
_FEWEST_WRITES: Final = 50
# The line is known if this many workloads are on it within this distance, small and large writes.
_FEWEST_ON_IT: Final = 6
_NEAR: Final = 0.01
_SMALL_PAGES, _LARGE_PAGES = 4.0, 16.0


def lone_writes(measurements: Sequence[Measurement]) -> dict[str, float] | None:
    """Return ``ns`` of a write without data and ``ns_per_page`` of each 4 KiB; None if unknown."""
    from scipy.optimize import linprog

    lone = [
        (one.characteristics.write_size / PAGE_BYTES, one.write.latency_ns_mean)
        for one in measurements
        if one.write is not None and one.write.requests >= _FEWEST_WRITES
    ]
    if len(lone) < _FEWEST_ON_IT:
        return None
    pages, latency = np.array(lone).T
    line = np.column_stack([np.ones(len(pages)), pages])
    # Scaled, as times in ns and ones differ by six orders.
    unit = float(latency.min())
    found = linprog(-line.sum(axis=0), line, latency / unit, bounds=(0, None))
    if not found.success:
        return None
    ns, per_page = (float(value) * unit for value in found.x)
    on_it = pages[latency <= (1 + _NEAR) * (ns + per_page * pages)]
    if len(on_it) < _FEWEST_ON_IT or on_it.min() > _SMALL_PAGES or on_it.max() < _LARGE_PAGES:
        return None
    return {"ns": ns, "ns_per_page": per_page}


def read_lone_writes(given: object) -> tuple[float, float] | None:
    """Read what a model's provenance says; None where it says nothing that could be so."""
    if not isinstance(given, dict):
        return None
    values = (given.get("ns"), given.get("ns_per_page"))
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in values):
        return None
    ns, per_page = (float(one) for one in values)  # type: ignore[arg-type]
    return (ns, per_page) if 0 <= ns < 1e12 and 0 <= per_page < 1e12 else None
