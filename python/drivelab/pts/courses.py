"""Exhibits of a drive over time: a value of every step, against a growing one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from drivelab.exhibits import Axis, Line, LineFigure
from drivelab.pts.journal import Step

Values = Sequence[float]


def ends_minutes(steps: Sequence[Step], idle_seconds: float = 0.0) -> list[float]:
    """Return when each step ended, in the drive's minutes; after each it was idle for this time."""
    seconds = (step.result.duration_ns / 1e9 + idle_seconds for step in steps)
    return [(end - idle_seconds) / 60 for end in accumulate(seconds)]


def written_bytes(steps: Sequence[Step]) -> list[int]:
    """Return how many bytes were written until each step ended."""
    return list(
        accumulate(0 if step.result.write is None else step.result.write.bytes for step in steps)
    )


def course(
    name: str,
    title: str,
    x: Axis,
    y: Axis,
    series: Sequence[tuple[str, Values, Values]],
    *,
    note: str = "",
) -> LineFigure:
    """Draw a line for every series that has points."""
    lines = []
    for label, xs, ys in series:
        if len(xs):
            at, values = tuple(map(float, xs)), tuple(map(float, ys))
            lines.append(Line(label, at, values, role="trace"))
    return LineFigure(name, title, x, y, tuple(lines), note)


def values_of(steps: Sequence[Step], value: Callable[[Step], float | None]) -> list[float]:
    """Return a value of every step; 0 if nothing completed."""
    return [value(step) or 0.0 for step in steps]
