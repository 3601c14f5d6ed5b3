"""The measurements of a run as the models take them: arrays, apart by what they are for."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivelab.drives.measurement import Measurement
from drivelab.errors import UsageError
from drivelab.models.features import FloatArray, workload_table
from drivelab.models.predictor import IntArray
from drivelab.workloads.parts import FITTED, PartName, Parts

METRICS: Final = ("latency_ns_mean", "bandwidth_bytes_per_second", "iops")
# Of a normal mean in its 95 % half-width.
_HALF_WIDTH_DEVIATIONS: Final = 1.96


@dataclass(frozen=True)
class Rows:
    """Measurements, one a row.

    Attributes
    ----------
    table
        Workloads in effect, shape (n, 8), as `features.workload_table` returns them.
    observed
        By metric, performance above 0, shape (n,).
    noise
        Variance of the logarithm of each row's mean latency, as far as its own half-width shows;
        0 where that is not known.
    indices
        Each row's measurement index.
    keys
        What identifies each row's workload.
    parts
        What each row's measurement is for.
    """

    table: FloatArray
    observed: Mapping[str, FloatArray]
    noise: FloatArray
    indices: IntArray
    keys: Sequence[Hashable]
    parts: Sequence[PartName]

    @classmethod
    def of(cls, measurements: Sequence[Measurement], parts: Parts | None = None) -> Rows:
        """Put measurements into arrays; all are for training without `parts`.

        Raises
        ------
        UsageError
            When a measurement has no performance above 0.
        """
        observed = {
            metric: np.array([getattr(one, metric) for one in measurements], dtype=np.float64)
            for metric in METRICS
        }
        for metric, values in observed.items():
            bad = np.flatnonzero(~((values > 0) & (values < np.inf)))
            if bad.size:
                index = measurements[int(bad[0])].index
                raise UsageError(
                    f"measurement {index} has a {metric} of {values[bad[0]]:g}; a model needs "
                    "performance above 0"
                )
        return cls(
            table=workload_table([one.characteristics for one in measurements]),
            observed=observed,
            noise=np.array([_noise(one.half_width_ratio) for one in measurements]),
            indices=np.array([one.index for one in measurements], dtype=np.int64),
            keys=[one.characteristics.key() for one in measurements],
            parts=[
                "training" if parts is None else parts.part_of(one.index) for one in measurements
            ],
        )

    def are(self, names: Container[PartName]) -> NDArray[np.bool_]:
        """Tell which rows belong to one of some parts, shape (n,)."""
        return np.array([part in names for part in self.parts], dtype=bool)


def _noise(half_width_ratio: float | None) -> float:
    """Return the variance that a 95 % half-width of a mean stands for, relative to it."""
    if half_width_ratio is None or not half_width_ratio < np.inf:
        return 0.0
    return (half_width_ratio / _HALF_WIDTH_DEVIATIONS) ** 2


def fitted_and_checked(
    measurements: Sequence[Measurement], parts: Parts | None
) -> tuple[Rows, Rows]:
    """Return what models are fitted to, and what they are checked on off-grid.

    Whatever else a run measured is for the report. All are fitted to without `parts`.
    """
    if parts is None:
        return Rows.of(measurements), Rows.of([])
    chosen: dict[bool, list[Measurement]] = {True: [], False: []}
    for one in measurements:
        part = parts.part_of(one.index)
        if part in FITTED or part == "check":
            chosen[part in FITTED].append(one)
    return Rows.of(chosen[True], parts), Rows.of(chosen[False], parts)
