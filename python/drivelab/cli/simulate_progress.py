"""Progress of a simulated run, on standard error.

```text
42 %: 4,200,000 requests in 1.20 s of simulated time, about 3 s left
the rest is served: 812,345 requests outstanding, about 9 s left
```

Short runs print nothing. On a terminal the line is updated; elsewhere a line is printed every ten
seconds.
"""

from __future__ import annotations

import time
from typing import Final

from drivelab.runs.status_line import StatusLine
from drivelab.units import format_duration_ns, format_time_left

SILENT_SECONDS: Final = 1.0
DRAWN_EVERY_SECONDS: Final = 0.2
LINE_EVERY_SECONDS: Final = 10.0


class SimulateProgress:
    """What `SimulatedDrive.simulate` calls while it runs; close it, or use it as a context."""

    def __init__(self) -> None:
        self._started: float | None = None
        self._shown_at = 0.0
        self._draining: tuple[float, int] | None = None
        self._line = StatusLine()

    def __call__(
        self,
        share: float,
        completed: int,
        simulated_ns: int,
        outstanding: int,
        drains: bool,
    ) -> None:
        """Show the progress, if it is time to."""
        now = time.monotonic()
        # The first call comes when the drive is prepared.
        self._started = now if self._started is None else self._started
        if drains and self._draining is None:
            self._draining = (now, outstanding)
        elapsed = now - self._started
        every = DRAWN_EVERY_SECONDS if self._line.is_terminal else LINE_EVERY_SECONDS
        if elapsed < SILENT_SECONDS or elapsed - self._shown_at < every:
            return
        self._shown_at = elapsed
        if drains:
            self._line.show(self._drain_text(now, outstanding))
        else:
            self._line.show(
                f"{100 * share:.0f} %: {completed:,} requests in "
                f"{format_duration_ns(simulated_ns)} of simulated time{_left(elapsed, share)}"
            )

    def _drain_text(self, now: float, outstanding: int) -> str:
        since, first = self._draining or (now, outstanding)
        noun = "request" if outstanding == 1 else "requests"
        left = _left(now - since, (first - outstanding) / first if first else 0.0)
        return f"the rest is served: {outstanding:,} {noun} outstanding{left}"

    def close(self) -> None:
        """Clear the line, so that the result begins on it."""
        self._line.clear()

    def __enter__(self) -> SimulateProgress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _left(elapsed: float, share: float) -> str:
    if share <= 0.0:
        return ""
    return f", about {format_time_left(elapsed * (1.0 - share) / share)} left"
