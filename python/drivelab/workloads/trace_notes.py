"""Differences between a recorded trace and what is sent, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.units import format_size

if TYPE_CHECKING:
    from drivelab.workloads.trace import Trace

_MOST_NAMED: Final = 4
#: How the core's caution about such a trace begins; it goes on with what the trace is no use for.
_NO_CLOCK: Final = "all requests have the same time: the trace has no clock"


def trace_cautions(trace: Trace) -> list[str]:
    """Return one sentence for each doubt about the recording's clock and units."""
    cautions = () if trace.facts is None else trace.facts.cautions
    # A replay does send them, without a pause.
    at_once = _NO_CLOCK if trace.speed is None else f"{_NO_CLOCK}, so they are sent at once"
    return [at_once if each.startswith(_NO_CLOCK) else each for each in cautions]


def trace_notes(trace: Trace) -> list[str]:
    """Return one sentence for each difference between the recording and what is sent."""
    facts = trace.facts
    if facts is None:
        return []
    notes = trace_cautions(trace)
    if facts.device_count > 1:
        named = ", ".join(name for name, _ in facts.devices[:_MOST_NAMED])
        more = facts.device_count - _MOST_NAMED
        rest = f" and {more:,} more" if more > 0 else ""
        notes.append(
            f"{facts.device_count:,} devices are placed one after the other: {named}{rest}"
        )
    for count, one, several in (
        (
            facts.rounded,
            "is not whole sectors, and is sent as the sectors that contain it",
            "are not whole sectors, and are sent as the sectors that contain them",
        ),
        (
            facts.cut,
            "is larger than 64 MiB, and sent in pieces",
            "are larger than 64 MiB, and sent in pieces",
        ),
        (
            facts.left_out,
            "is no command of a drive, and left out",
            "are no commands of a drive, and left out",
        ),
    ):
        if count:
            notes.append(f"1 request {one}" if count == 1 else f"{count:,} requests {several}")
    if facts.skipped:
        lines = "bad line was" if facts.skipped == 1 else "bad lines were"
        notes.append(f"{facts.skipped:,} {lines} left out")
    if trace.fit == "wrap":
        notes.append(f"recorded addresses reach to {format_size(facts.end_bytes)}")
    if trace.fit == "scale":
        notes.append(f"touched regions take {format_size(facts.end_bytes)}")
    return notes
