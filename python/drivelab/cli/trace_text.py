"""What a replay says of itself on a terminal: whether it was late, and how it was fitted."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from drivelab.units import format_size

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.workloads.trace import Trace

_MOST_NAMED: Final = 4


def in_width(label: str, said: str, *, label_width: int, columns: int) -> Iterator[str]:
    """Write a text behind its label, on as many lines as it takes."""
    for place, line in enumerate(textwrap.wrap(said, columns - label_width)):
        yield f"{label if place == 0 else '':<{label_width}}{line}"


def trace_notes(trace: Trace) -> list[str]:
    """Say what of a trace is not sent as it was recorded, a sentence each."""
    facts = trace.facts
    if facts is None:
        return []
    notes = list(facts.cautions)
    if facts.device_count > 1:
        named = ", ".join(name for name, _ in facts.devices[:_MOST_NAMED])
        more = facts.device_count - _MOST_NAMED
        rest = f" and {more:,} more" if more > 0 else ""
        notes.append(f"{facts.device_count:,} devices lie one after the other: {named}{rest}")
    for count, what in (
        (facts.rounded, "are no whole sectors, and sent as the sectors that hold them"),
        (facts.cut, "are larger than 64 MiB, and sent in pieces"),
        (facts.left_out, "are no commands of a drive, and left out"),
    ):
        if count:
            notes.append(f"{count:,} requests {what}")
    if facts.skipped:
        notes.append(f"{facts.skipped:,} bad lines were left out")
    if trace.fit == "wrap":
        notes.append(f"recorded addresses reach to {format_size(facts.end_bytes)}")
    if trace.fit == "scale":
        notes.append(f"touched regions take {format_size(facts.end_bytes)}")
    return notes


def fio_notes(trace: Trace, measurement: Measurement) -> list[str]:
    """Say what of a trace a real drive was sent otherwise than a simulated one, a sentence each."""
    depth = round(measurement.extra["queue_depth"])
    segments = round(measurement.extra["segments"])
    notes = []
    if trace.speed is not None:
        notes.append(
            f"{depth} jobs of fio sent one request at a time each, at its millisecond; how late it "
            "was is told up to 1 ms too short"
        )
    elif trace.depth is None and trace.facts is not None:
        notes.append(
            f"fio keeps one depth: {depth} outstanding, the mean of the recorded ones, which reach "
            f"{trace.facts.depth_max:,}"
        )
    if segments > 1:
        notes.append(
            f"sent in {segments} segments; the drive rested between them, which does not count"
        )
    return notes
