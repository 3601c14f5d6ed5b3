"""How sure a mean latency is: the means of batches of consecutive requests.

Latencies of neighbouring requests are correlated (they wait for the same dies), so their scatter
understates the uncertainty of the mean. Means of long batches are nearly independent. If they are
not, the drive is still changing, and the half-width is widened.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.operation_result import number, object_of, reason_of, whole
from drivelab.errors import RunError, UsageError
from drivelab.workloads.given import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_BATCHES: Final = 64


@dataclass(frozen=True)
class LatencyBatches:
    """Batches of consecutive completions inside the window.

    Attributes
    ----------
    requests_per_batch
        Completed requests per batch; a remainder at the end is in no batch.
    means_ns
        Mean latency of each, in ns; at most `MOST_BATCHES`.
    ends_ns
        When each batch's last request completed, in ns from the opening of the window; never
        falling.
    correlation
        Correlation of neighbouring batches (lag 1), -1 to 1; 0 with fewer than two batches.
    half_width_ns
        Half-width of the 95 % confidence interval of the mean latency, in ns, by Student's t over
        batch means, widened if these are correlated; ``None`` with fewer than 16 batches.

    Raises
    ------
    RunError
        When the numbers contradict each other.
    """

    requests_per_batch: int
    means_ns: tuple[float, ...] = field(repr=False)
    ends_ns: tuple[int, ...] = field(repr=False)
    correlation: float
    half_width_ns: float | None

    def __post_init__(self) -> None:
        half_width = self.half_width_ns
        claims = (
            (self.requests_per_batch >= 1, f"batches of {self.requests_per_batch} requests"),
            (
                len(self.means_ns) == len(self.ends_ns) <= MOST_BATCHES,
                f"{len(self.means_ns)} means of {len(self.ends_ns)} batches",
            ),
            (
                all(math.isfinite(mean) and mean >= 0 for mean in self.means_ns),
                "a batch has an impossible mean latency",
            ),
            (
                all(a <= b for a, b in zip((0, *self.ends_ns), self.ends_ns, strict=False)),
                "batches end out of order",
            ),
            (-1 <= self.correlation <= 1, f"a correlation of {self.correlation}"),
            (
                half_width is None or (math.isfinite(half_width) and half_width >= 0),
                f"a half-width of {half_width} ns",
            ),
        )
        for holds, problem in claims:
            if not holds:
                raise RunError(f"the drive's answer contradicts itself: {problem}")

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit."""
        return {
            "requests_per_batch": self.requests_per_batch,
            "means_ns": list(self.means_ns),
            "ends_ns": list(self.ends_ns),
            "correlation": self.correlation,
            "half_width_ns": self.half_width_ns,
        }

    @classmethod
    def from_json(cls, data: object) -> LatencyBatches:
        """Read what `to_json` wrote; anything else is a `UsageError`."""
        values = object_of(data, "what batches of latencies say")
        try:
            half_width = values["half_width_ns"]
            return cls(
                requests_per_batch=whole(values["requests_per_batch"]),
                means_ns=tuple(map(number, _listed(values["means_ns"]))),
                ends_ns=tuple(map(whole, _listed(values["ends_ns"]))),
                correlation=number(values["correlation"]),
                half_width_ns=None if half_width is None else number(half_width),
            )
        except (KeyError, TypeError, OverflowError, RunError) as error:
            raise UsageError(f"these are not latency batches: {reason_of(error)}") from error


def _listed(value: object) -> Sequence[object]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{shown(value)} is not a list")
    return value
