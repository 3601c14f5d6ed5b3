"""How a drive is built, as far as probes show (`drivelab.workloads.probes`).

What is found, and how:

- **arm**: a random read takes a millisecond or more, and 64 at once are little faster;
- **page**: small random writes all cost the same up to the page, and twice the page costs more;
- **parallel units**: whole pages written at a stride of n pages reach ``units / gcd(n, units)``
  of the units, and the rates show which number of units fits;
- **alignment**: pages written across the borders of pages;
- **log blocks**: places that are written in turn, faster than more of them;
- **merging**: small writes in order that are faster than their pages would be;
- **buffer**: a write that is acknowledged sooner than a unit could write it;
- **size of the buffer**: what the first writes took beyond the rate that lasts;
- **slow-down**: after how many bytes random writes fall to a fraction of their first rate.

What the rates do not show clearly is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from drivelab.drives.measurement import Measurement
from drivelab.models.goal import FEWEST_WITH_PROBES, Goal
from drivelab.models.rewrites import fast_places
from drivelab.units import format_duration_ns, format_size
from drivelab.workloads.parts import Parts
from drivelab.workloads.probes import (
    DEPTH,
    FILLS,
    PAGES,
    STEPS,
    USUAL_PAGE_BYTES,
    WRITE_SIZES,
    random_write,
    read,
    write_in_order,
)

#: Key of the size of the buffer in a model's provenance.
BUFFER_BYTES: Final = "buffer_bytes"
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
# Writes of whole pages of nearly any drive, and how many times as fast they are in order where a
# drive merges blocks for random ones.
_WHOLE: Final = 16 * 1024
_MERGES: Final = 5.0
# Twice the page takes twice the time, less what the link takes.
_TWICE: Final = 0.72
_MOST_UNITS: Final = 256
# Root mean square of what a number of units leaves of the rates' logarithms.
_FITS: Final = 0.15
# A first rate above the lasting one by this much says that a buffer is filling.
_FILLING: Final = 1.25
# The rate in the last of so many parts of the time is what lasts.
_LASTING: Final = 4
# A slow-down is another one than that of a buffer if it comes this many times later.
_BEYOND_BUFFER: Final = 8


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
        Whether small sequential writes share pages.
    in_order_gain
        How many times as fast sequential writes of a page are as random ones.
    fast_places
        Places that are written fast in turn, where writes to more of them are far slower.
    is_buffered
        Whether writes are acknowledged before they are on the medium.
    buffer_bytes
        What the first random writes took beyond the rate that lasts.
    slows_after_bytes
        Random writes from an idle drive until their rate falls; None where it does not.
    slows_to_ratio
        The rate after that over the rate before, 0 to 1.
    fast_bytes
        Random writes that did not become slower, where none did.
    """

    has_arm: bool | None = None
    read_seconds: float | None = None
    read_gain: float | None = None
    page_bytes: int | None = None
    parallel_units: int | None = None
    unaligned_ratio: float | None = None
    merges: bool | None = None
    in_order_gain: float | None = None
    fast_places: int | None = None
    is_buffered: bool | None = None
    buffer_bytes: int | None = None
    slows_after_bytes: int | None = None
    slows_to_ratio: float | None = None
    fast_bytes: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the values under their names."""
        return asdict(self)

    def describe(self) -> str:
        """Say it in a line, what is unknown last; without a full stop."""
        found = [*self._how_built(), *self._how_written()]
        unknown = []
        if not self.has_arm:
            unknown += ["pages"] if self.page_bytes is None else []
            unknown += ["parallel units"] if self.parallel_units is None else []
        unknown += ["buffer"] if self.is_buffered is None and self.buffer_bytes is None else []
        if self.slows_after_bytes is None and self.fast_bytes is None:
            unknown.append("how much it takes before it slows down")
        missing = f" (unknown: {', '.join(unknown)})" if unknown else ""
        return f"{'; '.join(found) or 'nothing clear'}{missing}"

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
        found = []
        if self.unaligned_ratio is not None and self.unaligned_ratio >= _TELLING:
            found.append(f"unaligned writes cost {self.unaligned_ratio:.1f} times as much")
        if self.merges is not None:
            found.append(f"small sequential writes are {'' if self.merges else 'not '}merged")
        if self.in_order_gain is not None and self.in_order_gain >= _CLEAR:
            found.append(
                f"sequential writes are {self.in_order_gain:.0f} times as fast as random ones"
            )
        if self.fast_places is not None:
            found.append(f"only {self.fast_places} places are overwritten fast in turn")
        if self.buffer_bytes is not None:
            found.append(f"a buffer takes about {_about(self.buffer_bytes)} of writes")
        elif self.is_buffered:
            found.append("writes are acknowledged from a buffer")
        if self.slows_after_bytes is not None and self.slows_to_ratio is not None:
            found.append(
                f"random writes slow down to {100 * self.slows_to_ratio:.0f} % of their speed "
                f"after about {_about(self.slows_after_bytes)}"
            )
        elif self.fast_bytes is not None:
            found.append(f"{_about(self.fast_bytes)} of random writes do not slow it down")
        return found


def rates_of(measurements: Iterable[Measurement]) -> Rates:
    """Return requests a second by workload."""
    return {one.characteristics.key(): one.iops for one in measurements}


def find_page(rates: Rates) -> int | None:
    """Return the largest write that costs no more than smaller ones; None if none is clear."""
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


def may_map_blocks(measurements: Sequence[Measurement]) -> bool:
    """Return whether random writes are so slow that the drive may merge blocks for them."""
    rates = rates_of(measurements)
    in_order, at_random = (
        rates.get(each.key()) for each in (write_in_order(_WHOLE), random_write(_WHOLE))
    )
    if probed(measurements).has_arm or not in_order or not at_random:
        return False
    return in_order >= _MERGES * at_random


def probes_of(
    measurements: Sequence[Measurement], parts: Parts, capacity_bytes: int | None
) -> Probed | None:
    """Return what the probes of a run on a drive so large found, None where it has none."""
    by_part = {
        part: [one for one in measurements if parts.part_of(one.index) == part]
        for part in ("probes", "fills")
    }
    held = by_part["probes"]
    return probed(held, by_part["fills"], capacity_bytes=capacity_bytes) if held else None


@dataclass(frozen=True)
class Unprobed:
    """Why a run that chose its workloads has no probes; each in words, without a full stop.

    Attributes
    ----------
    reason
        Why it has none.
    remedy
        How to have them; empty where nothing helps.
    """

    reason: str
    remedy: str = ""


def unprobed(header: Mapping[str, Any]) -> Unprobed | None:
    """Return why a finished run of the design ``adaptive`` has no probes, otherwise None.

    Parameters
    ----------
    header
        Of the run.
    """
    design, ended = header["design"], header.get("ended")
    if ended is None or Parts.from_json(design["parts"]).probes:
        return None
    if "probes" not in design["pool"]:
        # Of a version that had none.
        return None
    goal = Goal(**ended["goal"])
    if not goal.has_probes:
        return Unprobed(
            f"the limit was {goal.most} measurements, and probes come from {FEWEST_WITH_PROBES} on",
            f"the same command with --measurements {FEWEST_WITH_PROBES} or more adds them to this "
            "run",
        )
    if not design["pool"]["probes"]:
        return Unprobed("the drive can run none of them")
    return Unprobed(
        "the budget had no room for them",
        "the same command with a longer --budget adds them to this run",
    )


def probed(
    measurements: Sequence[Measurement],
    fills: Sequence[Measurement] = (),
    *,
    capacity_bytes: int | None = None,
) -> Probed:
    """Find how a drive is built.

    Parameters
    ----------
    measurements
        Of probes, as many as could be measured; others say nothing here.
    fills
        Of `FILLS`, as many as could be measured.
    capacity_bytes
        The drive's capacity, if `fast_places` is to be known.
    """
    rates = rates_of(measurements)
    one, many = rates.get(read().key()), rates.get(read(depth=64).key())
    gain = many / one if one and many else None
    has_arm = None if one is None or gain is None else 1 / one >= _ARM_SECONDS and gain < _ARM_GAIN
    # An arm spends its time on the way, whatever the size: that is not a page.
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
    places = fast_places(measurements, capacity_bytes) if capacity_bytes else None
    buffer_bytes, slow_down = _filled(fills)
    if places is not None:
        # The first writes found free log blocks, with or without a buffer.
        buffer_bytes = None
    return Probed(
        has_arm=has_arm,
        read_seconds=None if one is None else 1 / one,
        read_gain=gain,
        page_bytes=page,
        parallel_units=units,
        unaligned_ratio=unaligned,
        merges=None if page is None else _merges(rates, page),
        in_order_gain=None if not in_order or not at_random else in_order / at_random,
        fast_places=places,
        is_buffered=_is_buffered(rates, units, at_random),
        buffer_bytes=buffer_bytes,
        **slow_down,
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
    """Return whether small sequential writes are faster than their pages would be."""
    small, whole = (rates.get(write_in_order(size).key()) for size in (1024, page))
    if not small or not whole or page <= 1024:
        return None
    return small >= _CLEAR * whole


def _is_buffered(rates: Rates, units: int | None, at_random: float | None) -> bool | None:
    """Return whether one write alone is acknowledged sooner than it could be written."""
    alone, reading = rates.get(random_write(depth=1).key()), rates.get(read().key())
    if not alone:
        return None
    if units is not None and at_random:
        # A unit that writes one request after the other takes so long for each.
        return min(units, DEPTH) / at_random > _CLEAR / alone
    if reading and alone > 2 * reading:
        return True
    return None


@dataclass(frozen=True)
class _Course:
    """How fast a fill was written: bytes and bytes a second of each batch of its requests."""

    sizes: NDArray[np.float64]
    rates: NDArray[np.float64]

    @property
    def lasting(self) -> float:
        """The rate in the last part of the time: slow batches are few, but take long."""
        ends = np.cumsum(self.sizes / self.rates)
        begin = ends[-1] * (1 - 1 / _LASTING)
        before = np.interp(begin, (0.0, *ends), (0.0, *np.cumsum(self.sizes)))
        return float((self.sizes.sum() - before) / (ends[-1] - begin))

    def first_faster_than(self, rate: float) -> int:
        """Return how many batches from the first one on are all faster."""
        slow = np.flatnonzero(self.rates < rate)
        return int(slow[0]) if len(slow) else len(self.rates)


def _course(fill: Measurement) -> _Course | None:
    """Return the course of a fill; None where the drive does not say when its requests ended."""
    if fill.batches is None or len(fill.batches.ends_ns) < _LASTING:
        return None
    ends = np.array((0, *fill.batches.ends_ns), dtype=float)
    size = fill.batches.requests_per_batch * fill.characteristics.write_size
    return _Course(np.full(len(ends) - 1, float(size)), size / np.maximum(np.diff(ends), 1) * 1e9)


def _filled(fills: Sequence[Measurement]) -> tuple[int | None, dict[str, Any]]:
    """Return the size of the buffer, and when random writes slow down.

    A buffer fills at the difference between the rate at which it takes writes and the one that
    lasts. The shortest fill that lasts until then has the finest batches.
    """
    asked = [fill.workload.key() for fill in FILLS]
    deep = [one for one in fills if one.characteristics.key() == asked[-1]]
    shallow = [one for one in fills if one.characteristics.key() == asked[0]]
    buffer_bytes = None
    courses = [_course(one) for one in sorted(shallow, key=lambda one: one.requests)]
    if courses and (longest := courses[-1]) is not None:
        lasting = longest.lasting
        for course in courses:
            filling = 0 if course is None else course.first_faster_than(_FILLING * lasting)
            if course is None or filling == len(course.rates):
                continue
            taken = course.sizes[:filling] * (1 - lasting / course.rates[:filling])
            buffer_bytes = round(taken.sum()) or None
            break
    return buffer_bytes, _slow_down(_course(deep[0]) if deep else None, buffer_bytes or 0)


def _slow_down(course: _Course | None, buffer_bytes: int) -> dict[str, Any]:
    """Return after how many bytes a long fill slows down, or that it does not."""
    if course is None:
        return {}
    fast = course.first_faster_than(_CLEAR * course.lasting)
    before = float(course.sizes[:fast].sum())
    if fast == len(course.rates) or before <= _BEYOND_BUFFER * buffer_bytes:
        return {"fast_bytes": round(course.sizes.sum())}
    ratio = course.lasting / float(np.median(course.rates[:fast]))
    return {"slows_after_bytes": round(before), "slows_to_ratio": ratio}


def _about(size_bytes: float) -> str:
    """Write a size with two digits: more would claim what nobody knows."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if size_bytes >= 0.995 * factor:
            return f"{float(f'{size_bytes / factor:.2g}'):g} {unit}"
    return f"{float(f'{size_bytes / 1e3:.2g}'):g} kB"
