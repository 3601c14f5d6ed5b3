"""What a model sees of a workload: basic and extended features.

Both are projections of the same eight characteristics, so both models are trained on the
same runs. A characteristic without effect (the write size where nothing is written, the
stride where every access is random) is missing, NaN, so that equal workloads have equal
features whatever value it was given.

Transforms, the same for every estimator. Time grows with the product of sizes and depths,
and people choose them in powers of two, so they enter as base-2 logarithms; with the
logarithm of the performance as target, a linear part is then a power law. Trees split the
same way with or without a monotone transform. Ratios enter as they are. Strides can be 0
(sequential) and enter as log2(1 + stride in sectors of 512 bytes).

Three of the extended features are what trees would otherwise approach only in steps, or not
learn at all from a grid of values; figures are from a simulated drive:

- The stride counts as much as the share of its direction's requests that follow it. A design
  with strides only in workloads without random requests cannot show what a stride does when half
  of the requests are random. With this feature the error on such workloads fell by a quarter.
- The request size of the basic features; the error of predicted bandwidths fell by a third.
- The pages of 4 KiB that a request touches on average, the unit of file systems and of most
  drives' mapping: a request that is not aligned to them touches more than it moves, and a write
  makes the drive read what it does not replace. Errors fell by a tenth, between the values of a
  grid by a third.

Trees handle missing features: a split sends them to the better side, and in a linear leaf they
contribute nothing. Ordinary least squares cannot. A straight line in the extended features alone
would weigh the write size of a workload that hardly writes like that of one that only writes. So it
sees each direction's features times that direction's share of requests, which is 0 exactly where
they have no effect, and the basic features, which are such weighted means already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivelab.errors import UsageError
from drivelab.workloads.characteristics import FIELDS, Characteristics

FloatArray = NDArray[np.float64]

SECTOR_BYTES: Final = 512
PAGE_BYTES: Final = 4096
# Unit of each characteristic as it is measured and asked for.
UNITS: Final = {
    "write_ratio": "ratio",
    "queue_depth": "requests",
    "read_size": "bytes",
    "write_size": "bytes",
    "read_random": "ratio",
    "write_random": "ratio",
    "read_stride": "bytes",
    "write_stride": "bytes",
}
_COLUMN: Final = {name: number for number, name in enumerate(FIELDS)}
_LOWEST: Final = {"ratio": 0.0, "requests": 1.0, "bytes": 0.0}
_HIGHEST: Final = {"ratio": 1.0, "requests": np.inf, "bytes": np.inf}


@dataclass(frozen=True)
class FeatureSet:
    """The input of a model.

    Attributes
    ----------
    name
        ``basic`` or ``extended``.
    features
        Names of the columns, transform and unit last.
    project
        From a table of characteristics in effect (see `effective_table`) to the features.
    linear_inputs, project_linear
        The same for ordinary least squares; never NaN.
    """

    name: str
    features: tuple[str, ...]
    project: Callable[[FloatArray], FloatArray]
    linear_inputs: tuple[str, ...]
    project_linear: Callable[[FloatArray], FloatArray]


def workload_table(workloads: Sequence[Characteristics] | FloatArray) -> FloatArray:
    """Return workloads as rows, characteristics without effect NaN.

    Parameters
    ----------
    workloads
        Characteristics, or an array of shape (n, 8) with columns in the order of
        `drivelab.workloads.characteristics.FIELDS`: ratios 0 to 1, sizes and strides in
        bytes. What has no effect may be anything, NaN too.

    Returns
    -------
    array of shape (n, 8)

    Raises
    ------
    UsageError
        Names the row and the characteristic that is missing or out of range.
    """
    if isinstance(workloads, np.ndarray):
        table = np.array(workloads, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != len(FIELDS):
            raise UsageError(
                f"workloads have the shape (rows, {len(FIELDS)}) with the columns "
                f"{', '.join(FIELDS)}; found the shape {table.shape}"
            )
    else:
        table = np.array([workload.as_tuple() for workload in workloads], dtype=np.float64)
        table = table.reshape(-1, len(FIELDS))
    table = effective_table(table)
    _check_ranges(table)
    return table


def effective_table(table: FloatArray) -> FloatArray:
    """Return the table with what has no effect blanked, as `Characteristics.canonical` does."""
    blanked = table.copy()
    write_ratio = table[:, _COLUMN["write_ratio"]]
    for direction, unused in (("read", 1 - write_ratio <= 0), ("write", write_ratio <= 0)):
        size, random, stride = (
            _COLUMN[f"{direction}_{kind}"] for kind in ("size", "random", "stride")
        )
        blanked[table[:, random] >= 1, stride] = np.nan
        for column in (size, random, stride):
            blanked[unused, column] = np.nan
    return blanked


def characteristics_of(row: FloatArray) -> Characteristics:
    """Return a row of a `workload_table` as a workload, defaults where nothing has effect."""
    return Characteristics(
        **{
            name: value if UNITS[name] == "ratio" else int(value)
            for name, value in zip(FIELDS, row.tolist(), strict=True)
            if not np.isnan(value)
        }
    )


def _check_ranges(table: FloatArray) -> None:
    shares = {"read": 1 - table[:, 0], "write": table[:, 0]}
    for name, column in _COLUMN.items():
        low, high = _LOWEST[UNITS[name]], _HIGHEST[UNITS[name]]
        if name.endswith("_size"):
            low = 1.0
        values = table[:, column]
        good = (values >= low) & (values <= high) & (values < np.inf)
        direction, _, kind = name.partition("_")
        if direction in shares and name != "write_ratio":
            effective = shares[direction] > 0
            if kind == "stride":
                effective &= ~(table[:, _COLUMN[f"{direction}_random"]] >= 1)
            good |= ~effective
        if not good.all():
            row = int(np.argmin(good))
            found = "missing" if np.isnan(values[row]) else f"{values[row]:g}"
            allowed = f"{low:g} to {high:g}" if high < np.inf else f"{low:g} or more"
            raise UsageError(f"row {row}: {name} is {found}; allowed: {allowed} {UNITS[name]}")


def _mean_of_requests(table: FloatArray, read: FloatArray, write: FloatArray) -> FloatArray:
    """Return the mean over all requests of what each direction has."""
    write_ratio = table[:, _COLUMN["write_ratio"]]
    # What is missing has the weight 0, but 0 * NaN would be NaN.
    mean: FloatArray = (1 - write_ratio) * np.where(np.isnan(read), write, read)
    mean += write_ratio * np.where(np.isnan(write), read, write)
    return mean


def _weighted(table: FloatArray, kind: str) -> FloatArray:
    read, write = (table[:, _COLUMN[f"{direction}_{kind}"]] for direction in ("read", "write"))
    return _mean_of_requests(table, read, write)


def mean_size(table: FloatArray) -> FloatArray:
    """Return the mean size of all requests in bytes, shape (n,)."""
    return _weighted(table, "size")


def _mean_pages(table: FloatArray) -> FloatArray:
    """Return the pages that a request touches, the mean over all requests.

    Requests of s bytes whose offsets are spread over the multiples of g, with g a divisor of s
    and of the page P, touch (s + P - g) / P pages on average. A random offset is a multiple of
    the size; one that follows the last access moves on by size and stride.
    """

    def pages(direction: str) -> FloatArray:
        size, random, stride = (
            table[:, _COLUMN[f"{direction}_{kind}"]] for kind in ("size", "random", "stride")
        )
        of_size = alignment(size)
        in_order = np.minimum(of_size, alignment(stride))
        apart = in_order + np.nan_to_num(random) * (of_size - in_order)
        touched: FloatArray = (size + PAGE_BYTES - apart) / PAGE_BYTES
        return touched

    return _mean_of_requests(table, pages("read"), pages("write"))


def alignment(byte_counts: FloatArray) -> FloatArray:
    """Return the largest power of two that divides a number of bytes, a page at most."""
    in_page = np.fmod(np.nan_to_num(byte_counts), PAGE_BYTES).astype(np.int64)
    lowest_bit: FloatArray = np.where(in_page > 0, in_page & -in_page, PAGE_BYTES).astype(float)
    return lowest_bit


def _project_basic(table: FloatArray) -> FloatArray:
    """Huang et al. 2011, equation 2: size and randomness weighted by the write ratio."""
    return np.column_stack(
        [
            table[:, _COLUMN["write_ratio"]],
            np.log2(table[:, _COLUMN["queue_depth"]]),
            np.log2(mean_size(table)),
            _weighted(table, "random"),
        ]
    )


def _project_extended(table: FloatArray) -> FloatArray:
    """Huang et al. 2011, equation 4, in its order, and what is made of it."""

    def of(name: str) -> FloatArray:
        return table[:, _COLUMN[name]]

    def ordered_stride(direction: str) -> FloatArray:
        random = of(f"{direction}_random")
        stride = np.log2(1 + of(f"{direction}_stride") / SECTOR_BYTES)
        # Missing where every access is random, but then no request follows it.
        weighted: FloatArray = np.where(random >= 1, 0.0, (1 - random) * stride)
        return weighted

    return np.column_stack(
        [
            of("write_ratio"),
            np.log2(of("queue_depth")),
            np.log2(of("write_size")),
            np.log2(of("read_size")),
            of("write_random"),
            of("read_random"),
            ordered_stride("write"),
            ordered_stride("read"),
            np.log2(mean_size(table)),
            np.log2(_mean_pages(table)),
        ]
    )


def _project_extended_linear(table: FloatArray) -> FloatArray:
    """Return the basic features and each direction's own times the share they are about."""
    extended = _project_extended(table)
    write = table[:, _COLUMN["write_ratio"]]
    shares = np.column_stack([write, 1 - write] * 3)
    return np.column_stack([_project_basic(table), np.nan_to_num(extended[:, 2:8]) * shares])


_BASIC: Final = ("write_ratio", "queue_depth_log2", "request_size_log2_bytes", "random_ratio")
_EXTENDED: Final = (
    "write_ratio",
    "queue_depth_log2",
    "write_size_log2_bytes",
    "read_size_log2_bytes",
    "write_random_ratio",
    "read_random_ratio",
    "write_stride_log2_sectors_times_in_order",
    "read_stride_log2_sectors_times_in_order",
    "request_size_log2_bytes",
    "request_pages_log2",
)
#: Basic (equation 2): write ratio, queue depth, and means over the requests of size and
#: randomness, so weighted by the write ratio; strides are dropped. Extended: the eight
#: characteristics of equation 4, NaN where without effect, the size of equation 2, and the pages
#: that a request touches.
FEATURE_SETS: Final = {
    "basic": FeatureSet("basic", _BASIC, _project_basic, _BASIC, _project_basic),
    "extended": FeatureSet(
        "extended",
        _EXTENDED,
        _project_extended,
        (*_BASIC, *(f"{name}_times_share" for name in _EXTENDED[2:8])),
        _project_extended_linear,
    ),
}
