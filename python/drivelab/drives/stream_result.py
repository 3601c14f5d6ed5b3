"""What one stream of a workload did, apart from the others."""

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
    """What a stream did, of all its threads, while the whole workload was counted.

    Attributes
    ----------
    name
        As the workload calls it.
    duration_ns
        Of the measurement that it is part of.
    read, write, trim, flush
        What its requests of each kind did; ``None`` where none completed.
    lateness
        By how much they were sent late, where they have times and may be; else ``None``.
    """

    name: str
    duration_ns: int
    read: OperationResult | None = None
    write: OperationResult | None = None
    trim: OperationResult | None = None
    flush: OperationResult | None = None
    lateness: Lateness | None = None

    @property
    def by_operation(self) -> dict[str, OperationResult]:
        """What its requests did, by what they were: ``read``, ``write``, ``trim``, ``flush``."""
        every = {"read": self.read, "write": self.write, "trim": self.trim, "flush": self.flush}
        return {name: part for name, part in every.items() if part is not None}

    @property
    def operations(self) -> tuple[OperationResult, ...]:
        """What it did of every kind of request."""
        return tuple(self.by_operation.values())

    @classmethod
    def of_core(cls, told: Mapping[str, Any], duration_ns: int) -> StreamResult:
        """Take what the native core reports of a stream in a window of so long."""
        parts = {
            name: None if told[name] is None else kind(**told[name])
            for name, kind in _KINDS.items()
        }
        late = told["lateness"]
        lateness = None if late is None else Lateness(**late)
        return cls(told["name"], duration_ns, **parts, lateness=lateness)

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit; the workload says the name.

        Trims and flushes are there where some completed, lateness where requests may be late.
        """
        parts = {"read": None, "write": None} | {
            name: part.to_json() for name, part in self.by_operation.items()
        }
        late = {} if self.lateness is None else {"lateness": self.lateness.to_json()}
        return {"duration_ns": self.duration_ns, **parts, **late}

    @classmethod
    def from_json(cls, name: str, data: object) -> StreamResult:
        """Read what `to_json` wrote of a stream of this name.

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
}


def streams_of_reads_and_writes(
    streams: Sequence[Stream],
    duration_ns: int,
    done: Sequence[tuple[OperationResult | None, OperationResult | None]],
) -> tuple[StreamResult, ...]:
    """Say what each stream did, in order, of which reads and writes are known."""
    names = [stream.described()["name"] for stream in streams]
    return tuple(
        StreamResult(name, duration_ns, *each) for name, each in zip(names, done, strict=True)
    )
