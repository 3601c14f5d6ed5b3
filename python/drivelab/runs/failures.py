"""What a run does about a measurement that fails: stop, or continue with the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from drivelab.errors import RunError
from drivelab.runs.executor import Failed

OnFailure = Literal["stop", "continue"]

# So many in a row, and it is the drive that failed, not a measurement on it.
MOST_FAILURES_IN_A_ROW: Final = 10


@dataclass
class FailureRule:
    """What to do about failures; it gets every measurement.

    Attributes
    ----------
    on_failure
        ``stop`` at the first, or ``continue`` until `MOST_FAILURES_IN_A_ROW` fail in a row.
    known
        Indices that failed in an earlier start: they say nothing about the drive today.
    met
        Those that failed in this one.
    """

    on_failure: OnFailure = "stop"
    known: frozenset[int] = frozenset()
    met: set[int] = field(default_factory=set, init=False)
    _in_a_row: int = field(default=0, init=False)

    def succeeded(self) -> None:
        """Note a measurement that gave a result."""
        self._in_a_row = 0

    def failed(self, failed: Failed) -> None:
        """Note a failure; a `RunError` where the run is to stop."""
        if self.on_failure == "stop":
            raise RunError(f"measurement {failed.index} failed: {failed.reason}")
        self.met.add(failed.index)
        self._in_a_row += failed.index not in self.known
        if self._in_a_row >= MOST_FAILURES_IN_A_ROW:
            raise RunError(
                f"{self._in_a_row} measurements in a row failed, the last: {failed.reason}"
            )
