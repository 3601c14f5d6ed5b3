"""Recorded requests, each sent at its time: an empty drive is asked as the recorded one was."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from drivelab._core import Stream
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns
from drivelab.workloads.given import END, attributes_of, check_items

#: ns from the beginning, what is asked (``read``, ``write``, ``trim``, ``flush``), offset and
#: size in bytes; a flush concerns the whole drive, and its offset and size are 0.
Request = tuple[int, str, int, int]

_ALLOWED: Final = (
    "requests (ns from the beginning; read, write, trim or flush; offset and size in bytes)"
)
_SIZE_END: Final = 1 << 32
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
        check_items("the trace", self.requests, _is_request, _ALLOWED)
        # The core looks at sectors and names.
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
        return [Stream.of_requests(list(self.requests), "trace")]

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
        requests = attributes_of(data, "a trace", ["requests"], ["requests"])["requests"]
        check_items("requests", requests, lambda each: isinstance(each, list), _ALLOWED)
        return cls(tuple(tuple(each) for each in requests))


def _is_request(request: object) -> bool:
    if not isinstance(request, tuple) or len(request) != 4:
        return False
    at_ns, action, offset, size = request
    # There may be millions.
    return (
        type(at_ns) is type(offset) is type(size) is int
        and isinstance(action, str)
        and 0 <= at_ns < END
        and 0 <= offset < END
        and 0 <= size < _SIZE_END
    )
