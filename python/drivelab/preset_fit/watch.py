"""The progress of a fit: its current step, and an estimate of the time left.

The number of simulations of a search is roughly known in advance, and the duration of one is known
after a few. A phase that takes more than usual counts as one simulation from its end.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from drivelab.runs.progress import DRAWN_EVERY_SECONDS, LINE_EVERY_SECONDS
from drivelab.units import format_time_left

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.runs.status_line import StatusLine

#: Usual number of simulations for steps by derivatives.
STEPS: Final = 10
#: Simulations per step of a value's interval, in which the others are fitted again.
FOR_AN_INTERVAL: Final = 10
# Before this many simulations the duration of one is unknown.
_FEWEST: Final = 3


def for_lines(values: int) -> int:
    """Return the number of simulations for four fits of lines, with corrections."""
    return 19 * values + 38


def after_search(values: int) -> int:
    """Return the number of simulations after the global search."""
    return 2 * (values + STEPS) + for_lines(values) + FOR_AN_INTERVAL * values


class Watch:
    """Shows the progress.

    Parameters
    ----------
    line
        Status line on standard error.
    clock
        Clock in seconds.
    """

    def __init__(self, line: StatusLine, clock: Callable[[], float] = time.monotonic) -> None:
        self._line = line
        self._clock = clock
        self._text = ""
        self._own = self._after = self._done = 0
        self._seconds = 0.0
        self._count = 0
        self._shown = clock()
        #: Number of presets to be fitted after this one.
        self.others = 0
        self._whole = 0

    def say(self, text: str) -> None:
        """Show the current step."""
        self._text = text
        self._show()

    def expect(self, own: int, after: int) -> None:
        """Set the usual number of simulations in the phase that begins, and in those after it."""
        self._own, self._after, self._done = own, after, 0
        self._whole = max(self._whole, own + after)

    def simulated(self, seconds: float) -> None:
        """Count a simulation."""
        self._seconds += seconds
        self._count += 1
        self._done += 1
        every = DRAWN_EVERY_SECONDS if self._line.is_terminal else LINE_EVERY_SECONDS
        if self._text and self._clock() - self._shown >= every:
            self._show()

    def seconds_left(self) -> float | None:
        """Return an estimate of the time left; None if it is unknown."""
        if self._count < _FEWEST or not self._own:
            return None
        left = max(self._own - self._done, 1) + self._after + self.others * self._whole
        return left * self._seconds / self._count

    def _show(self) -> None:
        left = self.seconds_left()
        about = "" if left is None else f", about {format_time_left(left)} left"
        self._line.show(self._text + about)
        self._shown = self._clock()
