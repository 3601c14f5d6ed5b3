"""The sweeps of Huang et al. 2011 on a drive whose latency is a formula."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from drivelab._core import histogram_bin
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.plan import MeasurementPlan
from drivelab.reproduce.huang2011_drives import DRIVES
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.huang2011_sweeps import sweep_workloads

REQUESTS = 1000
_SMALL: Final = f"sim:{Path(__file__).parent / 'small_drive.toml'}"
#: Words for `huang2011.reproduce`: small drives, few workloads.
SMALL: Final[dict[str, Any]] = {
    # A disk needs no preparation.
    "drives": {**dict.fromkeys(DRIVES, _SMALL), "HDD_S": DRIVES["HDD_S"]},
    "specific": 30,
    "plan": MeasurementPlan(requests=50),
    "sweep_plan": MeasurementPlan(warmup_requests=0, requests=10),
}


def measured(latency) -> list[Measurement]:
    """Give the sweeps' measurements; `latency` gives the ns of a workload's requests."""
    return [_measurement(index, each, latency) for index, each in enumerate(sweep_workloads())]


def _measurement(index: int, workload: Characteristics, latency) -> Measurement:
    mean = latency(workload)
    written = round(REQUESTS * workload.write_ratio)

    def part(requests: int, size: int) -> OperationResult | None:
        if not requests:
            return None
        low = int(mean)
        return OperationResult(
            requests, requests * size, mean, low, low + 1, {histogram_bin(low): requests}
        )

    return Measurement(
        index,
        workload,
        round(REQUESTS * mean / workload.queue_depth),
        part(REQUESTS - written, workload.read_size),
        part(written, workload.write_size),
    )
