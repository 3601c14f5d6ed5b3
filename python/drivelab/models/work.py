"""The work of a workload: what its requests make a drive read, write, move and wait for.

Trees find kinks, but need thousands of measurements for it. Kriging and the bottleneck model are
smooth. They learn from a few hundred measurements if they see quantities that time follows from:
pages that requests touch and leave partly written, bytes each way, outstanding pages, and how
unevenly sequential accesses load parallel units. All are simple arithmetic on the characteristics.
Each direction counts by its share of the requests, so nothing is missing if a workload only reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from drivelab.drives.write_pattern import LARGE_BYTES
from drivelab.models.features import PAGE_BYTES, SECTOR_BYTES, FloatArray, alignment
from drivelab.models.predictor import IntArray
from drivelab.workloads.characteristics import FIELDS

_COLUMN: Final = {name: number for number, name in enumerate(FIELDS)}
#: Added to an amount of work before its logarithm is taken: less counts as nothing.
_LITTLE: Final = 0.02
# A run of sequential accesses that never ends is assumed to have this many.
_LONGEST_RUN: Final = 64.0
# Number of sequential requests that are distributed over the units.
_IN_ORDER: Final = 16
# Number of rows that are distributed at a time: 64 units are 16 KiB per row.
_ROWS: Final = 4096


@dataclass(frozen=True)
class Direction:
    """What the reads, or the writes, of workloads are; each of shape (n,).

    Attributes
    ----------
    share
        Of the requests, 0 to 1.
    size, stride
        Bytes.
    random
        Share that goes anywhere, 0 to 1.
    pages, partial
        That a request touches, and touches but does not cover, on average.
    merged, merged_partial
        The same where requests that follow each other share the pages in which they meet.
    """

    share: FloatArray
    size: FloatArray
    stride: FloatArray
    random: FloatArray
    pages: FloatArray
    partial: FloatArray
    merged: FloatArray
    merged_partial: FloatArray

    @classmethod
    def of(cls, table: FloatArray, name: str) -> Direction:
        """Read ``read`` or ``write`` from a table of workloads in effect, shape (n, 8)."""
        write = table[:, _COLUMN["write_ratio"]]
        size, random, stride = (
            table[:, _COLUMN[f"{name}_{kind}"]] for kind in ("size", "random", "stride")
        )
        size = np.nan_to_num(size, nan=float(PAGE_BYTES))
        random, stride = np.nan_to_num(random, nan=1.0), np.nan_to_num(stride)
        # A random offset is a multiple of the size; one in order moves on by size and stride.
        apart = alignment(size)
        together = np.minimum(apart, alignment(stride))
        pages, partial = (
            random * of(size, apart) + (1 - random) * of(size, together)
            for of in (_touched, _partly)
        )
        run = 1 / np.maximum(random, 1 / _LONGEST_RUN)
        span = (run * (size + stride) - stride + PAGE_BYTES - apart) / PAGE_BYTES / run
        merged = np.where(stride < PAGE_BYTES, np.minimum(span, pages), pages)
        ends = 2 * (1 - apart / PAGE_BYTES) / run
        merged_partial = np.minimum(partial, np.where(stride == 0, ends, merged))
        share = write if name == "write" else 1 - write
        return cls(share, size, stride, random, pages, partial, merged, merged_partial)


def _touched(size: FloatArray, apart: FloatArray) -> FloatArray:
    """Return the pages that a request touches whose offset is any multiple of `apart`."""
    touched: FloatArray = (size + PAGE_BYTES - apart) / PAGE_BYTES
    return touched


def _partly(size: FloatArray, apart: FloatArray) -> FloatArray:
    """Return how many of these it does not cover."""
    return _touched(size, apart) - np.maximum(0.0, (size - PAGE_BYTES + apart) / PAGE_BYTES)


#: Kinds of writing, in addition to 0 for no random writes.
SMALL_ANYWHERE: Final = 1
LARGE_ANYWHERE: Final = 2


def kinds_of_writing(table: FloatArray) -> IntArray:
    """Return the kind of writing of workloads in effect, shape (n,).

    As `drivelab.drives.write_pattern` tells them apart: what is written in order and what is not
    written at all is 0.
    """
    size = np.nan_to_num(table[:, _COLUMN["write_size"]], nan=float(PAGE_BYTES))
    anywhere = np.nan_to_num(table[:, _COLUMN["write_random"]]) > 0
    anywhere &= table[:, _COLUMN["write_ratio"]] > 0
    large = np.where(size < LARGE_BYTES, SMALL_ANYWHERE, LARGE_ANYWHERE)
    found: IntArray = np.where(anywhere, large, 0)
    return found


#: Columns of `work_inputs`.
WORK_INPUTS: Final = 27


def work_inputs(table: FloatArray) -> FloatArray:
    """Return the work of workloads in effect, shape (n, `WORK_INPUTS`); finite everywhere."""
    columns = [table[:, _COLUMN["write_ratio"]], np.log2(table[:, _COLUMN["queue_depth"]])]
    size, pages = np.zeros(len(table)), np.zeros(len(table))
    kinds = kinds_of_writing(table)
    for name in ("read", "write"):
        one = Direction.of(table, name)
        share, in_order = one.share, one.share * (1 - one.random)
        size += share * one.size
        pages += share * one.pages
        columns += [
            share * np.log2(one.size),
            share * one.random,
            in_order * np.log2(1 + one.stride / SECTOR_BYTES),
            _amount(share * one.pages),
            _amount(share * one.size / PAGE_BYTES),
            _amount(share * one.random),
            _amount(share * one.merged),
            _amount(share * one.merged_partial),
        ]
        if name == "write":
            columns.append(_amount(share * one.partial))
            columns.append(_amount(in_order * (one.size < PAGE_BYTES)))
            # What the drive was written with before, where writes are sustained.
            for kind in (SMALL_ANYWHERE, LARGE_ANYWHERE):
                its = kinds == kind
                columns += [its.astype(np.float64), _amount(share * its * one.pages)]
    flying = table[:, _COLUMN["queue_depth"]] * pages
    columns += [np.log2(size), np.log2(pages), np.log2(flying)]
    return np.column_stack(columns)


def _amount(work: FloatArray) -> FloatArray:
    found: FloatArray = np.log2(work + _LITTLE)
    return found


@dataclass(frozen=True)
class Stripes:
    """Units that work in parallel, over which addresses are spread in turn.

    Attributes
    ----------
    units
        How many, 2 or more.
    stripe_bytes
        Of consecutive addresses on one unit.
    """

    units: int
    stripe_bytes: int

    def imbalance(self, size: FloatArray, stride: FloatArray) -> FloatArray:
        """Return the busiest unit's share over the mean, for sequential requests, shape (n,)."""
        found = np.empty(len(size))
        for begin in range(0, len(size), _ROWS):
            rows = slice(begin, begin + _ROWS)
            found[rows] = self._imbalance(size[rows], stride[rows])
        return found

    def _imbalance(self, size: FloatArray, stride: FloatArray) -> FloatArray:
        starts = np.arange(_IN_ORDER) * (size + stride)[:, np.newaxis]
        first = np.floor(starts / self.stripe_bytes)
        last = np.floor((starts + size[:, np.newaxis] - 1) / self.stripe_bytes)
        whole, rest = np.divmod(last - first + 1, self.units)
        first = np.mod(first, self.units)
        load = np.repeat(whole.sum(axis=1)[:, np.newaxis], self.units, axis=1)
        for unit in range(self.units):
            load[:, unit] += (np.mod(unit - first, self.units) < rest).sum(axis=1)
        found: FloatArray = load.max(axis=1) / load.mean(axis=1)
        return found

    def inputs(self, table: FloatArray) -> FloatArray:
        """Return the logarithms of the imbalances that reads and writes meet, shape (n, 2)."""
        columns = []
        for name in ("read", "write"):
            one = Direction.of(table, name)
            uneven = np.log2(self.imbalance(one.size, one.stride))
            columns.append(one.share * (1 - one.random) * uneven)
        return np.column_stack(columns)


#: What is tried.
STRIPES: Final = tuple(
    Stripes(units, stripe_bytes)
    for stripe_bytes in (4096, 8192, 16384, 32768)
    for units in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64)
)


def likely_stripes(table: FloatArray, left: FloatArray, count: int) -> list[Stripes]:
    """Return the stripes whose imbalance explains most of what a model leaves, best first.

    Parameters
    ----------
    table
        Workloads in effect, shape (n, 8).
    left
        What is left of each workload by a model that knows nothing of stripes, and best had not
        seen it, shape (n,).
    count
        How many to return.
    """
    explained = []
    for stripes in STRIPES:
        inputs = np.column_stack([np.ones(len(table)), stripes.inputs(table)])
        coefficients = np.linalg.lstsq(inputs, left, rcond=None)[0]
        explained.append(float(((left - inputs @ coefficients) ** 2).sum()))
    return [STRIPES[place] for place in np.argsort(explained, kind="stable")[:count]]
