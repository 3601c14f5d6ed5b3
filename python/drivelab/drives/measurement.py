"""What a drive did under a workload, for any drive and any workload."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

from drivelab.drives.batches import LatencyBatches
from drivelab.drives.completed import Completed
from drivelab.drives.operation_result import (
    OperationResult,
    number,
    object_of,
    reason_of,
    whole,
)
from drivelab.drives.plan import StoppedBy
from drivelab.drives.stream_result import StreamResult
from drivelab.errors import RunError, UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.given import shown
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.workload import (
    Workload,
    names_of_streams,
    workload_json,
    workload_of_json,
)


@dataclass(frozen=True)
class Measurement(Completed):
    """One workload on one drive.

    Attributes
    ----------
    index
        Its position in the campaign, the profile or the session, and part of the key of its random
        numbers.
    workload
        The workload that was sent.
    duration_ns
        From the first counted request to the last completion, in the drive's time.
    read, write
        Results of reads and writes over all streams; ``None`` for a direction without any. At least
        one of them or another result of a stream exists, except for stimuli for a time in which
        nothing completed.
    extra
        Values that only some drives have, such as ``write_amplification_ratio``, ``energy_joules``,
        and ``began_unix_seconds`` for steps on real drives.
    batches
        How sure the mean latency is, and when its requests completed; ``None`` if the drive does
        not report it.
    stopped_by
        What closed the window: ``requests`` (also the end of a pass), ``seconds``, ``bytes``,
        ``half_width`` (reached as asked) or ``max_requests`` (not reached, also at the plan's
        ``burst_ratio``).
    streams
        What each stream of the workload did in that duration, including trims and flushes, if there
        are several streams or they have names or lists: see
        `drivelab.workloads.workload.told_by_stream`. Else empty; also empty in runs of older
        versions.
    """

    index: int
    workload: Workload
    duration_ns: int
    read: OperationResult | None
    write: OperationResult | None
    extra: dict[str, float] = field(default_factory=dict)
    batches: LatencyBatches | None = None
    stopped_by: StoppedBy = "requests"
    streams: tuple[StreamResult, ...] = ()

    def __post_init__(self) -> None:
        if self.stopped_by not in get_args(StoppedBy):
            raise RunError(
                f"measurement {self.index} was stopped by {shown(self.stopped_by)}; allowed: "
                + ", ".join(get_args(StoppedBy))
            )
        if not self.operations and not isinstance(self.workload, Stimuli):
            raise RunError(f"measurement {self.index} completed no request")
        if self.duration_ns < 1:
            raise RunError(f"measurement {self.index} took {self.duration_ns} ns")

    @property
    def operations(self) -> tuple[OperationResult, ...]:
        """What reads and writes did, and trims and flushes of each stream."""
        beside = (part for each in self.streams for part in (each.trim, each.flush))
        return (*super().operations, *(part for part in beside if part is not None))

    @property
    def characteristics(self) -> Characteristics:
        """The workload of a campaign, which is a vector of characteristics."""
        if not isinstance(self.workload, Characteristics):
            raise TypeError(f"measurement {self.index} is of {self.workload.describe()}")
        return self.workload

    @property
    def half_width_ratio(self) -> float | None:
        """95 % half-width of the mean latency over that mean; ``None`` where it is not known."""
        if self.batches is None or self.batches.half_width_ns is None:
            return None
        return self.batches.half_width_ns / self.latency_ns_mean if self.latency_ns_mean else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit."""
        if isinstance(self.workload, Characteristics):
            asked = {"characteristics": self.workload.to_json()}
        else:
            asked = {"workload": workload_json(self.workload)}
        return {"index": self.index, **asked, **self.results_json()}

    def results_json(self) -> dict[str, Any]:
        """Return its results without index and workload, which are stored elsewhere."""
        values: dict[str, Any] = {
            "duration_ns": self.duration_ns,
            "read": None if self.read is None else self.read.to_json(),
            "write": None if self.write is None else self.write.to_json(),
            "extra": {name: self.extra[name] for name in sorted(self.extra)},
            "batches": None if self.batches is None else self.batches.to_json(),
            "stopped_by": self.stopped_by,
        }
        if self.streams:
            # A stream has no values of its own for these; journals have always had the keys.
            shared: dict[str, Any] = {"extra": {}, "batches": None, "stopped_by": self.stopped_by}
            values["streams"] = [{**each.to_json(), **shared} for each in self.streams]
        return values

    @classmethod
    def from_json(cls, data: object) -> Measurement:
        """Read what `to_json` wrote; anything else is a `UsageError`."""
        values = object_of(data, "a measurement")
        try:
            index = whole(values["index"])
            if "workload" in values:
                workload = workload_of_json(values["workload"])
            else:
                workload = Characteristics.from_json(values["characteristics"])
        except (KeyError, TypeError) as error:
            raise UsageError(f"this is not a measurement: {reason_of(error)}") from error
        return cls.of_results(index, workload, values)

    @classmethod
    def of_results(cls, index: int, workload: Workload, data: object) -> Measurement:
        """Read what `results_json` wrote; anything else is a `UsageError`.

        Steps of older versions say neither what stopped them nor how sure they are.
        """
        values = object_of(data, "a measurement")
        is_step = isinstance(workload, Stimuli)
        try:
            parts = {
                name: None if values[name] is None else OperationResult.from_json(values[name])
                for name in ("read", "write")
            }
            batches = values.get("batches") if is_step else values["batches"]
            return cls(
                index=index,
                workload=workload,
                duration_ns=whole(values["duration_ns"]),
                read=parts["read"],
                write=parts["write"],
                extra={
                    str(name): number(value)
                    for name, value in object_of(values["extra"], "extra").items()
                },
                batches=None if batches is None else LatencyBatches.from_json(batches),
                stopped_by=values.get("stopped_by", "seconds") if is_step else values["stopped_by"],
                streams=_streams_of(workload, values.get("streams", ())),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise UsageError(f"this is not a measurement: {reason_of(error)}") from error
        except RunError as error:
            raise UsageError(f"this is not a measurement: {error}") from error


def _streams_of(workload: Workload, reported: Any) -> tuple[StreamResult, ...]:
    # Older versions reported them of several stimuli alone.
    if reported == () and not (isinstance(workload, Stimuli) and len(workload.stimuli) > 1):
        return ()
    names = names_of_streams(workload)
    if not isinstance(reported, list):
        raise TypeError(f"{shown(reported)} is not a list of streams")
    if len(reported) != len(names):
        raise ValueError(f"{len(names)} streams were sent, and {len(reported)} have a result")
    return tuple(map(StreamResult.from_json, names, reported))
