"""How far a test is, on standard error.

How many rounds a drive takes to settle nobody knows before: what is told is the most that can
be left, each step taken for the mean of those done since the test was started or went on.
"""

from __future__ import annotations

import time

from drivelab.runs.progress import DRAWN_EVERY_SECONDS, LINE_EVERY_SECONDS
from drivelab.runs.status_line import StatusLine
from drivelab.units import format_time_left


class TestProgress:
    """A line over itself on a terminal, one every ten seconds elsewhere.

    Parameters
    ----------
    name
        Of the test.
    shown
        False shows nothing.
    """

    def __init__(self, name: str, *, shown: bool) -> None:
        self._name = name
        self._line = StatusLine(shown=shown)
        self._every = DRAWN_EVERY_SECONDS if self._line.is_terminal else LINE_EVERY_SECONDS
        self._told: float | None = None
        self._began: float | None = None
        self._done = 0

    def begin(self, text: str, position: int, most: int | None) -> None:
        """Tell that a step begins.

        Parameters
        ----------
        text
            What it does.
        position
            Its number, from 0.
        most
            How many steps there are at most, where that is known.
        """
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        left = ""
        if self._done and most is not None and most > position:
            seconds = (most - position) * (now - self._began) / self._done
            left = f"at most {format_time_left(seconds)} left"
        self._show(now, position, left, text)

    def begin_again(self, text: str, position: int) -> None:
        """Tell that a stored step is done again; its time is not that of a step to come.

        Parameters
        ----------
        text, position
            As `begin` takes them.
        """
        self._show(time.monotonic(), position, "", text)

    def _show(self, now: float, position: int, left: str, text: str) -> None:
        if self._told is not None and now - self._told < self._every:
            return
        self._told = now
        # Last what a narrow terminal has no room for.
        parts = (f"{self._name}: step {position + 1}", left, text)
        self._line.show(", ".join(part for part in parts if part))

    def advance(self) -> None:
        """Count a step that is done."""
        self._done += 1

    def end(self) -> None:
        """Leave the line."""
        if self._told is not None:
            self._line.end()
