"""A mixed-integer linear program, row by row, and its solver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.errors import RunError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SOLVED: Final = 0
_STOPPED: Final = 1
_INFEASIBLE: Final = 2
# What HiGHS takes for whole, and the largest that it still takes for 0, leave this much.
_TOLERANCE: Final = 1e-7
_GAP: Final = 1e-6


@dataclass(frozen=True)
class Minimum:
    """What a solver found.

    Attributes
    ----------
    values
        Of the variables.
    value
        Of the objective.
    gap
        How much less it may still be, as a share.
    """

    values: NDArray[np.float64]
    value: float
    gap: float


class Program:
    """Variables by number, and what holds of sums of them."""

    def __init__(self) -> None:
        self._low: list[float] = []
        self._high: list[float] = []
        self._whole: list[int] = []
        self._cells: list[tuple[int, int, float]] = []
        self._least: list[float] = []
        self._most: list[float] = []

    def variable(self, low: float, high: float, *, is_whole: bool = False) -> int:
        """Add a variable; give its number."""
        self._low.append(low)
        self._high.append(high)
        self._whole.append(int(is_whole))
        return len(self._low) - 1

    def binary(self) -> int:
        """Add a variable that is 0 or 1."""
        return self.variable(0.0, 1.0, is_whole=True)

    def at_most(self, terms: Mapping[int, float], most: float) -> None:
        """Hold a sum: each variable times its factor."""
        self._row(terms, -math.inf, most)

    def equal(self, terms: Mapping[int, float], value: float) -> None:
        """Hold a sum to a value; without a variable only 0 is possible."""
        self._row(terms, value, value)

    def _row(self, terms: Mapping[int, float], least: float, most: float) -> None:
        row = len(self._most)
        self._cells += [(row, variable, factor) for variable, factor in terms.items() if factor]
        self._least.append(least)
        self._most.append(most + _TOLERANCE * max(1.0, abs(most)) if least != most else most)

    def minimise(self, terms: Mapping[int, float], time_limit: float | None) -> Minimum | None:
        """Make a sum the least; ``None`` where there is no solution.

        Raises
        ------
        RunError
            When the solver fails, or found nothing by the time limit.
        """
        import numpy as np
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        objective = np.zeros(len(self._low))
        for variable, factor in terms.items():
            objective[variable] = factor
        rows, columns, factors = zip(*self._cells, strict=True) if self._cells else ((), (), ())
        matrix = csr_array((factors, (rows, columns)), shape=(len(self._most), len(self._low)))
        options: dict[str, float] = {"mip_rel_gap": _GAP}
        if time_limit is not None:
            options["time_limit"] = time_limit
        found = milp(
            objective,
            integrality=self._whole,
            bounds=Bounds(self._low, self._high),
            constraints=LinearConstraint(matrix, self._least, self._most),
            options=options,
        )
        if found.status == _INFEASIBLE:
            return None
        if found.x is None:
            reason = "found no placement in time" if found.status == _STOPPED else found.message
            raise RunError(f"the solver {reason}; give it more time with --time-limit")
        gap = 0.0 if found.status == _SOLVED else float(found.mip_gap or 0.0)
        return Minimum(found.x, float(found.fun), gap)
