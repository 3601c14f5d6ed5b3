"""Progress of a trace's replay on a real drive, on standard error.

Before it starts, a line says how long it takes, and further lines what is doubtful about the trace.
On a terminal the last line is updated; elsewhere a line is printed every ten seconds.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from drivelab.notes import print_note
from drivelab.runs.status_line import StatusLine
from drivelab.units import format_duration_ns, format_time_left
from drivelab.workloads.trace import Trace
from drivelab.workloads.trace_notes import trace_cautions

if TYPE_CHECKING:
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.drives.protocol import Drive
    from drivelab.workloads.workload import Workload

_SILENT_SECONDS: Final = 1.0
_LINE_EVERY_SECONDS: Final = 10.0


class ReplayProgress:
    """What a real drive calls during a replay; close it, or use it as a context."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown_at = 0.0
        self._line = StatusLine()

    def __call__(self, share: float) -> None:
        """Show the progress, if it is time to."""
        elapsed = time.monotonic() - self._started
        every = 0.0 if self._line.is_terminal else _LINE_EVERY_SECONDS
        if elapsed < _SILENT_SECONDS or elapsed - self._shown_at < every:
            return
        self._shown_at = elapsed
        left = elapsed * (1.0 - share) / share if share > 0.0 else None
        left_text = "" if left is None else f", about {format_time_left(left)} left"
        self._line.show(f"{100 * share:.0f} % of the replay{left_text}")

    def close(self) -> None:
        """Clear the line, so that the result begins on it."""
        self._line.clear()


def check_replayed_whole(name: str, plan: MeasurementPlan) -> None:
    """Refuse what would end a replay on a real drive early, before a file is created for it."""
    from drivelab.drives.naming import kind_of
    from drivelab.drives.real.fio.replay_asked import check_replay_plan

    if kind_of(name) == "real":
        check_replay_plan(plan, name)


@contextlib.contextmanager
def replay_reported(drive: Drive, workload: Workload) -> Iterator[None]:
    """Print how long a replay on a real drive takes, and its progress while the block runs."""
    from drivelab.drives.real.fio.drive import FioDrive

    if not (isinstance(workload, Trace) and isinstance(drive, FioDrive)):
        yield
        return
    # If the drive refuses the trace, print only that.
    drive.check(workload)
    lasting_ns = workload.lasting_ns
    pace = "as fast as it answers"
    if lasting_ns is not None:
        pace = f"which takes {format_duration_ns(lasting_ns)}"
    print_note(f"replaying the trace on {drive.name}, {pace}; Ctrl-C stops it without a result")
    for caution in trace_cautions(workload):
        print_note(f"caution: {caution}")
    drive.watch = progress = ReplayProgress()
    try:
        yield
    finally:
        drive.watch = None
        progress.close()
