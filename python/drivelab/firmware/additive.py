"""The time that cores work, as a sum over what the firmware did.

::

    time of all cores in a record = sum over counts n_k (cycles_k / clock + memory_ns_k)

Both coefficients are found by non-negative least squares: cycles in pipelines, near caches and
missed branches on one side, and time that waits for memory on the other. Errors are relative to a
record's time, and every workload has the same weight. The simulator charges these costs
(`drivelab.firmware_model.costs`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from drivelab.firmware.counted_work import counted_work
from drivelab.firmware.leave_one_out import (
    LeftOut,
    WorkloadError,
    check_workloads,
    error_of,
)
from drivelab.firmware_model.costs import COUNTS, Cost, Costs
from drivelab.one_thread import one_thread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from drivelab.firmware.profiled import Profiled
    from drivelab.firmware.record_logs import RecordLog

    Array = NDArray[np.float64]


def clock_mhz(parameters: Mapping[str, Any]) -> float:
    """Return the clock of a target by its parameters."""
    return float(parameters["frequency_hz"]) / 1e6


def core_ns(target: RecordLog) -> Array:
    """Return the time that all cores together work in each record, ns, shape (records,)."""
    found: Array = target.column("busy_cycles") * 1000 / clock_mhz(target.parameters)
    return found


def predicted_core_ns(costs: Costs, counted: RecordLog, clock: float) -> Array:
    """Return the same from counts, at a clock in MHz."""
    each = [costs.of[name].cycles * 1000 / clock + costs.of[name].memory_ns for name in COUNTS]
    found: Array = counted_work(counted) @ np.array(each)
    return found


def fit_costs(profiles: Sequence[Profiled]) -> Costs:
    """Fit the costs of counts to the work of workloads' records."""
    work = np.concatenate([core_ns(each.target) for each in profiles])
    of_workload = np.concatenate([np.full(len(each), len(each)) for each in profiles])
    weight = 1 / work / np.sqrt(of_workload)
    rows = np.vstack([counted_work(each.counted) for each in profiles]) * weight[:, None]
    busy, memory = (
        np.concatenate([each.target.column(name) for each in profiles])
        for name in ("busy_cycles", "memory_cycles")
    )
    memory_ns = memory * 1000 / clock_mhz(profiles[0].target.parameters)
    found = [_not_negative(rows, part * weight) for part in (busy - memory, memory_ns)]
    return Costs(
        {
            name: Cost(float(cycles), float(memory))
            for name, cycles, memory in zip(COUNTS, *found, strict=True)
        }
    )


def left_out_costs(profiles: Sequence[Profiled]) -> LeftOut:
    """Predict the work of each workload with costs that were fitted to the others.

    Raises
    ------
    UsageError
        With too few workloads.
    """
    check_workloads(len(profiles))
    errors = []
    for each in profiles:
        costs = fit_costs([other for other in profiles if other is not each])
        errors.append(_error(each, costs))
    return LeftOut(tuple(errors), {})


def errors_of_costs(profiles: Sequence[Profiled], costs: Costs) -> LeftOut:
    """Compare costs that nothing was learned for with the work of workloads."""
    return LeftOut(tuple(_error(each, costs) for each in profiles), {})


def _error(profiled: Profiled, costs: Costs) -> WorkloadError:
    clock = clock_mhz(profiled.target.parameters)
    predicted = predicted_core_ns(costs, profiled.counted, clock)
    return error_of(profiled.label, core_ns(profiled.target), predicted)


def _not_negative(rows: Array, wanted: Array) -> Array:
    """Solve least squares with no coefficient below 0 (Lawson and Hanson 1974)."""
    from scipy.optimize import nnls

    # A count of which there is none costs nothing; the others are brought to one size.
    size = np.linalg.norm(rows, axis=0)
    size = np.where(size > 0, size, 1.0)
    with one_thread():
        found, _ = nnls(rows / size, wanted)
    answer: Array = found / size
    return answer
