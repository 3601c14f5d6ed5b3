"""A replay's notes for a terminal: whether it was late, and how it was fitted."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.workloads.trace import Trace


def in_width(label: str, said: str, *, label_width: int, columns: int) -> Iterator[str]:
    """Return a text with its label, on as many lines as it takes."""
    for place, line in enumerate(textwrap.wrap(said, columns - label_width)):
        yield f"{label if place == 0 else '':<{label_width}}{line}"


def fio_notes(trace: Trace, measurement: Measurement) -> list[str]:
    """Return how a real drive was sent a trace differently from a simulated one, as sentences."""
    depth = round(measurement.extra["queue_depth"])
    segments = round(measurement.extra["segments"])
    notes = []
    if trace.speed is not None:
        precision = (
            ", at its millisecond; the reported lateness may be up to 1 ms too small"
            if trace.has_times
            else ""
        )
        notes.append(f"{depth} jobs of fio sent one request at a time each{precision}")
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
