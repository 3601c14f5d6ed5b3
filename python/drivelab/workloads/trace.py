"""Recorded requests, each sent at its time: an empty drive is asked as the recorded one was."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from drivelab._core import Stream
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns

#: ns from the beginning, what is asked (``read``, ``write``, ``trim``, ``flush``), offset and
#: size in bytes; a flush concerns the whole drive, and its offset and size are 0.
Request = tuple[int, str, int, int]

#: What several requests of a kind are called.
PLURALS: Final = {"read": "reads", "write": "writes", "trim": "trims", "flush": "flushes"}


@dataclass(frozen=True)
class Trace:
    """Requests that arrive at their own times, whether others have completed or not.

    Attributes
    ----------
    requests
        At least one, in order of arrival; see `Request`. Offsets and sizes are whole sectors.

    Raises
    ------
    UsageError
        Names what is impossible and what is allowed.
    """

    kind: ClassVar[Literal["trace"]] = "trace"

    requests: tuple[Request, ...]

    def __post_init__(self) -> None:
        if not self.requests:
            raise UsageError("the trace holds no request; allowed: one or more")
        # Before anything else looks at them.
        self.streams()
        before = 0
        for place, (at_ns, *_) in enumerate(self.requests):
            if at_ns < before:
                raise UsageError(
                    f"request {place} of the trace arrives at {at_ns} ns, before the one before "
                    "it; sort them by their times"
                )
            before = at_ns

    def streams(self) -> list[Stream]:
        """Return it as a drive takes it: one list."""
        try:
            return [Stream.of_requests(list(self.requests), "trace")]
        except (TypeError, OverflowError) as error:
            raise UsageError(f"this is no trace: {' '.join(str(error).split())}") from error

    @property
    def footprint_bytes(self) -> int:
        """From the drive's first byte to the last that is addressed."""
        return max(offset + size for _, _, offset, size in self.requests)

    def describe(self) -> str:
        """Say in a line what is sent."""
        counts = Counter(action for _, action, _, _ in self.requests)
        parts = [
            f"{count:,} {PLURALS[action] if count > 1 else action}"
            for action, count in counts.items()
        ]
        lasting = format_duration_ns(self.requests[-1][0])
        return f"{' and '.join(parts)} recorded over {lasting}"

    def to_json(self) -> dict[str, Any]:
        """Return the requests in order."""
        return {"requests": [list(each) for each in self.requests]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Trace:
        """Read what `to_json` wrote; `UsageError` for anything else."""
        try:
            return cls(
                tuple((at, action, where, size) for at, action, where, size in data["requests"])
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"this is no trace: {' '.join(str(error).split())}") from error
