"""A drive that is a formula: asymmetrical, with kinks, for trying models.

Reads and writes differ in fixed cost, rate, what randomness costs and how far a queue
overlaps them; a mix pays for interference. None of it is fitted to a real drive.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drivelab._core import histogram_bin
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.workloads.characteristics import Characteristics

Array = NDArray[np.float64]

# The extended features' order (Huang et al. 2011, eq. 4), all in effect.
COLUMNS = (
    "write_ratio",
    "queue_depth",
    "write_size",
    "read_size",
    "write_random",
    "read_random",
    "write_stride",
    "read_stride",
)


def grid_workloads(count: int, seed: int) -> Array:
    """Draw workloads from the value sets of Huang et al. 2011, section IV.A."""
    random = np.random.default_rng(seed)
    values: dict[str, list[float]] = {
        "write_ratio": [0, 0.25, 0.5, 0.75, 1],
        "queue_depth": [1, 4, 16, 64],
        "write_size": [1024 * 4**power for power in range(5)],
        "read_size": [1024 * 4**power for power in range(5)],
        "write_random": [0, 0.5, 1],
        "read_random": [0, 0.5, 1],
        "write_stride": [0, 1024, 65536, 131072, 262144],
        "read_stride": [0, 1024, 65536, 131072, 262144],
    }
    return np.column_stack([random.choice(values[name], count) for name in COLUMNS])


def spread_workloads(count: int, seed: int) -> Array:
    """Draw workloads between the grid's values, sizes and depths even in the logarithm."""
    random = np.random.default_rng(seed)
    columns = {
        "write_ratio": random.uniform(0, 1, count),
        "queue_depth": np.floor(2 ** random.uniform(0, 6.01, count)),
        "write_size": 512 * np.floor(2 ** random.uniform(1, 9, count)),
        "read_size": 512 * np.floor(2 ** random.uniform(1, 9, count)),
        "write_random": random.uniform(0, 1, count),
        "read_random": random.uniform(0, 1, count),
        "write_stride": 512 * random.integers(0, 512, count),
        "read_stride": 512 * random.integers(0, 512, count),
    }
    return np.column_stack([columns[name] for name in COLUMNS])


def latency_ns(workloads: Array, noise: float = 0.0, seed: int = 0) -> Array:
    """Mean latency of each workload in ns, with `noise` as sigma of its logarithm."""
    of = {name: workloads[:, column] for column, name in enumerate(COLUMNS)}
    write, read = of["write_ratio"], 1 - of["write_ratio"]
    read_ns = 60e3 + of["read_size"] * 4.0 + of["read_random"] * 25e3
    read_ns = read_ns + (1 - of["read_random"]) * np.minimum(of["read_stride"] / 8, 12e3)
    small = np.maximum(0, 1 - of["write_size"] / 131072)
    write_ns = 70e3 + of["write_size"] * 13.0 + of["write_random"] * small * 220e3
    unaligned = (of["write_stride"] % 4096 != 0) * (1 - of["write_random"])
    write_ns = write_ns * (1 + 0.3 * unaligned)
    pages = np.maximum(1, np.ceil((read * of["read_size"] + write * of["write_size"]) / 4096))
    overlap = np.minimum(of["queue_depth"], np.maximum(1, 20 / np.sqrt(pages)))
    overlap = overlap ** (1 - 0.45 * write)
    mixed_ns = read * read_ns + write * write_ns + 4 * read * write * 50e3
    latency = mixed_ns * of["queue_depth"] / overlap
    return latency * np.exp(np.random.default_rng(seed).normal(0, noise, len(workloads)))


def extended(workloads: Array) -> Array:
    """Give the workloads as features, logarithmic and NaN where not in effect."""
    features = workloads.copy()
    features[:, 1:4] = np.log2(features[:, 1:4])
    features[:, 6:] = np.log2(1 + features[:, 6:] / 512)
    for write, columns in ((True, (2, 4, 6)), (False, (3, 5, 7))):
        unused = workloads[:, 0] == (0 if write else 1)
        features[np.ix_(unused, columns)] = np.nan
    features[workloads[:, 4] == 1, 6] = np.nan
    features[workloads[:, 5] == 1, 7] = np.nan
    return features


def measurements(workloads: Array, noise: float = 0.0, seed: int = 0) -> list[Measurement]:
    """Measure the drive in a closed loop of a thousand requests a workload."""
    return [
        _measurement(index, row, latency)
        for index, (row, latency) in enumerate(
            zip(workloads, latency_ns(workloads, noise, seed), strict=True)
        )
    ]


def characteristics(row: Array) -> Characteristics:
    values = dict(zip(COLUMNS, row.tolist(), strict=True))
    ratios = ("write_ratio", "write_random", "read_random")
    return Characteristics(
        **{name: value if name in ratios else int(value) for name, value in values.items()}
    )


def _measurement(index: int, row: Array, latency: float) -> Measurement:
    workload = characteristics(row)
    written = round(1000 * workload.write_ratio)
    parts = [
        OperationResult(
            requests=requests,
            bytes=requests * size,
            latency_ns_mean=float(latency),
            latency_ns_min=int(latency),
            latency_ns_max=int(latency) + 1,
            histogram={histogram_bin(int(latency)): requests},
        )
        if requests
        else None
        for requests, size in (
            (1000 - written, workload.read_size),
            (written, workload.write_size),
        )
    ]
    duration_ns = round(1000 * latency / workload.queue_depth)
    return Measurement(index, workload, duration_ns, parts[0], parts[1])


def lasting(part: Any, latency_ns: int) -> Any:
    """Return one direction of a measurement, if it is there, with all its latencies the same."""
    if part is None:
        return None
    return dataclasses.replace(
        part, latency_ns_mean=latency_ns, latency_ns_min=latency_ns, latency_ns_max=latency_ns
    )
