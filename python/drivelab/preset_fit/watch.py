"""What a fit is at, and about how long it still takes.

How many simulations a search needs is known roughly beforehand, and how long one takes once some
are done. A phase that takes more of them than usual still counts as one from its end.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from drivelab.runs.progress import DRAWN_EVERY_SECONDS, LINE_EVERY_SECONDS
from drivelab.units import format_time_left

if TYPE_CHECKING:
    from collections.abc import Callable

    from drivelab.runs.status_line import StatusLine

#: Simulations that steps by slopes usually take.
STEPS: Final = 10
#: Of a value's interval, with the others fitted again at each place.
FOR_AN_INTERVAL: Final = 10
# Before so many simulations are done nothing is known of how long one takes.
_FEWEST: Final = 3


def for_lines(values: int) -> int:
    """Return simulations for lines around the ground, three times, and corrections."""
    return 14 * values + 24


def after_search(values: int) -> int:
    """Return simulations that come after the search from afar."""
    return 2 * (values + STEPS) + for_lines(values) + FOR_AN_INTERVAL * values


class Watch:
    """Shows what goes on.

    Parameters
    ----------
    line
        On standard error.
    clock
        Of the wall, in seconds.
    """

    def __init__(self, line: StatusLine, clock: Callable[[], float] = time.monotonic) -> None:
        self._line = line
        self._clock = clock
        self._text = ""
        self._own = self._after = self._done = 0
        self._seconds = 0.0
        self._count = 0
        self._shown = clock()
        #: Presets that are fitted after this one.
        self.others = 0
        self._whole = 0

    def say(self, text: str) -> None:
        """Show what goes on now."""
        self._text = text
        self._show()

    def expect(self, own: int, after: int) -> None:
        """Say how many simulations what begins now usually takes, and what comes after it."""
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
        """Return about how long it still takes; None where nothing is known of it."""
        if self._count < _FEWEST or not self._own:
            return None
        left = max(self._own - self._done, 1) + self._after + self.others * self._whole
        return left * self._seconds / self._count

    def _show(self) -> None:
        left = self.seconds_left()
        about = "" if left is None else f", about {format_time_left(left)} left"
        self._line.show(self._text + about)
        self._shown = self._clock()
