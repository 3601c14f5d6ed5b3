"""How far a long job is, on standard error, so that standard output stays a result.

The time left is the steps left, each taken for the mean of those done since the job was
started or went on. Steps may differ a thousandfold in what they cost; in random order the
mean is right on average, and the more exact the more are done. Where it is known how long steps
are beside each other, a step counts as much as that says. Pauses do not count.

A job may ask for more steps as it learns. The time left is then of those that it has asked for.
Where only a bound of the steps is known, steps and time left are shown as that bound; where nothing
but a lower bound is known of the steps, no time left is shown.

A job may have a budget of time, which its last steps do not get: the time left is at most what the
budget leaves, or that of the steps which are done in any case.

Steps may come in bursts (a simulated drive's batches). The first of one brings the time of
all of it, so the mean is that of the steps before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, Literal

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.runs.status_line import StatusLine
from drivelab.units import format_time_left

LINE_EVERY_SECONDS: Final = 10.0
DRAWN_EVERY_SECONDS: Final = 0.1
MOST_BAR_COLUMNS: Final = 40

#: How a total is meant that may change on the way.
Bound = Literal["about", "at most", "at least"]


class Progress(ClosedOnExit):
    """A bar with the time left on a terminal, a line every ten seconds elsewhere.

    Parameters
    ----------
    total
        Steps of the whole job.
    done
        Steps that an earlier start did; the time left is judged by this one's alone.
    unit
        What a step is, in the plural.
    shown
        False shows nothing.
    paused_seconds
        How long the job has stood still since it was started.
    may_grow
        Whether more steps may be asked for, so that the time left is the least.
    """

    def __init__(
        self,
        total: int,
        done: int,
        unit: str,
        *,
        shown: bool = True,
        paused_seconds: Callable[[], float] = lambda: 0.0,
        may_grow: bool = False,
    ) -> None:
        self._total = total
        self._done = done
        self._weight_left = float(total - done)
        self._weight_done = 0.0
        self._about = "at least" if may_grow else "about"
        self._failed = 0
        self._unit = unit
        self._note = ""
        self._paused_seconds = paused_seconds
        self._started = time.monotonic()
        self._told = 0.0
        self._elapsed = 0.0
        self._mean_seconds: float | None = None
        self._certain = total
        self._until: float | None = None
        self._bound: Bound = "about"
        self._line = StatusLine(shown=shown)
        if self._line.is_terminal and total:
            self._draw()

    def expect(self, weights: Sequence[float], *, found: int = 0) -> None:
        """Count steps that are asked for in addition to the others.

        Parameters
        ----------
        weights
            How long each remaining step is, relative to the others.
        found
            Those that an earlier start did.
        """
        self._total += len(weights) + found
        self._done += found
        self._weight_left += sum(weights)

    def advance(self, *, failed: bool = False, weight: float = 1.0) -> None:
        """Count one more step; `weight` is its length relative to the others."""
        if self._weight_done > 0:
            self._mean_seconds = self._elapsed / self._weight_done
        self._done += 1
        self._weight_done += weight
        self._weight_left -= weight
        self._failed += failed
        self._elapsed = elapsed = self._seconds()
        since = elapsed - self._told
        if self._line.is_terminal and (since >= DRAWN_EVERY_SECONDS or self._done == self._total):
            self._told = elapsed
            self._draw()
        elif self._line.is_told and since >= LINE_EVERY_SECONDS:
            self._told = elapsed
            self._line.show(self.text())

    def goes_on(
        self,
        total: int,
        note: str,
        *,
        certain: int | None = None,
        most_seconds: float | None = None,
        bound: Bound = "about",
    ) -> None:
        """Take another total, where it changes on the way, and what else there is to say.

        Parameters
        ----------
        total
            Steps of the whole job, as far as that is known.
        note
            What to show beside them.
        certain
            How many of them are done even if a budget ends; None is all.
        most_seconds
            What is left of the budget now; None where nothing limits the time.
        bound
            How `total` is meant.
        """
        self._weight_left += total - self._total
        self._total = total
        self._note = note
        self._bound = bound
        self._certain = total if certain is None else certain
        self._until = None if most_seconds is None else self._seconds() + most_seconds

    def text(self) -> str:
        """Write the progress."""
        bound = "" if self._bound == "about" else f"{self._bound} "
        parts = [f"{self._done} of {bound}{self._total} {self._unit}"]
        if self._failed:
            parts.append(f"{self._failed} failed")
        if self._note:
            parts.append(self._note)
        left = self._total - self._done
        if self._mean_seconds is not None and left and self._bound != "at least":
            seconds = self._weight_left * self._mean_seconds
            if self._until is not None:
                certain = max(self._certain - self._done, 0) * self._mean_seconds
                seconds = min(seconds, max(self._until - self._elapsed, certain))
            parts.append(f"{bound or f'{self._about} '}{format_time_left(seconds)} left")
        return ", ".join(parts)

    def _seconds(self) -> float:
        return time.monotonic() - self._started - self._paused_seconds()

    def close(self) -> None:
        """Leave what was shown last, and continue below it."""
        self._line.end()

    def _draw(self) -> None:
        text = self.text()
        width = min(MOST_BAR_COLUMNS, self._line.columns - len(text) - 4)
        if width > 0:
            filled = width * self._done // self._total
            text = f"[{'#' * filled}{'.' * (width - filled)}] {text}"
        self._line.show(text)
