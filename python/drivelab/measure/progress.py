"""How far a long job is, on standard error, so that standard output stays a result."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Final

from drivelab.units import format_duration_ns

LINE_EVERY_SECONDS: Final = 10.0


class Progress:
    """A bar with the time left on a terminal, a line every ten seconds elsewhere.

    Parameters
    ----------
    total
        Steps of the whole job.
    done
        Steps that an earlier run did; the time left is judged by this run's steps alone.
    unit
        What a step is, in the plural.
    shown
        False shows nothing.
    """

    def __init__(self, total: int, done: int, unit: str, *, shown: bool = True) -> None:
        self._total = total
        self._done = done
        self._before = done
        self._unit = unit
        self._started = time.monotonic()
        self._told = self._started
        self._lines = shown and not sys.stderr.isatty()
        self._bar: Any = None
        if shown and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, unit=f" {unit}", file=sys.stderr)

    def advance(self) -> None:
        """Count one more step."""
        self._done += 1
        if self._bar is not None:
            self._bar.update()
            return
        now = time.monotonic()
        if self._lines and now - self._told >= LINE_EVERY_SECONDS:
            self._told = now
            print(self.line(now - self._started), file=sys.stderr, flush=True)  # noqa: T201

    def line(self, elapsed_seconds: float) -> str:
        """Write where the job stands after this many seconds."""
        steps = self._done - self._before
        left = (self._total - self._done) * elapsed_seconds / steps if steps else 0.0
        return (
            f"drivelab: {self._done} of {self._total} {self._unit}, "
            f"about {format_duration_ns(left * 1e9)} left"
        )

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
