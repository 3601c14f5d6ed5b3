"""How a drive is built, as far as probes tell (`drivelab.workloads.probes`).

What is found, and from what:

- **arm**: a random read takes a millisecond or more, and 64 at once are little faster;
- **page**: small random writes all cost the same up to the page, and twice the page costs more;
- **parallel units**: whole pages written in order with n pages from one to the next reach
  ``units / gcd(n, units)`` of the units, and the rates say for which number of units;
- **alignment**: pages written across the borders of pages;
- **merging**: small writes in order that are faster than their pages would be;
- **buffer**: a write that is acknowledged sooner than a unit could write it.

What the rates do not say clearly is not said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from drivelab.drives.measurement import Measurement
from drivelab.units import format_duration_ns, format_size
from drivelab.workloads.parts import Parts
from drivelab.workloads.probes import (
    DEPTH,
    PAGES,
    STEPS,
    USUAL_PAGE_BYTES,
    WRITE_SIZES,
    random_write,
    read,
    write_in_order,
)

#: Measured rates, by what identifies their workload.
Rates = Mapping[tuple[Any, ...], float]

# A flash reads within tens of microseconds, an arm moves for milliseconds.
_ARM_SECONDS: Final = 1e-3
# A queue of 64 lets an arm choose short ways, no more.
_ARM_GAIN: Final = 6.0
# Rates are taken for equal within this, and for clearly different beyond that.
_EQUAL: Final = 0.8
_CLEAR: Final = 1.5
_TELLING: Final = 1.2
# Twice the page takes twice the time, less what the link takes.
_TWICE: Final = 0.72
_MOST_UNITS: Final = 256
# Root mean square of what a number of units leaves of the rates' logarithms.
_FITS: Final = 0.15


@dataclass(frozen=True)
class Probed:
    """What probes say of a drive; None is unknown.

    Attributes
    ----------
    has_arm
        Whether it moves an arm to its data.
    read_seconds
        One random read of 4 KiB.
    read_gain
        How many times as many 64 of them at once get.
    page_bytes
        The least that a write costs.
    parallel_units
        That pages are dealt out to in turn.
    unaligned_ratio
        What a page written across the borders of pages costs over one that is aligned.
    merges
        Whether small writes in order share pages.
    in_order_gain
        How many times as fast writes of a page are in order as at random.
    is_buffered
        Whether writes are acknowledged before they are on the medium.
    """

    has_arm: bool | None = None
    read_seconds: float | None = None
    read_gain: float | None = None
    page_bytes: int | None = None
    parallel_units: int | None = None
    unaligned_ratio: float | None = None
    merges: bool | None = None
    in_order_gain: float | None = None
    is_buffered: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the values under their names."""
        return asdict(self)

    def describe(self) -> str:
        """Say it in a line, what is unknown last; without a full stop."""
        told = [*self._how_built(), *self._how_written()]
        unknown = []
        if not self.has_arm:
            unknown += ["pages"] if self.page_bytes is None else []
            unknown += ["parallel units"] if self.parallel_units is None else []
        unknown += ["buffer"] if self.is_buffered is None else []
        # No probe is long enough.
        unknown.append("how much it takes before it slows down")
        return f"{'; '.join(told) or 'nothing clear'} (unknown: {', '.join(unknown)})"

    def _how_built(self) -> list[str]:
        if self.has_arm and self.read_seconds is not None and self.read_gain is not None:
            return [
                "one arm; a random read takes "
                f"{format_duration_ns(self.read_seconds * 1000000000.0)}, 64 at the same time "
                f"get {self.read_gain:.1f} times as many"
            ]
        pages = [] if self.page_bytes is None else [f"{format_size(self.page_bytes)} pages"]
        units = [] if self.parallel_units is None else [f"{self.parallel_units} in parallel"]
        return [", ".join([*pages, *units])] if pages or units else []

    def _how_written(self) -> list[str]:
        told = []
        if self.unaligned_ratio is not None and self.unaligned_ratio >= _TELLING:
            told.append(f"unaligned writes cost {self.unaligned_ratio:.1f} times as much")
        if self.merges is not None:
            told.append(f"small writes in order are {'' if self.merges else 'not '}merged")
        if self.in_order_gain is not None and self.in_order_gain >= _CLEAR:
            told.append(f"writes in order are {self.in_order_gain:.0f} times as fast as at random")
        if self.is_buffered:
            told.append("writes are acknowledged from a buffer")
        return told


def rates_of(measurements: Iterable[Measurement]) -> Rates:
    """Return requests a second by workload."""
    return {one.characteristics.key(): one.iops for one in measurements}


def find_page(rates: Rates) -> int | None:
    """Return the largest write that costs no more than smaller ones; None where none stands out."""
    sizes = {size: rates.get(random_write(size).key()) for size in WRITE_SIZES}
    known = [rate for rate in sizes.values() if rate is not None]
    if len(known) < 2:
        return None
    flat = [size for size, rate in sizes.items() if rate and rate >= _EQUAL * max(known)]
    page = max(flat)
    beyond = sizes.get(2 * page)
    if page not in PAGES or beyond is None or beyond > _TWICE * (sizes[page] or 0.0):
        return None
    return page


def probes_of(measurements: Sequence[Measurement], parts: Parts) -> Probed | None:
    """Return what the probes of a run found, None where it has none."""
    held = [one for one in measurements if parts.part_of(one.index) == "probes"]
    return probed(held) if held else None


def probed(measurements: Sequence[Measurement]) -> Probed:
    """Find how a drive is built.

    Parameters
    ----------
    measurements
        Of probes, as many as could be measured; others say nothing here.
    """
    rates = rates_of(measurements)
    one, many = rates.get(read().key()), rates.get(read(depth=64).key())
    gain = many / one if one and many else None
    has_arm = None if one is None or gain is None else 1 / one >= _ARM_SECONDS and gain < _ARM_GAIN
    # An arm spends its time on the way, whatever the size: that is no page.
    page = None if has_arm else find_page(rates)
    unaligned = None if page is None else _unaligned_ratio(rates, page)
    if unaligned is not None and unaligned < _TELLING:
        # What is flat there is the host or the link, not a page.
        page = unaligned = None
    size = page or USUAL_PAGE_BYTES
    in_order, at_random = (
        rates.get(each.key()) for each in (write_in_order(size), random_write(size))
    )
    units = None if page is None else _units(rates, page)
    return Probed(
        has_arm=has_arm,
        read_seconds=None if one is None else 1 / one,
        read_gain=gain,
        page_bytes=page,
        parallel_units=units,
        unaligned_ratio=unaligned,
        merges=None if page is None else _merges(rates, page),
        in_order_gain=None if not in_order or not at_random else in_order / at_random,
        is_buffered=_is_buffered(rates, units, at_random),
    )


def _unaligned_ratio(rates: Rates, page: int) -> float | None:
    """Return what a page written across the borders of pages costs, over an aligned one."""
    aligned, across = (rates.get(write_in_order(page, gap).key()) for gap in (0, page // 2))
    return aligned / across if aligned and across else None


def _units(rates: Rates, page: int) -> int | None:
    """Return the number of units that explains the rates of all steps."""
    found = {1: rates.get(write_in_order(page).key())}
    found |= {step: rates.get(write_in_order(page, (step - 1) * page).key()) for step in STEPS}
    known = {step: math.log(rate) for step, rate in found.items() if rate}
    if len(known) < len(found) or max(known.values()) - min(known.values()) < math.log(_CLEAR):
        return None
    cap = max(known.values())
    observed = np.array([*known.values()])
    best: tuple[float, int] | None = None
    for units in range(2, _MOST_UNITS + 1):
        reached = np.log([units / math.gcd(step, units) for step in known])
        below = observed < cap - math.log(_CLEAR) / 2
        if not below.any():
            continue
        each = float(np.median((observed - reached)[below]))
        off = observed - np.minimum(cap, each + reached)
        score = float(np.sqrt((off**2).mean()))
        # The fewest that explain it: more would differ in steps that nobody took.
        if best is None or score < best[0] - 1e-3:
            best = (score, units)
    return best[1] if best is not None and best[0] < _FITS else None


def _merges(rates: Rates, page: int) -> bool | None:
    """Tell whether small writes in order are faster than their pages would be."""
    small, whole = (rates.get(write_in_order(size).key()) for size in (1024, page))
    if not small or not whole or page <= 1024:
        return None
    return small >= _CLEAR * whole


def _is_buffered(rates: Rates, units: int | None, at_random: float | None) -> bool | None:
    """Tell whether one write alone is acknowledged sooner than it could be written."""
    alone, reading = rates.get(random_write(depth=1).key()), rates.get(read().key())
    if not alone:
        return None
    if units is not None and at_random:
        # A unit that writes one request after the other takes so long for each.
        return min(units, DEPTH) / at_random > _CLEAR / alone
    if reading and alone > 2 * reading:
        return True
    return None
