"""What a stream of requests looks like, computed from its requests alone.

Used on the streams of our generator and on those that other tools say they made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class DirectionSummary:
    """The requests of one direction, in their order."""

    range_start: int
    range_bytes: int
    offsets: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return len(self.offsets)

    @property
    def gaps(self) -> Counter[int]:
        """Bytes from the end of each request to the start of the next, and how often."""
        ends = (offset + size for offset, size in zip(self.offsets, self.sizes, strict=True))
        return Counter(start - end for end, start in zip(ends, self.offsets[1:], strict=False))

    @property
    def unaligned(self) -> int:
        """Requests at no multiple of their size from the start of the range."""
        return sum(
            (offset - self.range_start) % size != 0
            for offset, size in zip(self.offsets, self.sizes, strict=True)
        )

    @property
    def outside(self) -> int:
        """Requests that do not lie in the range."""
        end = self.range_start + self.range_bytes
        return sum(
            not self.range_start <= offset <= end - size
            for offset, size in zip(self.offsets, self.sizes, strict=True)
        )

    def jumps(self, stride: int) -> list[int]:
        """Return the places of requests that do not follow their predecessor.

        A request follows when it starts `stride` bytes after the end of the one before, or at
        the start of the range when it would not fit there.
        """
        end_of_range = self.range_start + self.range_bytes
        places = []
        for place in range(1, self.requests):
            successor = self.offsets[place - 1] + self.sizes[place - 1] + stride
            if successor + self.sizes[place] > end_of_range:
                successor = self.range_start
            if self.offsets[place] != successor:
                places.append(place)
        return places

    def random_share(self, stride: int) -> float:
        """Return the share of requests, the first left out, that do not follow."""
        return len(self.jumps(stride)) / (self.requests - 1) if self.requests > 1 else 0.0


@dataclass
class StreamSummary:
    """Both directions of a stream."""

    read: DirectionSummary
    write: DirectionSummary

    @property
    def write_ratio(self) -> float:
        return self.write.requests / (self.read.requests + self.write.requests)


def summarise(
    stream: Iterable[tuple[bool, int, int]], range_start: int, range_bytes: int
) -> StreamSummary:
    """Sort a stream of (whether it writes, offset, size), in bytes, by direction."""
    summary = StreamSummary(
        DirectionSummary(range_start, range_bytes), DirectionSummary(range_start, range_bytes)
    )
    for writes, offset, size in stream:
        direction = summary.write if writes else summary.read
        direction.offsets.append(offset)
        direction.sizes.append(size)
    return summary
