"""The results of one drive over all repetitions: each quality as a mean with its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Final

from drivelab.drives.lateness import LATE_SHARE
from drivelab.exhibits.quantities import METRICS, Metric
from drivelab.student import Interval, mean_interval
from drivelab.workloads.trace import STREAM, Trace

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.drives.open_drive import DriveKind

#: A drive cannot keep up if it serves less than this share of the requests that arrive. Random
#: arrivals scatter by less over the numbers that are counted here.
_SERVED_RATIO: Final = 0.98
#: A queue that grows all the time makes the last quarter of a run wait more than twice as long as
#: the second one; other causes rarely do.
_GROWN_RATIO: Final = 1.8
_LEAST_BATCHES: Final = 16


@dataclass(frozen=True)
class Quality:
    """A quality that drives can be ranked by.

    Attributes
    ----------
    name
        Name on the command line.
    metric
        The metric, with its name and format.
    of
        Returns the value of a measurement, in the base unit.
    """

    name: str
    metric: Metric
    of: Callable[[Measurement], float]

    @property
    def is_less_better(self) -> bool:
        """Whether a smaller value is the better one."""
        return self.metric.lower_is_better


_P99: Final = Metric("latency_ns_p99", "99 % latency", "ms", 1e-6, True)

#: By the name on the command line, in the order of tables.
QUALITIES: Final[dict[str, Quality]] = {
    quality.name: quality
    for quality in (
        Quality("latency", METRICS["latency_ns_mean"], lambda one: one.latency_ns_mean),
        Quality("p99", _P99, lambda one: float(one.percentile_ns(99))),
        Quality(
            "bandwidth",
            METRICS["bandwidth_bytes_per_second"],
            lambda one: one.bandwidth_bytes_per_second,
        ),
        Quality("throughput", METRICS["iops"], lambda one: one.iops),
    )
}


@dataclass(frozen=True)
class Shortfall:
    """A stream that arrives faster than the drive serves it, or a trace that was sent late.

    Attributes
    ----------
    stream
        Name of the stream.
    asked_iops, served_iops
        Requests per second that arrive, and that complete. For a trace, means over all of it;
        nothing is asked if all requests arrive at once.
    late_ratio, late_ns_max
        For a trace: the share of late requests, and the delay of the latest one.
    """

    stream: str
    asked_iops: float | None
    served_iops: float
    late_ratio: float | None = None
    late_ns_max: int | None = None


@dataclass(frozen=True)
class Candidate:
    """A drive and its results.

    Attributes
    ----------
    drive
        Name of the drive.
    kind
        Kind of the drive.
    capacity_bytes
        Bytes that workloads may address.
    measurements
        Measurements of the repetitions, in order; at least two, or one if `is_exact`.
    varies
        Whether the drive varies from run to run, as real ones do and simulated ones with
        ``[variability]``.
    is_exact
        Whether there is only one measurement because every repetition would give the same.
    """

    drive: str
    kind: DriveKind
    capacity_bytes: int
    measurements: tuple[Measurement, ...]
    varies: bool = False
    is_exact: bool = False

    def values(self, quality: Quality) -> tuple[float, ...]:
        """Return a quality's value in each repetition, in the base unit."""
        return tuple(map(quality.of, self.measurements))

    def interval(self, quality: Quality) -> Interval:
        """Return the mean of a quality over the repetitions, and its 95 % interval."""
        return self.interval_of(self.values(quality))

    def interval_of(self, values: Sequence[float]) -> Interval:
        """Return the mean of one value per repetition, and its 95 % interval."""
        if self.is_exact:
            (value,) = values
            return Interval(value, value, value)
        return mean_interval(values)

    @cached_property
    def late_ratio(self) -> float | None:
        """Share of a trace's requests that were late; ``None`` if requests have no times."""
        late = [each.lateness for one in self.measurements for each in one.streams]
        found = [each.late_ratio for each in late if each is not None]
        return fmean(found) if found else None

    @cached_property
    def asked_iops(self) -> float | None:
        """Requests per second that arrive; ``None`` if some requests wait for the drive."""
        workload = self.measurements[0].workload
        if isinstance(workload, Trace):
            requests, lasting_ns = sum(workload.commands.values()), workload.lasting_ns
            return 1e9 * requests / lasting_ns if lasting_ns else None
        rates = [rate for _, rate in _open_streams(self.measurements[0])]
        return None if None in rates else sum(rate for rate in rates if rate is not None)

    @cached_property
    def shortfalls(self) -> tuple[Shortfall, ...]:
        """The streams that arrive faster than the drive serves them: their queues grow forever."""
        if isinstance(self.measurements[0].workload, Trace):
            return self._lateness()
        found = []
        for place, (name, rate) in enumerate(_open_streams(self.measurements[0])):
            if rate is None:
                continue
            served = mean_interval([one.streams[place].iops for one in self.measurements])
            most = served.mean if served.high is None else served.high
            if most < _SERVED_RATIO * rate or self._grows:
                found.append(Shortfall(name, rate, served.mean))
        return tuple(found)

    def _lateness(self) -> tuple[Shortfall, ...]:
        """Return how late a trace was, if so late that it became a different workload."""
        if self.late_ratio is None or self.late_ratio <= LATE_SHARE:
            return ()
        late = [each.lateness for one in self.measurements for each in one.streams]
        latest = max(each.late_ns_max for each in late if each is not None)
        served = fmean(one.iops for one in self.measurements)
        return (Shortfall(STREAM, self.asked_iops, served, self.late_ratio, latest),)

    @cached_property
    def _grows(self) -> bool:
        """Whether requests wait longer and longer in every repetition."""
        return all(map(_has_growing_queue, self.measurements))


def _open_streams(measurement: Measurement) -> list[tuple[str, float | None]]:
    """Return the names of streams, with the rate of each that arrives at a rate."""
    asked = [stream.described() for stream in measurement.workload.streams()]
    return [(each["name"], each["rate_iops"]) for each in asked]


def _has_growing_queue(measurement: Measurement) -> bool:
    means: Sequence[float] = () if measurement.batches is None else measurement.batches.means_ns
    if len(means) < _LEAST_BATCHES:
        return False
    quarter = len(means) // 4
    early, late = fmean(means[quarter : 2 * quarter]), fmean(means[-quarter:])
    return late > _GROWN_RATIO * early
