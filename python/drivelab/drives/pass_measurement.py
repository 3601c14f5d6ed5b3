"""Passes over a file, measured, and what they say of a drive (Boito et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from drivelab.workloads.whole_pass import WholePass

# Of what a cache absorbs; the last tenth is hard to tell from its noise.
_NEARLY: Final = 0.9


@dataclass(frozen=True)
class PassMeasurement:
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

        0 where marks are too few to tell.
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
        """Give what was absorbed until each mark of the earlier half, in marks."""
        marks = (0, *self.marks_ns)
        middle = len(marks) // 2
        if middle < 2:
            return []
        usual_ns = (marks[-1] - marks[middle]) / (len(marks) - 1 - middle)
        return [place - mark / usual_ns for place, mark in enumerate(marks[: middle + 1])]
