"""How far predictions are off: R2, MAE and MRE (Huang et al. 2011, section IV.A)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from drivelab.checked_json import Node


@dataclass(frozen=True)
class Accuracy:
    """Accuracy on the original scale, not the logarithm that models are fitted to.

    Attributes
    ----------
    r2
        1 - SSE / SST. NaN where all observations are equal (one row included), because
        SST is then 0 and nothing could be explained.
    mae
        Mean of ``|p - p_hat|``, in the unit of the observations.
    mean
        Mean of the observations, which the paper prints next to the MAE.
    mre
        Mean of ``|p - p_hat| / p``, as a ratio: 0.09 is 9 %. NaN where observations may be 0 or
        less.
    rows
        Number of predictions.
    """

    r2: float
    mae: float
    mean: float
    mre: float
    rows: int

    def to_json(self) -> dict[str, float | int | None]:
        """Return the values; an R2 or MRE that does not exist is null."""
        return {
            "r2": None if math.isnan(self.r2) else self.r2,
            "mae": self.mae,
            "mean": self.mean,
            "mre_ratio": None if math.isnan(self.mre) else self.mre,
            "rows": self.rows,
        }

    @classmethod
    def from_json(cls, node: Node) -> Self:
        """Read what `to_json` gave; raises `MismatchError` for anything else."""
        r2, mre = node.of("r2"), node.of("mre_ratio")
        return cls(
            r2=math.nan if r2.value is None else r2.number(),
            mae=node.of("mae").number(),
            mean=node.of("mean").number(),
            mre=math.nan if mre.value is None else mre.number(),
            rows=node.of("rows").integer(1, 2**63 - 1),
        )


def measure_accuracy(
    observed: ArrayLike, predicted: ArrayLike, *, relative: bool = True
) -> Accuracy:
    """Compare predictions with what was observed.

    Parameters
    ----------
    observed, predicted
        Performance in one unit, shape (n,), n at least 1; observations above 0, because
        errors are taken relative to them.
    relative
        False where observations may be 0 or less: then there is no MRE.

    Raises
    ------
    UsageError
        When lengths differ, there are no rows, a value is not finite or an observation
        is not above 0 where errors are relative.
    """
    p = np.asarray(observed, dtype=np.float64)
    p_hat = np.asarray(predicted, dtype=np.float64)
    if p.ndim != 1 or p.shape != p_hat.shape or p.size == 0:
        raise UsageError(
            "accuracy needs as many predictions as observations, at least one; found "
            f"{p.shape} and {p_hat.shape}"
        )
    if not (np.isfinite(p).all() and np.isfinite(p_hat).all()):
        raise UsageError("accuracy needs finite observations and predictions")
    if relative and not (p > 0).all():
        raise UsageError(
            f"observation {int(np.argmin(p > 0))} is not above 0; a relative error does not exist"
        )
    error = np.abs(p - p_hat)
    sse = float(np.sum(error**2))
    sst = float(np.sum((p - p.mean()) ** 2))
    constant = bool((p == p[0]).all())
    return Accuracy(
        r2=math.nan if constant else 1 - sse / sst,
        mae=float(error.mean()),
        mean=float(p.mean()),
        mre=float((error / p).mean()) if relative else math.nan,
        rows=int(p.size),
    )
