"""What a model was trained on, and whether a question is outside it.

A question lies outside when a characteristic in effect is beyond the trained range by more than
a fiftieth of it (the ends of a sample lie a little inside those of its population), or when
nothing near it was measured. Near is a matter of distance in the space of scaled
characteristics: each runs from 0 to 1 over its trained range, sizes and queue depths in
logarithms, strides as log2(1 + stride in sectors); what concerns one direction counts as much
as that direction's share of the requests, a stride as much as the share of requests that
follow it. So a distance of 1 is the whole trained range of one characteristic that concerns
every request, and characteristics without effect count for nothing.

Nothing near was measured when the nearest trained workload is farther than half the range of
one such characteristic, and also farther than 99 % of the trained workloads are from the
nearest other one, so that a small campaign does not warn of its own grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivelab import _core
from drivelab.models.features import SECTOR_BYTES, UNITS, FloatArray
from drivelab.workloads.characteristics import FIELDS

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: How far beyond the trained range of a characteristic still counts as inside.
OVERSHOOT: Final = 0.02
#: A distance of half the trained range of one characteristic.
HALF_A_RANGE: Final = 0.5
#: Share of the trained workloads whose distance to the nearest other is no reason to warn.
USUAL_SHARE: Final = 0.99

_COLUMN: Final = {name: number for number, name in enumerate(FIELDS)}
# Distances between this many pairs are computed at a time, 8 bytes each.
_PAIRS: Final = 2**21


@dataclass(frozen=True)
class TrainedWorkloads:
    """The workloads in the training part of a run.

    Attributes
    ----------
    table
        Workloads in effect, shape (n, 8), as `features.workload_table` returns them.
    """

    table: FloatArray

    @cached_property
    def ranges(self) -> Mapping[str, tuple[float, float] | None]:
        """Return smallest and largest value of each characteristic in effect; None if never."""
        ranges: dict[str, tuple[float, float] | None] = {}
        for name, column in _COLUMN.items():
            values = self.table[~np.isnan(self.table[:, column]), column]
            ranges[name] = (float(values.min()), float(values.max())) if values.size else None
        return ranges

    def out_of_range(self, table: FloatArray) -> BoolArray:
        """Return, by row and characteristic, which values in effect are beyond those trained."""
        beyond = np.zeros(table.shape, dtype=bool)
        for name, column in _COLUMN.items():
            values, trained = table[:, column], self.ranges[name]
            if trained is None:
                beyond[:, column] = ~np.isnan(values)
                continue
            low, high = _transformed(name, np.array(trained))
            reach = OVERSHOOT * (high - low)
            scaled = _transformed(name, values)
            beyond[:, column] = (scaled < low - reach) | (scaled > high + reach)
        return beyond

    def outside(self, table: FloatArray) -> BoolArray:
        """Return which rows are outside the trained range, shape (n,)."""
        outside: BoolArray = np.any(self.out_of_range(table), axis=1)
        inside = np.flatnonzero(~outside)
        scaled = np.ascontiguousarray(self._scaled(table[inside]))
        near = _core.any_within(scaled, self._trained, scaled.shape[1], self.far)
        outside[inside] = np.frombuffer(near, dtype=np.uint8) == 0
        return outside

    def distance(self, table: FloatArray) -> FloatArray:
        """Return each row's distance to the nearest trained workload, shape (n,)."""
        result = np.empty(len(table))
        rows = max(1, _PAIRS // max(1, len(self.table)))
        for start in range(0, len(table), rows):
            part = self._scaled(table[start : start + rows])
            result[start : start + rows] = _distances(part, self._trained).min(axis=1)
        return result

    def neighbours(self, table: FloatArray, count: int) -> IntArray:
        """Return the places of the trained workloads nearest to each row, nearest first.

        Shape (n, count), or as many as there are.
        """
        return self._neighbours(self._scaled(table), count)

    def neighbours_of_trained(self, count: int) -> IntArray:
        """Return what `neighbours` does of each trained workload, itself and repeats left out."""
        return self._neighbours(self._trained, count, others=True)

    def _neighbours(self, scaled: FloatArray, count: int, *, others: bool = False) -> IntArray:
        count = min(count, len(self._trained))
        found = np.empty((len(scaled), count), dtype=np.int64)
        rows = max(1, _PAIRS // len(self._trained))
        for start in range(0, len(scaled), rows):
            distances = _distances(scaled[start : start + rows], self._trained)
            if others:
                # The last choice, for a run of one workload alone.
                distances[distances == 0] = np.inf
            order = np.argsort(distances, axis=1, kind="stable")
            found[start : start + rows] = order[:, :count]
        return found

    def nearest(self, row: FloatArray, count: int) -> list[tuple[int, float]]:
        """Return the rows of the nearest trained workloads and their distances, nearest first."""
        distances = _distances(self._scaled(row.reshape(1, -1)), self._trained)[0]
        order = np.argsort(distances, kind="stable")[:count]
        return [(int(place), float(distances[place])) for place in order]

    @cached_property
    def far(self) -> float:
        """Distance beyond which nothing near was measured."""
        distinct = np.unique(self._trained, axis=0)
        nearest = np.zeros(len(distinct))
        rows = max(1, _PAIRS // len(distinct))
        for start in range(0, len(distinct), rows):
            distances = _distances(distinct[start : start + rows], distinct)
            places = np.arange(len(distances))
            distances[places, start + places] = np.inf
            nearest[start : start + rows] = distances.min(axis=1)
        if len(distinct) == 1:
            return HALF_A_RANGE
        usual = float(np.quantile(nearest, USUAL_SHARE, method="inverted_cdf"))
        return max(HALF_A_RANGE, usual)

    @cached_property
    def _trained(self) -> FloatArray:
        return np.ascontiguousarray(self._scaled(self.table))

    def _scaled(self, table: FloatArray) -> FloatArray:
        def scaled(name: str) -> FloatArray:
            trained = self.ranges[name]
            if trained is None:
                return np.zeros(len(table))
            values = _transformed(name, table[:, _COLUMN[name]])
            low, high = (float(_transformed(name, np.array(end))) for end in trained)
            # What has no effect is NaN, and its share of the requests is 0.
            return np.nan_to_num((values - low) / (high - low if high > low else 1.0))

        columns = [scaled("write_ratio"), scaled("queue_depth")]
        write = table[:, _COLUMN["write_ratio"]]
        for direction, share in (("read", 1 - write), ("write", write)):
            random = np.nan_to_num(table[:, _COLUMN[f"{direction}_random"]], nan=1.0)
            columns.append(share * scaled(f"{direction}_size"))
            columns.append(share * scaled(f"{direction}_random"))
            columns.append(share * (1 - random) * scaled(f"{direction}_stride"))
        return np.column_stack(columns)


def _transformed(name: str, values: FloatArray) -> FloatArray:
    if name.endswith("_stride"):
        result: FloatArray = np.log2(1 + values / SECTOR_BYTES)
        return result
    return values if UNITS[name] == "ratio" else np.log2(values)


def _distances(rows: FloatArray, others: FloatArray) -> FloatArray:
    """Return Euclidean distances, shape (rows, others)."""
    squares = np.zeros((len(rows), len(others)))
    for column in range(rows.shape[1]):
        squares += (rows[:, column, None] - others[None, :, column]) ** 2
    return np.sqrt(squares)
