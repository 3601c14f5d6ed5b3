"""Which request sizes are measured: both ends of an interval, and others at random."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from drivelab._core import MAX_REQUEST_BYTES, SECTOR_BYTES
from drivelab.errors import UsageError
from drivelab.units import format_size


@dataclass(frozen=True)
class Interval:
    """Request sizes with the same gap between them.

    Attributes
    ----------
    low_bytes, high_bytes
        The first and the last size, whole sectors of 512 bytes up to 64 MiB.
    gap_bytes
        From one size to the next, whole sectors; the sizes end at the last exactly.

    Raises
    ------
    UsageError
        Names what is wrong and what is allowed.
    """

    low_bytes: int
    high_bytes: int
    gap_bytes: int

    def __post_init__(self) -> None:
        low, high, gap = self.low_bytes, self.high_bytes, self.gap_bytes
        name = f"the interval {':'.join(format_size(size) for size in (low, high, gap))}"
        if any(size % SECTOR_BYTES or size <= 0 for size in (low, high, gap)):
            raise UsageError(
                f"{name} has sizes that are not whole sectors; allowed: multiples of {SECTOR_BYTES}"
            )
        if not low < high <= MAX_REQUEST_BYTES:
            raise UsageError(
                f"{name} ends at {format_size(high)}; allowed: more than its beginning, at most "
                f"{format_size(MAX_REQUEST_BYTES)}"
            )
        if (high - low) % gap:
            raise UsageError(
                f"{name} does not end at a size of its own; allowed: a gap that divides "
                f"{format_size(high - low)}"
            )

    @property
    def sizes(self) -> range:
        """All its sizes, rising."""
        return range(self.low_bytes, self.high_bytes + 1, self.gap_bytes)


def chosen(interval: Interval, points: int, seed: int) -> tuple[int, ...]:
    """Choose the sizes that are measured (Boito et al. 2015, section 3, step 1).

    Parameters
    ----------
    interval
        Of which.
    points
        How many: both ends, and others drawn at random without repetition. With a larger number
        those of a smaller one stay.
    seed
        Key of the draw, the same on every machine.

    Raises
    ------
    UsageError
        When the interval does not have so many, or fewer than its ends are asked for.
    """
    sizes = interval.sizes
    if not 2 <= points <= len(sizes):
        raise UsageError(
            f"points is {points}; allowed: from 2 to the interval's {len(sizes)} sizes"
        )

    def key(size: int) -> tuple[bytes, int]:
        text = f"sizes of SeRRa {seed} {interval} {size}"
        return hashlib.blake2b(text.encode(), digest_size=8).digest(), size

    drawn = sorted(sizes[1:-1], key=key)[: points - 2]
    return tuple(sorted([sizes[0], sizes[-1], *drawn]))


def size_text(size_bytes: int) -> str:
    """Write a size exactly: in MiB where it is a whole number of them, else in KiB or bytes."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes % factor == 0 and size_bytes >= factor:
            return f"{size_bytes // factor} {unit}"
    return f"{size_bytes} B"
