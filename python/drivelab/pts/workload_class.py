"""Classes of workloads: suites of streams in TOML, that a user can copy, edit and run.

::

    class ── stream, weight 0.96 ── in random order, 0.96 ──┐
        └─── stream, weight 0.04 ── in random order, 0.03 ──┼─ each a stimulus, one after the other
                                └── in order, 0.01 ─────────┘

Weights are shares of the class's requests. A drive's figure for a class is the rate at which it
serves that many requests of each stimulus, one kind after the other: the harmonic mean of their
rates, weighted by requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Stream:
    """What one program of a class sends.

    Attributes
    ----------
    name
        Unique in its class.
    source
        Where its numbers come from; ``assumed`` where nobody measured them.
    weight
        Share of the class's requests.
    sizes
        Bytes of a request, with shares of requests.
    read_ratio
        Share of reads, 0 to 1.
    random_ratio
        Share of its requests in random order; the rest is in order, and a stimulus of its own.
    zones
        Share of accesses and share of the range, from the range's start, of random accesses.
    threads, queue_depth
        Outstanding requests.
    content
        What is written; empty for what the test's settings say.
    is_forced
        Whether writes must survive a loss of power even where the drive's cache is on.
    """

    name: str
    source: str
    weight: float
    sizes: tuple[tuple[int, float], ...]
    read_ratio: float
    random_ratio: float = 1.0
    zones: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    threads: int = 1
    queue_depth: int = 1
    content: str = ""
    is_forced: bool = False


@dataclass(frozen=True)
class Part:
    """A stimulus of a class: the random requests of a stream, or those in order.

    Attributes
    ----------
    name
        The stream's, with the order where it has both.
    stream
        Whose it is.
    is_random
        Which of its requests.
    weight
        Share of the class's requests.
    """

    name: str
    stream: Stream
    is_random: bool
    weight: float

    def stimulus_values(self) -> dict[str, Any]:
        """Return what `Stimulus` takes beside its range and what the settings say."""
        stream = self.stream
        values: dict[str, Any] = {
            "sizes": stream.sizes,
            "read_ratio": stream.read_ratio,
            "is_random": self.is_random,
            "threads": stream.threads,
            "queue_depth": stream.queue_depth,
        }
        if self.is_random:
            values["zones"] = stream.zones
        if stream.content:
            values["content"] = stream.content
        if stream.is_forced:
            values["is_forced"] = True
        return values


@dataclass(frozen=True)
class WorkloadClass:
    """A class of workloads.

    Attributes
    ----------
    name
        The word on the command line: of the package's, or a file's without its suffix.
    title, summary, source
        For people.
    streams
        Their weights add up to 1.
    """

    name: str
    title: str
    summary: str
    source: str
    streams: tuple[Stream, ...]

    @property
    def parts(self) -> list[Part]:
        """The stimuli, in order."""
        return [part for stream in self.streams for part in parts_of(stream)]

    @property
    def weights(self) -> tuple[tuple[int, float, float], ...]:
        """Block size in bytes, share of reads and share of requests: a figure of merit's weights.

        Larger sizes first; the last add up to 1. Order does not count there: the IOPS test,
        whose cells they weight, is random throughout.
        """
        shares: dict[tuple[int, float], float] = {}
        for stream in self.streams:
            for size, share in stream.sizes:
                key = size, stream.read_ratio
                shares[key] = shares.get(key, 0.0) + stream.weight * share
        return tuple((*key, shares[key]) for key in sorted(shares, reverse=True))

    def figure(self, rates: Sequence[float]) -> float:
        """Return requests a second of the class from those of its parts; 0 where one is 0."""
        weights = [part.weight for part in self.parts]
        if any(rate <= 0 for rate in rates):
            return 0.0
        return 1 / math.fsum(weight / rate for weight, rate in zip(weights, rates, strict=True))

    def to_json(self) -> dict[str, Any]:
        """Return the attributes, which carry their units."""
        values = asdict(self)
        for stream in values["streams"]:
            for name in ("sizes", "zones"):
                stream[name] = [list(each) for each in stream[name]]
        return {**values, "streams": list(values["streams"])}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WorkloadClass:
        """Read what `to_json` wrote."""
        streams = tuple(
            Stream(
                **{
                    **stream,
                    "sizes": tuple((size, share) for size, share in stream["sizes"]),
                    "zones": tuple((accesses, part) for accesses, part in stream["zones"]),
                }
            )
            for stream in data["streams"]
        )
        return cls(data["name"], data["title"], data["summary"], data["source"], streams)


def parts_of(stream: Stream) -> Iterator[Part]:
    """Give the stimuli of a stream: its random requests, then those in order."""
    random = stream.random_ratio
    both = 0 < random < 1
    if random > 0:
        yield Part(
            f"{stream.name}, random" if both else stream.name, stream, True, stream.weight * random
        )
    if random < 1:
        name = f"{stream.name}, in order" if both else stream.name
        yield Part(name, stream, False, stream.weight * (1 - random))
