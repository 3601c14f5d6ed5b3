"""Progress of a test, on standard error.

Nobody knows in advance how many rounds a drive takes to settle. So the line shows the longest
remaining time: each remaining step counts as the mean of those done since the test was started or
resumed.
"""

from __future__ import annotations

import time

from drivelab.runs.progress import DRAWN_EVERY_SECONDS, LINE_EVERY_SECONDS
from drivelab.runs.status_line import StatusLine
from drivelab.units import format_time_left


class TestProgress:
    """One updated line on a terminal; elsewhere a line every ten seconds.

    Parameters
    ----------
    name
        Name of the test.
    shown
        Whether to show anything.
    """

    def __init__(self, name: str, *, shown: bool) -> None:
        self._name = name
        self._line = StatusLine(shown=shown)
        self._every = DRAWN_EVERY_SECONDS if self._line.is_terminal else LINE_EVERY_SECONDS
        self._told: float | None = None
        self._began: float | None = None
        self._done = 0

    def begin(self, text: str, position: int, most: int | None) -> None:
        """Show that a step begins.

        Parameters
        ----------
        text
            What the step does.
        position
            Its number, from 0.
        most
            The largest number of steps, if known.
        """
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        left = ""
        if self._done and most is not None and most > position:
            seconds = (most - position) * (now - self._began) / self._done
            left = f"at most {format_time_left(seconds)} left"
        self._show(now, position, left, text)

    def begin_again(self, text: str, position: int) -> None:
        """Show that a stored step is repeated; its time does not predict that of new steps.

        Parameters
        ----------
        text, position
            As in `begin`.
        """
        self._show(time.monotonic(), position, "", text)

    def _show(self, now: float, position: int, left: str, text: str) -> None:
        if self._told is not None and now - self._told < self._every:
            return
        self._told = now
        # What a narrow terminal has no space for comes last.
        parts = (f"{self._name}: step {position + 1}", left, text)
        self._line.show(", ".join(part for part in parts if part))

    def advance(self) -> None:
        """Count a finished step."""
        self._done += 1

    def end(self) -> None:
        """Leave the line."""
        if self._told is not None:
            self._line.end()
