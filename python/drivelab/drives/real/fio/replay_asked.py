"""Which traces fio can replay on a real drive, and with how many outstanding requests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from drivelab.drives.real.fio.job import MAX_BUFFER_BYTES, MAX_QUEUE_DEPTH
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.units import format_size
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.trace import PLURALS
from drivelab.workloads.trace_length import refuse_long

if TYPE_CHECKING:
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.workloads.trace import Trace

#: Limit on jobs of one fio at recorded times: each is a thread and two open files.
MOST_JOBS: Final = 256
#: Default number of jobs.
USUAL_JOBS: Final = 64


def check_replay(
    trace: Trace, name: str, capacity_bytes: int, block_bytes: int, write_refusal: str | None
) -> None:
    """Raise if a real drive with these properties cannot be asked for a trace.

    Raises
    ------
    CannotAnswerError
        If it may not be written, has larger blocks, or fio cannot send it.
    UsageError
        If the trace needs more space than the drive has, or lasts too long.
    """
    commands = trace.commands
    trims = commands.get("trim", 0)
    if trims:
        what = PLURALS["trim"] if trims > 1 else "trim"
        raise CannotAnswerError(
            f"the trace has {trims:,} {what}, which fio cannot replay on {name}, a real drive: "
            "`drivelab trace convert FILE --to spc --drop -o OUT` writes it without them"
        )
    if not commands.get("read") and not commands.get("write"):
        raise CannotAnswerError(
            f"the trace neither reads nor writes, so fio cannot time it: {name}"
        )
    if commands.get("write") and write_refusal is not None:
        raise CannotAnswerError(f"no writes on {name}: {write_refusal}")
    refuse_long(trace, "a replay")
    footprint = trace.footprint_bytes
    if footprint is not None and footprint > capacity_bytes:
        wrap = "" if trace.fit == "scale" else " or --fit scale"
        raise UsageError(
            f"the trace takes {format_size(footprint)} of a drive, and {name} has "
            f"{format_size(capacity_bytes)}; give --fit wrap{wrap}, or a larger drive"
        )
    alignment = math.gcd(trace.alignment_bytes, capacity_bytes if trace.fit == "wrap" else 0)
    if alignment % block_bytes:
        raise CannotAnswerError(
            f"places and sizes of the trace are multiples of {alignment} bytes, and those of "
            f"direct requests to {name} of {block_bytes}; choose another drive, or a simulated one "
            "(sim:NAME)"
        )
    jobs_of(trace, name)


def jobs_of(trace: Trace, name: str) -> int:
    """Return the maximum number of outstanding requests.

    Raises
    ------
    CannotAnswerError
        If fio or its memory allows fewer than were asked for.
    """
    largest = trace.largest_bytes
    room = max(1, MAX_BUFFER_BYTES // largest)
    asked = trace.depth
    most = MAX_QUEUE_DEPTH if trace.speed is None else MOST_JOBS
    if asked is None:
        # fio keeps one depth: the mean of the recorded ones.
        mean = None if trace.facts is None else trace.facts.depth_mean
        usual = USUAL_JOBS if mean is None else max(1, round(mean))
        return min(usual, most, room)
    if asked > min(most, room):
        why = (
            f"requests of up to {format_size(largest)} need {format_size(MAX_BUFFER_BYTES)} "
            "together"
            if room < most
            else "fio sends no more from a trace"
        )
        raise CannotAnswerError(
            f"the depth is {asked}, and {name}, a real drive, takes at most {min(most, room)}: "
            f"{why}; give --depth {min(most, room)} or less"
        )
    return asked


def check_replay_plan(plan: MeasurementPlan, name: str) -> None:
    """Raise `CannotAnswerError` if a replay would end before its last request."""
    for attribute in ("requests", "seconds", "half_width_ratio"):
        if getattr(plan, attribute) is not None:
            raise CannotAnswerError(
                f"a trace is replayed to its end on {name}, a real drive: leave {attribute} out, "
                "and write the part that you want with `drivelab trace cut`"
            )


def looks_like(trace: Trace, name: str) -> Characteristics:
    """Return what a trace looks like to a drive: whether it writes, how large, how many."""
    commands = trace.commands
    writes = commands.get("write", 0)
    largest = trace.largest_bytes
    return Characteristics(
        write_ratio=writes / (writes + commands.get("read", 0)),
        queue_depth=jobs_of(trace, name),
        read_size=largest,
        write_size=largest,
    )
