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

The extended features end with the request size of the basic ones. It is a function of the
other eight, but of three at once, which trees approach only in steps; with it the error of
predicted bandwidths fell by a third on a simulated drive.

Trees take missing features as they are: a split sends them to the side that suits them, and
in a linear leaf they contribute nothing. Ordinary least squares cannot, and a straight line
in the extended features alone would weigh the write size of a workload that hardly writes
like that of one that only writes. So it sees each direction's features times the share of
requests that they are about, which is 0 exactly where they have no effect, beside the basic
features, which are such weighted means already.
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


def _weighted(table: FloatArray, kind: str) -> FloatArray:
    """Return the mean size or randomness of all requests."""
    write_ratio = table[:, _COLUMN["write_ratio"]]
    read = table[:, _COLUMN[f"read_{kind}"]]
    write = table[:, _COLUMN[f"write_{kind}"]]
    # What is missing has the weight 0, but 0 * NaN would be NaN.
    mean: FloatArray = (1 - write_ratio) * np.where(np.isnan(read), write, read)
    mean += write_ratio * np.where(np.isnan(write), read, write)
    return mean


def _project_basic(table: FloatArray) -> FloatArray:
    """Huang et al. 2011, equation 2: size and randomness weighted by the write ratio."""
    return np.column_stack(
        [
            table[:, _COLUMN["write_ratio"]],
            np.log2(table[:, _COLUMN["queue_depth"]]),
            np.log2(_weighted(table, "size")),
            _weighted(table, "random"),
        ]
    )


def _project_extended(table: FloatArray) -> FloatArray:
    """Huang et al. 2011, equation 4, in its order, and the request size of equation 2."""

    def of(name: str) -> FloatArray:
        return table[:, _COLUMN[name]]

    return np.column_stack(
        [
            of("write_ratio"),
            np.log2(of("queue_depth")),
            np.log2(of("write_size")),
            np.log2(of("read_size")),
            of("write_random"),
            of("read_random"),
            np.log2(1 + of("write_stride") / SECTOR_BYTES),
            np.log2(1 + of("read_stride") / SECTOR_BYTES),
            np.log2(_weighted(table, "size")),
        ]
    )


def _project_extended_linear(table: FloatArray) -> FloatArray:
    """Return the basic features and each direction's own times the share they are about."""
    extended = _project_extended(table)
    write = table[:, _COLUMN["write_ratio"]]
    shares = [write, 1 - write]
    in_order = [
        share * (1 - np.nan_to_num(table[:, _COLUMN[f"{direction}_random"]]))
        for direction, share in zip(("write", "read"), shares, strict=True)
    ]
    weights = np.column_stack([*shares, *shares, *in_order])
    return np.column_stack([_project_basic(table), np.nan_to_num(extended[:, 2:8]) * weights])


_BASIC: Final = ("write_ratio", "queue_depth_log2", "request_size_log2_bytes", "random_ratio")
_EXTENDED: Final = (
    "write_ratio",
    "queue_depth_log2",
    "write_size_log2_bytes",
    "read_size_log2_bytes",
    "write_random_ratio",
    "read_random_ratio",
    "write_stride_log2_sectors",
    "read_stride_log2_sectors",
    "request_size_log2_bytes",
)
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


def basic_features(workloads: Sequence[Characteristics] | FloatArray) -> FloatArray:
    """Return the basic features (equation 2), shape (n, 4), never NaN.

    Write ratio, queue depth, request size and randomness; the last two are means over the
    requests, so weighted by the write ratio. Strides are dropped.
    """
    return FEATURE_SETS["basic"].project(workload_table(workloads))


def extended_features(workloads: Sequence[Characteristics] | FloatArray) -> FloatArray:
    """Return the extended features, shape (n, 9), NaN where without effect.

    The eight characteristics of equation 4 and the request size of equation 2.
    """
    return FEATURE_SETS["extended"].project(workload_table(workloads))
