"""Classes of workloads: sets of streams in TOML, which a user can copy, edit and run.

::

    class ── stream, weight 0.96 ── in random order, 0.96 ──┐
        └─── stream, weight 0.04 ── in random order, 0.03 ──┼─ each a stimulus, all together
                                └── in order, 0.01 ─────────┘  in proportion, or in turn

Weights are shares of the class's requests. A drive's figure for a class is the rate at which it
serves those requests. In proportion, a stimulus that is ahead of its share waits for the others,
and the figure is the rate of all. Together, nobody waits, and the figure is the rate at which every
stimulus has its share: the smallest of their rates over their weights, because requests beyond a
share do not help. In turn, one kind follows the other, and the figure is the harmonic mean of their
rates, weighted by requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

#: How the streams of a class run: at the same time, with shares kept or not, or one after another.
Order = Literal["in proportion", "together", "in turn"]
USUAL_ORDER: Final = "in proportion"


@dataclass(frozen=True)
class Stream:
    """What one program of a class sends.

    Attributes
    ----------
    name
        Unique in its class.
    source
        Source of its numbers; ``assumed`` if nobody measured them.
    weight
        Share of the class's requests.
    sizes
        Request sizes in bytes, with shares of requests.
    read_ratio
        Share of reads, 0 to 1.
    random_ratio
        Share of its requests that are random; the rest is sequential, and its own stimulus.
    zones
        Share of accesses and share of the range, from the range's start, for random accesses.
    threads, queue_depth
        Number of threads, and outstanding requests of each.
    content
        Kind of written data; empty for the test's setting.
    is_forced
        Whether writes must survive a loss of power even if the drive's cache is on.
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
    """A stimulus of a class: the random or the sequential requests of a stream.

    Attributes
    ----------
    name
        The stream's name, with the order if it has both.
    stream
        The stream.
    is_random
        Which of its requests.
    weight
        Share of the class's requests.
    threads
        Number of threads that send it.
    """

    name: str
    stream: Stream
    is_random: bool
    weight: float
    threads: int

    def stimulus_values(self) -> dict[str, Any]:
        """Return what `Stimulus` takes in addition to its range and the settings."""
        stream = self.stream
        values: dict[str, Any] = {
            "sizes": stream.sizes,
            "read_ratio": stream.read_ratio,
            "is_random": self.is_random,
            "threads": self.threads,
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
    streams_run
        ``in proportion``, ``together`` or ``in turn``.
    """

    name: str
    title: str
    summary: str
    source: str
    streams: tuple[Stream, ...]
    streams_run: Order = USUAL_ORDER

    @property
    def is_at_once(self) -> bool:
        """Return whether its streams run at the same time."""
        return self.streams_run != "in turn"

    @property
    def shares(self) -> tuple[float, ...]:
        """Return the shares of requests that its parts keep; empty if none waits for others."""
        holds = self.streams_run == "in proportion"
        return tuple(part.weight for part in self.parts) if holds else ()

    @property
    def parts(self) -> list[Part]:
        """Return the stimuli, in order."""
        return [part for stream in self.streams for part in parts_of(stream, self.streams_run)]

    @property
    def weights(self) -> tuple[tuple[int, float, float], ...]:
        """Return block size in bytes, share of reads and share of requests, for a figure of merit.

        Larger sizes come first, and the shares add up to 1. Order does not matter here: the IOPS
        test, whose cells are weighted, is random throughout.
        """
        shares: dict[tuple[int, float], float] = {}
        for stream in self.streams:
            for size, share in stream.sizes:
                key = size, stream.read_ratio
                shares[key] = shares.get(key, 0.0) + stream.weight * share
        return tuple((*key, shares[key]) for key in sorted(shares, reverse=True))

    def figure(self, rates: Sequence[float]) -> float:
        """Return requests per second of the class from those of its parts; 0 if one is 0."""
        pairs = list(zip(rates, (part.weight for part in self.parts), strict=True))
        if any(rate <= 0 for rate in rates):
            return 0.0
        if self.shares:
            return math.fsum(rates)
        if self.is_at_once:
            return min(rate / weight for rate, weight in pairs)
        return 1 / math.fsum(weight / rate for rate, weight in pairs)

    def to_json(self) -> dict[str, Any]:
        """Return the attributes, whose names carry their units."""
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
        # Runs of earlier versions lack this key: their streams ran in turn.
        order = data.get("streams_run", "in turn")
        texts = {name: data[name] for name in ("name", "title", "summary", "source")}
        return cls(**texts, streams=streams, streams_run=order)


def parts_of(stream: Stream, order: Order) -> Iterator[Part]:
    """Return the stimuli of a stream: its random requests, then its sequential ones.

    At the same time both have their own threads, by their shares, at least one each; in turn each
    has all of them.
    """
    random = stream.random_ratio
    if not 0 < random < 1:
        yield Part(stream.name, stream, random == 1, stream.weight, stream.threads)
        return
    threads = [stream.threads] * 2
    if order != "in turn":
        first = min(max(round(stream.threads * random), 1), max(stream.threads - 1, 1))
        threads = [first, max(stream.threads - first, 1)]
    yield Part(f"{stream.name}, random", stream, True, stream.weight * random, threads[0])
    in_order = stream.weight * (1 - random)
    yield Part(f"{stream.name}, in order", stream, False, in_order, threads[1])
