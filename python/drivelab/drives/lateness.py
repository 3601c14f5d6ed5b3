"""How late requests with recorded times were sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab import _core
from drivelab.drives.operation_result import number, object_of, whole
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A request sent later than this was late: longer than timers and schedulers of a host take, and
#: long enough for the requests of a busy millisecond to have run together.
LATE_NS: Final = 1_000_000
#: A replay with a larger share of late requests is reported as late.
LATE_SHARE: Final = 0.05


@dataclass(frozen=True)
class Lateness:
    """How long after their times requests were sent.

    Attributes
    ----------
    requests
        Number of requests sent.
    late_ns_mean, late_ns_max
        Mean and maximum over all of them; those in time count as 0.
    histogram
        Counts by bin, in the layout of latencies.
    """

    requests: int
    late_ns_mean: float
    late_ns_max: int
    histogram: Mapping[int, int]

    def percentile_ns(self, percent: float) -> int:
        """Return the lateness that `percent` of a hundred requests do not exceed."""
        return _core.histogram_percentile(dict(self.histogram), percent)

    @property
    def late_ratio(self) -> float:
        """Share of the requests that were later than `LATE_NS`, to a bin of the histogram."""
        late = (
            count
            for bin_, count in self.histogram.items()
            if _core.histogram_range(bin_)[0] > LATE_NS
        )
        return sum(late) / self.requests if self.requests else 0.0

    @property
    def was_late(self) -> bool:
        """Return whether it was late enough to be another workload than the recorded one."""
        return self.late_ratio > LATE_SHARE

    def caution(self) -> str | None:
        """Return a caution that it was late; ``None`` if it was not."""
        if not self.was_late:
            return None
        return (
            f"{100 * self.late_ratio:.3g} % of the requests were sent more than "
            f"{format_duration_ns(LATE_NS)} late: the drive did not keep up with the recorded "
            "times, and it was asked for something else than was recorded"
        )

    def describe(self) -> str:
        """Return the distribution in a line."""
        if self.late_ns_max == 0:
            return "every request was sent in time"
        late = [(percent, self.percentile_ns(percent)) for percent in (50.0, 99.0)]
        reported = [
            f"{format_duration_ns(late_ns) if late_ns else 'in time'} at {percent:g} %"
            for percent, late_ns in late
        ]
        return f"{', '.join(reported)}, at most {format_duration_ns(self.late_ns_max)}"

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit, and what follows from them."""
        return {
            "requests": self.requests,
            "late_ns_mean": self.late_ns_mean,
            "late_ns_p50": self.percentile_ns(50.0),
            "late_ns_p99": self.percentile_ns(99.0),
            "late_ns_max": self.late_ns_max,
            "late_ratio": self.late_ratio,
            "was_late": self.was_late,
            "late_ns_histogram": {str(bin_): count for bin_, count in self.histogram.items()},
        }

    @classmethod
    def from_json(cls, data: object) -> Lateness:
        """Read what `to_json` wrote.

        Raises
        ------
        UsageError, KeyError, TypeError
            For anything else.
        """
        values = object_of(data, "a lateness")
        bins = object_of(values["late_ns_histogram"], "a histogram")
        histogram = {int(bin_): whole(count) for bin_, count in bins.items()}
        requests = whole(values["requests"])
        if sum(histogram.values()) != requests or requests < 1:
            raise UsageError(f"the lateness of {requests} requests counts others")
        return cls(
            requests, number(values["late_ns_mean"]), whole(values["late_ns_max"]), histogram
        )
