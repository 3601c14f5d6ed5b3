"""Check fio's report on a segment: missing or contradictory values are errors, never numbers.

fio reports the same requests twice for a segment, in its latency log and in the statistics in its
JSON. The log is used. Both must agree to the request, to the nanosecond and to the bin.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import Any, Final

from drivelab._core import Completions, histogram_bin
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.real.fio.job import Segment
from drivelab.drives.real.fio.program import message_of
from drivelab.errors import RunError

_LARGEST: Final = 2**64 - 1
_BIN: Final = re.compile("[0-9]{1,20}")
# fio ends a segment when it looks at its clock, which has whole milliseconds.
_CLOCK_MILLISECONDS = 2


class UnknownReportError(RunError):
    """fio's JSON lacks what every known fio has: it is an unknown version, not a failed run."""


def check_segment(
    report: dict[str, Any], remarks: Sequence[str], segment: Segment, completions: Completions
) -> bool:
    """Check fio's report on a segment.

    Parameters
    ----------
    report
        Its JSON, in the form ``json+`` with ``lat_percentiles=1``.
    remarks
        The lines around the JSON.
    segment
        What was asked for.
    completions
        The entries of its latency log.

    Returns
    -------
    bool
        Whether time ended the segment before all of it was sent.

    Raises
    ------
    RunError
        If fio met an error, completed nothing, or contradicts itself.
    UnknownReportError
        If its JSON lacks a field.
    """
    job = field_of(field_of(report, "jobs", list), 0, dict)
    error = field_of(job, "error", int)
    if error:
        message = message_of(remarks)
        raise RunError(f"fio met an error: {message or os.strerror(error)}")
    sent = sum(_check_operation(job, name, completions) for name in ("read", "write"))
    if sent == 0:
        message = message_of(remarks)
        raise RunError(
            "fio completed no request in the time given"
            + (f": {message}" if message else "; a longer one may do")
        )
    if sent > segment.requests:
        raise RunError(f"fio sent {sent} requests of {segment.requests}")
    if sent == segment.requests:
        return False
    ran = field_of(job, "job_runtime", int)
    if ran < segment.milliseconds - _CLOCK_MILLISECONDS:
        raise RunError(
            f"fio ended after {ran} of {segment.milliseconds} ms with {sent} of "
            f"{segment.requests} requests sent"
        )
    return True


def _check_operation(job: dict[str, Any], name: str, completions: Completions) -> int:
    """Check one direction, and return how many requests it sent."""
    part = field_of(job, name, dict)
    sent: int = field_of(part, "total_ios", int)
    logged = completions.operation(name)
    result = None if logged is None else OperationResult(**logged)
    known = 0 if result is None else result.requests
    for field in ("short_ios", "drop_ios"):
        if field_of(part, field, int):
            raise RunError(f"fio counts {part[field]} {name}s in {field}: the drive cut them short")
    if sent != known:
        raise RunError(f"fio's numbers disagree: {sent} {name}s sent, {known} in its latency log")
    moved = field_of(part, "io_bytes", int)
    if result is None:
        if moved:
            raise RunError(f"fio's numbers disagree: no {name}s sent, {moved} bytes moved")
        return 0
    latency = field_of(part, "lat_ns", dict)
    reported = {
        "requests": field_of(latency, "N", int),
        "bytes": moved,
        "latency_ns_min": field_of(latency, "min", int),
        "latency_ns_max": field_of(latency, "max", int),
    }
    for field, value in reported.items():
        if getattr(result, field) != value:
            raise RunError(
                f"fio's numbers disagree: {field} of its {name}s is {value}, and "
                f"{getattr(result, field)} by its latency log"
            )
    mean = field_of(latency, "mean", (int, float))
    # fio computes its mean in floating point, step by step.
    if not math.isclose(mean, result.latency_ns_mean, rel_tol=1e-6, abs_tol=1):
        raise RunError(
            f"fio's numbers disagree: its {name}s took {mean} ns on average, and "
            f"{result.latency_ns_mean} by its latency log"
        )
    if histogram_of(field_of(latency, "bins", dict), name) != result.histogram:
        raise RunError(f"fio's numbers disagree: the bins of its {name}s are not its latency log's")
    return sent


def histogram_of(bins: dict[str, Any], name: str) -> dict[int, int]:
    """Convert the bins of fio's JSON to the layout of its histograms; `name` is the direction."""
    histogram: dict[int, int] = {}
    for value, count in bins.items():
        # fio names a bin by the value in its middle.
        is_known = _BIN.fullmatch(value) is not None and int(value) <= _LARGEST
        if not is_known or not isinstance(count, int) or not 0 <= count <= _LARGEST:
            raise RunError(
                f"fio's {name} bins contain {value!r:.40}: {count!r:.40}, which is not a count"
            )
        number = histogram_bin(int(value))
        histogram[number] = histogram.get(number, 0) + count
    return {number: count for number, count in histogram.items() if count}


def field_of(container: Any, key: str | int, kind: Any) -> Any:
    """Return a field of fio's JSON; a missing one means a fio that Drivelab does not know."""
    try:
        value = container[key]
    except (KeyError, IndexError, TypeError):
        raise UnknownReportError(
            f"fio's JSON lacks {key!r}: Drivelab does not know this fio"
        ) from None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UnknownReportError(
            f"fio's JSON has {type(value).__name__} as {key!r}, which makes no sense"
        )
    # No count of fio's is below 0 or needs more than 64 bits.
    if isinstance(value, int | float) and not 0 <= value <= _LARGEST:
        raise UnknownReportError(f"fio's JSON has {value!r:.40} as {key!r}, which makes no sense")
    return value
