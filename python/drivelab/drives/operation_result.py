"""The results of one kind of request, such as reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from drivelab._core import HISTOGRAM_BINS, histogram_percentile
from drivelab.errors import RunError, UsageError
from drivelab.workloads.given import is_number, is_whole, shown


@dataclass(frozen=True)
class OperationResult:
    """The results of one kind of request: reads, writes or trims.

    Attributes
    ----------
    requests, bytes
        Completed requests, at least one, and the bytes that they moved, or trimmed.
    latency_ns_mean, latency_ns_min, latency_ns_max
        Exact, in ns.
    histogram
        Latencies counted in fio's layout: bin to count, as `drivelab._core.histogram_bin`
        numbers them; the counts add up to `requests`.

    Raises
    ------
    RunError
        When the numbers contradict each other: such a result is never stored.
    """

    #: The fewest bytes that one or more requests can have moved.
    least_bytes: ClassVar[int] = 1

    requests: int
    bytes: int
    latency_ns_mean: float
    latency_ns_min: int
    latency_ns_max: int
    histogram: dict[int, int] = field(repr=False)

    def __post_init__(self) -> None:
        low, mean, high = self.latency_ns_min, self.latency_ns_mean, self.latency_ns_max
        counts = self.histogram.values()
        counted = sum(counts)
        claims = (
            (self.requests >= 1, f"{self.requests} requests completed"),
            (self.bytes >= self.least_bytes, f"{self.requests} requests moved {self.bytes} bytes"),
            # A mean may be rounded beyond the ends; half a nanosecond exceeds any rounding.
            (
                low >= 0 and low - 0.5 <= mean <= high + 0.5,
                f"mean latency {mean} ns is not between {low} and {high} ns",
            ),
            (
                counted == self.requests and min(counts, default=0) >= 0,
                f"the histogram counts {counted} of {self.requests} requests",
            ),
            (
                all(0 <= number < HISTOGRAM_BINS for number in self.histogram),
                f"a histogram bin is outside 0 to {HISTOGRAM_BINS - 1}",
            ),
        )
        for holds, problem in claims:
            if not holds:
                raise RunError(f"the drive's answer contradicts itself: {problem}")

    def percentile_ns(self, percent: float) -> int:
        """Return the latency in ns that `percent` of a hundred requests do not exceed.

        fio's definition, clamped to the exact minimum and maximum: see `percentile_ns` of this
        module.
        """
        return percentile_ns(self.histogram, percent, self.latency_ns_min, self.latency_ns_max)

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit."""
        return {
            "requests": self.requests,
            "bytes": self.bytes,
            "latency_ns_mean": self.latency_ns_mean,
            "latency_ns_min": self.latency_ns_min,
            "latency_ns_max": self.latency_ns_max,
            "latency_ns_histogram": {
                str(number): self.histogram[number] for number in sorted(self.histogram)
            },
        }

    @classmethod
    def from_json(cls, data: object) -> OperationResult:
        """Read what `to_json` wrote; anything else is a `UsageError`."""
        values = object_of(data, "an operation's result")
        try:
            return cls(
                requests=whole(values["requests"]),
                bytes=whole(values["bytes"]),
                latency_ns_mean=number(values["latency_ns_mean"]),
                latency_ns_min=whole(values["latency_ns_min"]),
                latency_ns_max=whole(values["latency_ns_max"]),
                histogram={
                    int(place): whole(count)
                    for place, count in object_of(
                        values["latency_ns_histogram"], "a histogram"
                    ).items()
                },
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise UsageError(f"this is not an operation's result: {reason_of(error)}") from error
        except RunError as error:
            raise UsageError(f"this is not an operation's result: {error}") from error


@dataclass(frozen=True)
class CommandResult(OperationResult):
    """Results of commands without data: a flush, a zone reset or a refusal moves no bytes."""

    least_bytes: ClassVar[int] = 0


_Result = TypeVar("_Result", bound=OperationResult)


def added_up(parts: Sequence[_Result | None]) -> _Result | None:
    """Add up the results of one direction in several streams; ``None`` if no stream had any."""
    done = [part for part in parts if part is not None]
    if len(done) < 2:
        # A mean that is multiplied and divided is rounded.
        return done[0] if done else None
    histogram: dict[int, int] = {}
    for part in done:
        for number, count in part.histogram.items():
            histogram[number] = histogram.get(number, 0) + count
    requests = sum(part.requests for part in done)
    return type(done[0])(
        requests=requests,
        bytes=sum(part.bytes for part in done),
        latency_ns_mean=sum(part.latency_ns_mean * part.requests for part in done) / requests,
        latency_ns_min=min(part.latency_ns_min for part in done),
        latency_ns_max=max(part.latency_ns_max for part in done),
        histogram=histogram,
    )


def percentile_ns(
    histogram: dict[int, int], percent: float, latency_ns_min: int, latency_ns_max: int
) -> int:
    """Return a percentile of latencies counted in fio's layout.

    The result is the middle of the first bin at which the cumulative count reaches ``percent / 100
    * count``, as in fio. It is then clamped to the exact minimum and maximum. The error is at most
    1/128 of the value, on real drives below fio's last bin (17 s).

    Parameters
    ----------
    histogram
        Bin to count; not empty.
    percent
        0 to 100.
    latency_ns_min, latency_ns_max
        The exact ends, in ns.
    """
    return min(max(histogram_percentile(histogram, percent), latency_ns_min), latency_ns_max)


def whole(value: object) -> int:
    """Take a whole number of JSON; `TypeError` for anything else."""
    if not is_whole(value):
        raise TypeError(f"{shown(value)} is not a whole number")
    return value


def number(value: object) -> float:
    """Take a number of JSON; `TypeError` for anything else."""
    if not is_number(value):
        raise TypeError(f"{shown(value)} is not a number")
    return float(value)


def reason_of(error: Exception) -> str:
    """Say in a few words why a value could not be read."""
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    text = " ".join(str(error).split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def object_of(data: object, what: str) -> dict[str, Any]:
    """Take an object of JSON; `UsageError` for anything else."""
    if not isinstance(data, dict):
        raise UsageError(f"{what} is an object; found {shown(data)}")
    return data
