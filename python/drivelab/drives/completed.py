"""Rates and latencies of the requests that a drive completed in a time."""

from __future__ import annotations

from drivelab.drives.operation_result import OperationResult, percentile_ns


class Completed:
    """Rates and latencies over all requests: reads, writes and other kinds.

    Attributes
    ----------
    duration_ns
        Time in which they completed, ns.
    read, write
        Results of each direction; ``None`` if it had no requests.
    """

    duration_ns: int
    read: OperationResult | None
    write: OperationResult | None

    @property
    def operations(self) -> tuple[OperationResult, ...]:
        """Return the results of each kind of request that occurred."""
        return tuple(part for part in (self.read, self.write) if part is not None)

    @property
    def requests(self) -> int:
        """Completed requests of every kind."""
        return sum(part.requests for part in self.operations)

    @property
    def bytes(self) -> int:
        """Return the bytes that reads and writes moved; trims and write zeroes move none."""
        return sum(part.bytes for part in (self.read, self.write) if part is not None)

    @property
    def latency_ns_mean(self) -> float:
        """Mean latency, in ns; there is at least one request."""
        total = sum(part.latency_ns_mean * part.requests for part in self.operations)
        return total / self.requests

    @property
    def latency_ns_max(self) -> int:
        """The longest latency, in ns; there is at least one request."""
        return max(part.latency_ns_max for part in self.operations)

    @property
    def bandwidth_bytes_per_second(self) -> float:
        """The moved bytes over the duration."""
        return self.bytes * 1e9 / self.duration_ns

    @property
    def iops(self) -> float:
        """Requests of every kind a second."""
        return self.requests * 1e9 / self.duration_ns

    @property
    def histogram(self) -> dict[int, int]:
        """Latencies counted in fio's layout, bin to count."""
        histogram: dict[int, int] = {}
        for part in self.operations:
            for number, count in part.histogram.items():
                histogram[number] = histogram.get(number, 0) + count
        return histogram

    def percentile_ns(self, percent: float) -> int:
        """Return the latency in ns that `percent` of a hundred requests do not exceed."""
        low = min(part.latency_ns_min for part in self.operations)
        return percentile_ns(self.histogram, percent, low, self.latency_ns_max)
