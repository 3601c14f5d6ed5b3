"""What one stream of a workload did, separately from the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.completed import Completed
from drivelab.drives.lateness import Lateness
from drivelab.drives.operation_result import CommandResult, OperationResult, object_of, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab._core import Stream


@dataclass(frozen=True)
class StreamResult(Completed):
    """What all threads of a stream did while the whole workload was counted.

    Attributes
    ----------
    name
        Its name in the workload.
    duration_ns
        Duration of the measurement that it is part of.
    read, write, trim, flush, write_zeroes
        Results of its requests of each kind; ``None`` if none completed.
    lateness
        How late they were sent, if they have times and may be late; else ``None``.
    """

    name: str
    duration_ns: int
    read: OperationResult | None = None
    write: OperationResult | None = None
    trim: OperationResult | None = None
    flush: OperationResult | None = None
    write_zeroes: OperationResult | None = None
    lateness: Lateness | None = None

    @property
    def by_operation(self) -> dict[str, OperationResult]:
        """Return the results of its requests by kind: ``read``, ``write``, ``trim`` and so on."""
        every = {name: getattr(self, name) for name in OPERATIONS}
        return {name: part for name, part in every.items() if part is not None}

    @property
    def operations(self) -> tuple[OperationResult, ...]:
        """Return the results of every kind of request."""
        return tuple(self.by_operation.values())

    @classmethod
    def of_core(cls, reported: Mapping[str, Any], duration_ns: int) -> StreamResult:
        """Make it from the native core's report on a stream in a window of this length."""
        parts = {
            name: None if reported[name] is None else kind(**reported[name])
            for name, kind in _KINDS.items()
        }
        late = reported["lateness"]
        lateness = None if late is None else Lateness(**late)
        return cls(reported["name"], duration_ns, **parts, lateness=lateness)

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit; the workload contains the name.

        Kinds other than reads and writes are included if some completed, lateness if requests may
        be late.
        """
        parts = {"read": None, "write": None} | {
            name: part.to_json() for name, part in self.by_operation.items()
        }
        late = {} if self.lateness is None else {"lateness": self.lateness.to_json()}
        return {"duration_ns": self.duration_ns, **parts, **late}

    @classmethod
    def from_json(cls, name: str, data: object) -> StreamResult:
        """Read what `to_json` wrote for a stream of this name.

        Raises
        ------
        UsageError, KeyError, TypeError
            For anything else.
        """
        values = object_of(data, "what a stream did")
        found = {each: values.get(each) for each in _KINDS}
        parts = {
            each: None if part is None else _KINDS[each].from_json(part)
            for each, part in found.items()
        }
        late = values.get("lateness")
        lateness = None if late is None else Lateness.from_json(late)
        return cls(name, whole(values["duration_ns"]), **parts, lateness=lateness)


_KINDS: Final[dict[str, type[OperationResult]]] = {
    "read": OperationResult,
    "write": OperationResult,
    "trim": CommandResult,
    "flush": CommandResult,
    "write_zeroes": CommandResult,
}
#: What requests may ask for, in the order in which results are shown.
OPERATIONS: Final = tuple(_KINDS)


def streams_of_reads_and_writes(
    streams: Sequence[Stream],
    duration_ns: int,
    done: Sequence[tuple[OperationResult | None, OperationResult | None]],
) -> tuple[StreamResult, ...]:
    """Return what each stream did, in order, of which reads and writes are known."""
    names = [stream.described()["name"] for stream in streams]
    return tuple(
        StreamResult(name, duration_ns, *each) for name, each in zip(names, done, strict=True)
    )
