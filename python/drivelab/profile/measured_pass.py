"""A pass over a file, measured: what a profile takes of its measurement (Boito et al. 2015).

Every drive measures a pass as any other workload; access times, and what a cache absorbed of it,
follow from its duration and from when its requests completed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from drivelab._core import histogram_bin
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.plan import MeasurementPlan
from drivelab.workloads.whole_pass import WholePass

# Share of what a cache absorbs; its last tenth cannot be separated from noise.
_NEARLY: Final = 0.9


@dataclass(frozen=True)
class MeasuredPass:
    """How long one pass took.

    Attributes
    ----------
    index
        Key of its random numbers.
    whole_pass
        What was transferred.
    duration_ns
        From the first request until the last is complete. A write is complete when the drive
        says so: what its cache holds then is not waited for, as IOzone does not without ``-e``
        or ``-o``.
    variability_factor
        By how much it took longer than the drive's own times; ``None`` where that is unknown.
    requests_per_mark, marks_ns
        The time from the beginning when each so many requests were complete, at most 64 of them;
        0 and nothing where nobody knows.
    """

    index: int
    whole_pass: WholePass
    duration_ns: int
    variability_factor: float | None
    requests_per_mark: int = 0
    marks_ns: tuple[int, ...] = ()

    @classmethod
    def of(cls, measurement: Measurement) -> MeasuredPass:
        """Take it of the measurement of a pass."""
        whole_pass, batches = measurement.workload, measurement.batches
        if not isinstance(whole_pass, WholePass):
            raise TypeError(f"measurement {measurement.index} is of {whole_pass.describe()}")
        marks = (0, ()) if batches is None else (batches.requests_per_batch, batches.ends_ns)
        factor = measurement.extra.get("variability_factor")
        return cls(measurement.index, whole_pass, measurement.duration_ns, factor, *marks)

    @property
    def bandwidth_bytes_per_second(self) -> float:
        """Bytes transferred over the time."""
        return self.whole_pass.transferred_bytes * 1e9 / self.duration_ns

    @property
    def access_time_ns(self) -> float:
        """Time of a request in ns, mean over the whole file.

        After a partial pass the requests that were not sent are taken for those of the later half
        of what was sent, or, without `marks_ns`, for the mean.
        """
        sent, whole = self.whole_pass.requests, self.whole_pass.whole_requests
        middle = len(self.marks_ns) // 2
        if sent == whole or middle == 0:
            return self.duration_ns / sent
        late_ns = self.duration_ns - self.marks_ns[middle - 1]
        late_requests = sent - middle * self.requests_per_mark
        return (self.duration_ns + (whole - sent) * late_ns / late_requests) / whole

    @property
    def absorbed_bytes(self) -> float:
        """What a cache took at the beginning without the time that it takes in the later half.

        0 if there are too few marks to see it.
        """
        return max(self._absorbed_marks(), default=0.0) * self._mark_bytes

    @property
    def filling_bytes(self) -> int:
        """What was transferred until a cache had taken nine tenths of `absorbed_bytes`.

        A cache that drains while it fills takes long to fill: it is several times what is absorbed.
        """
        absorbed = self._absorbed_marks()
        nearly = _NEARLY * max(absorbed, default=0.0)
        return next((p for p, a in enumerate(absorbed) if a >= nearly), 0) * self._mark_bytes

    @property
    def _mark_bytes(self) -> int:
        return self.requests_per_mark * self.whole_pass.request_bytes

    def _absorbed_marks(self) -> list[float]:
        """Return what was absorbed until each mark of the earlier half, in marks."""
        marks = (0, *self.marks_ns)
        middle = len(marks) // 2
        if middle < 2:
            return []
        usual_ns = (marks[-1] - marks[middle]) / (len(marks) - 1 - middle)
        return [place - mark / usual_ns for place, mark in enumerate(marks[: middle + 1])]


class PassDrive(Protocol):
    """A drive that is asked for passes alone."""

    def measure(
        self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Measure each pass, in order; see `drivelab.drives.protocol.Drive.measure`."""
        ...


def measured_passes(
    drive: PassDrive, work: Sequence[tuple[int, WholePass]], *, seed: int
) -> Iterator[MeasuredPass]:
    """Measure passes, each with its index, one after the other.

    Nothing of the next begins on a real drive before it is asked for.
    """
    for one in drive.measure(work, MeasurementPlan(seed=seed)):
        yield MeasuredPass.of(one)


def evenly(
    index: int, one: WholePass, duration_ns: int, *, factor: float | None = None
) -> Measurement:
    """Return the measurement of a pass of which nothing but its duration is known.

    Each request takes the mean.
    """
    mean = duration_ns / one.requests
    ends = math.floor(mean), math.ceil(mean)
    done = OperationResult(
        one.requests, one.transferred_bytes, mean, *ends, {histogram_bin(ends[0]): one.requests}
    )
    return Measurement(
        index=index,
        workload=one,
        duration_ns=duration_ns,
        read=done if one.direction == "read" else None,
        write=done if one.direction == "write" else None,
        extra={} if factor is None else {"variability_factor": factor},
    )
