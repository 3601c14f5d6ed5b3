"""What a measurement found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from drivelab._core import HISTOGRAM_BINS
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.completed import Completed, percentile_ns
from drivelab.drives.plan import MeasurementPlan, StoppedBy
from drivelab.errors import RunError, UsageError
from drivelab.workloads.characteristics import Characteristics, shown

__all__ = ["Measurement", "MeasurementPlan", "OperationResult", "percentile_ns"]


@dataclass(frozen=True)
class OperationResult:
    """What the requests of one direction did.

    Attributes
    ----------
    requests, bytes
        Completed requests, at least one, and the bytes that they moved.
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
            (self.bytes >= 1, f"{self.requests} requests moved {self.bytes} bytes"),
            # A mean may be rounded past the ends; half a nanosecond is more than any rounding.
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
                f"a histogram bin lies outside 0 to {HISTOGRAM_BINS - 1}",
            ),
        )
        for holds, problem in claims:
            if not holds:
                raise RunError(f"the drive's answer contradicts itself: {problem}")

    def percentile_ns(self, percent: float) -> int:
        """Return the latency in ns that `percent` of a hundred requests do not exceed.

        fio's definition, kept between the exact minimum and maximum: see `percentile_ns`
        of this module.
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
        values = _object(data, "an operation's result")
        try:
            return cls(
                requests=_whole(values["requests"]),
                bytes=_whole(values["bytes"]),
                latency_ns_mean=float(values["latency_ns_mean"]),
                latency_ns_min=_whole(values["latency_ns_min"]),
                latency_ns_max=_whole(values["latency_ns_max"]),
                histogram={
                    int(number): _whole(count)
                    for number, count in values["latency_ns_histogram"].items()
                },
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UsageError(f"this is no operation's result: {_reason(error)}") from error
        except RunError as error:
            raise UsageError(f"this is no operation's result: {error}") from error


def added_up(parts: Sequence[OperationResult | None]) -> OperationResult | None:
    """Add up what one direction did in several streams; ``None`` where it did nothing in any."""
    done = [part for part in parts if part is not None]
    if len(done) < 2:
        # A mean that is multiplied and divided is rounded.
        return done[0] if done else None
    histogram: dict[int, int] = {}
    for part in done:
        for number, count in part.histogram.items():
            histogram[number] = histogram.get(number, 0) + count
    requests = sum(part.requests for part in done)
    return OperationResult(
        requests=requests,
        bytes=sum(part.bytes for part in done),
        latency_ns_mean=sum(part.latency_ns_mean * part.requests for part in done) / requests,
        latency_ns_min=min(part.latency_ns_min for part in done),
        latency_ns_max=max(part.latency_ns_max for part in done),
        histogram=histogram,
    )


@dataclass(frozen=True)
class Measurement(Completed):
    """One workload on one drive.

    Attributes
    ----------
    index
        Its place in the campaign, and part of the key of its random numbers.
    characteristics
        The workload.
    duration_ns
        From the first counted request to the last completion, in the drive's time.
    read, write
        What each direction did; ``None`` where nothing was asked of it. At least one is there.
    extra
        What only some drives know, such as ``write_amplification_ratio``.
    batches
        What says how sure the mean latency is; ``None`` where a drive does not tell.
    stopped_by
        What closed the window: ``requests``, ``seconds``, ``half_width`` (reached as asked)
        or ``max_requests`` (not reached).
    """

    index: int
    characteristics: Characteristics
    duration_ns: int
    read: OperationResult | None
    write: OperationResult | None
    extra: dict[str, float] = field(default_factory=dict)
    batches: LatencyBatches | None = None
    stopped_by: StoppedBy = "requests"

    def __post_init__(self) -> None:
        if self.stopped_by not in get_args(StoppedBy):
            raise RunError(
                f"measurement {self.index} was stopped by {shown(self.stopped_by)}; allowed: "
                + ", ".join(get_args(StoppedBy))
            )
        if self.read is None and self.write is None:
            raise RunError(f"measurement {self.index} completed no request")
        if self.duration_ns < 1:
            raise RunError(f"measurement {self.index} took {self.duration_ns} ns")

    @property
    def half_width_ratio(self) -> float | None:
        """95 % half-width of the mean latency over that mean; ``None`` where it is not known."""
        if self.batches is None or self.batches.half_width_ns is None:
            return None
        return self.batches.half_width_ns / self.latency_ns_mean if self.latency_ns_mean else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit."""
        return {
            "index": self.index,
            "characteristics": self.characteristics.to_json(),
            "duration_ns": self.duration_ns,
            "read": None if self.read is None else self.read.to_json(),
            "write": None if self.write is None else self.write.to_json(),
            "extra": {name: self.extra[name] for name in sorted(self.extra)},
            "batches": None if self.batches is None else self.batches.to_json(),
            "stopped_by": self.stopped_by,
        }

    @classmethod
    def from_json(cls, data: object) -> Measurement:
        """Read what `to_json` wrote; anything else is a `UsageError`."""
        values = _object(data, "a measurement")
        try:
            parts = {
                name: None if values[name] is None else OperationResult.from_json(values[name])
                for name in ("read", "write")
            }
            return cls(
                index=_whole(values["index"]),
                characteristics=Characteristics.from_json(values["characteristics"]),
                duration_ns=_whole(values["duration_ns"]),
                read=parts["read"],
                write=parts["write"],
                extra={str(name): float(value) for name, value in values["extra"].items()},
                batches=(
                    None
                    if values["batches"] is None
                    else LatencyBatches.from_json(values["batches"])
                ),
                stopped_by=values["stopped_by"],
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UsageError(f"this is no measurement: {_reason(error)}") from error
        except RunError as error:
            raise UsageError(f"this is no measurement: {error}") from error


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{shown(value)} is no whole number")
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    text = " ".join(str(error).split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def _object(data: object, what: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise UsageError(f"{what} is an object; found {type(data).__name__}")
    return data
