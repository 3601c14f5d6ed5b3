"""How far `drivelab model --from` is, on standard error."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.models.own.fitting import MANY_ROWS, TableWatch
from drivelab.models.predictors import ESTIMATORS
from drivelab.notes import print_note
from drivelab.runs.progress import Progress


class OwnProgress(TableWatch):
    """Shows which estimator of how many is fitted.

    Attributes
    ----------
    left_out
        The lines about estimators that are left out.
    """

    def __init__(self) -> None:
        self.left_out: Sequence[str] = ()
        self._target = ""
        self._coming: list[str] = []
        self._total = 0
        self._bar: Progress | None = None

    def table(self, rows: int, left_out: Sequence[str]) -> None:
        """Say what is left out, and that many rows take their time."""
        self.left_out = left_out
        for line in left_out:
            print_note(line)
        if rows >= MANY_ROWS:
            print_note(f"fitting models to {rows:,} rows takes minutes")

    def target(self, name: str) -> None:
        """Take the name of the target that is fitted next."""
        self._target = name

    def begins(self, estimators: Sequence[str]) -> None:
        """Count the fits of a target; how many the next one needs is known when it begins."""
        self._coming = [*estimators]
        self._total += len(estimators)
        if self._bar is None:
            self._bar = Progress(self._total, 0, "fits", may_grow=True)
        else:
            self._bar.expect([1.0] * len(estimators))

    def fitted(self) -> None:
        """Count a fit, and say which is next."""
        del self._coming[0]
        if self._bar is None:
            return
        following = f": {ESTIMATORS[self._coming[0]].label}" if self._coming else ""
        self._bar.goes_on(self._total, f"{self._target}{following}")
        self._bar.advance()

    def close(self) -> None:
        """Leave what was shown last."""
        if self._bar is not None:
            self._bar.close()
