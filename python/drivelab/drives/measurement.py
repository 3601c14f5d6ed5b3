"""What a measurement found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

from drivelab.drives.batches import LatencyBatches
from drivelab.drives.completed import Completed
from drivelab.drives.operation_result import OperationResult, object_of, reason_of, whole
from drivelab.drives.plan import StoppedBy
from drivelab.errors import RunError, UsageError
from drivelab.workloads.characteristics import Characteristics, shown


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
        values = object_of(data, "a measurement")
        try:
            parts = {
                name: None if values[name] is None else OperationResult.from_json(values[name])
                for name in ("read", "write")
            }
            return cls(
                index=whole(values["index"]),
                characteristics=Characteristics.from_json(values["characteristics"]),
                duration_ns=whole(values["duration_ns"]),
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
            raise UsageError(f"this is no measurement: {reason_of(error)}") from error
        except RunError as error:
            raise UsageError(f"this is no measurement: {error}") from error
