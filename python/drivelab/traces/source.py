"""Reading a trace to its end: how much at a time, and the error if it was empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drivelab._core import TraceReader
from drivelab.errors import UsageError
from drivelab.near_names import meant

#: Called with the requests so far.
Progress = Callable[[int], None]

#: Number of devices that an error names.
_MOST_NAMED = 8
#: Requests that are read at a time; a stop and the progress are handled in between.
BATCH = 262_144


def refuse_without_requests(reader: TraceReader, checks: dict[str, Any]) -> None:
    """Refuse a trace that was read to its end without a request.

    Raises
    ------
    UsageError
        If it has no request, or lacks one of the requested devices.
    """
    name = ", ".join(checks["files"][:2]) + (", ..." if len(checks["files"]) > 2 else "")
    missing = checks["missing_devices"]
    if missing:
        known = [device for device, _ in reader.devices]
        listed = ", ".join(known[:_MOST_NAMED]) + (", ..." if len(known) > _MOST_NAMED else "")
        raise UsageError(
            f"{name} has no device {missing[0]!r}; {meant(missing[0], known)}its devices are "
            f"{listed or 'none'}"
        )
    if checks["requests"] == 0:
        skipped = checks["skipped"]
        lines = f"{checks['place']}{'' if skipped == 1 else 's'}"
        why = f" ({skipped:,} bad {lines} skipped)" if skipped else ""
        raise UsageError(
            f"{name} contains no request of format {checks['format']}{why}; name another file, "
            "or the right --format"
        )
