"""Runs of campaigns: measurements are read as stored, and are rewritten unchanged."""

from __future__ import annotations

import dataclasses

from drivelab._core import histogram_bin
from drivelab.campaign.stored import stored_indices, stored_measurements
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.plan import MeasurementPlan
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.parts import Parts
from fuzz.made_folder import input_of, run_of
from fuzz.reader import Reader


def _check(data: bytes) -> None:
    with run_of(data) as store:
        measured = stored_measurements(store)
        assert {each.index for each in measured} <= stored_indices(store)
        for each in measured:
            assert Measurement.from_json(each.to_json()) == each
            each.characteristics.validate()
        design = store.header["design"]
        parts = Parts.from_json(design.get("parts"))
        assert Parts.from_json(parts.to_json()) == parts
        plan = MeasurementPlan.from_json(store.header.get("plan"))
        assert MeasurementPlan.from_json(plan.to_json()) == plan


def _operation(requests: int, size: int, latency_ns: int) -> OperationResult:
    return OperationResult(
        requests=requests,
        bytes=requests * size,
        latency_ns_mean=float(latency_ns),
        latency_ns_min=latency_ns,
        latency_ns_max=latency_ns,
        histogram={histogram_bin(latency_ns): requests},
    )


def _seeds() -> list[bytes]:
    first = Measurement(
        index=0,
        workload=Characteristics(write_ratio=0.5, queue_depth=4),
        duration_ns=1_000_000,
        read=_operation(3, 4096, 80_000),
        write=_operation(2, 4096, 900_000),
        extra={"write_amplification": 1.5},
    )
    second = dataclasses.replace(
        first, index=1, workload=Characteristics(write_ratio=0.0), write=None, extra={}
    )
    header = {
        "drive": {"name": "sim:made", "kind": "simulated", "capacity_bytes": 80_000_000_000},
        "design": {"name": "made", "workloads": 3, "parts": Parts(2, 1).to_json()},
        "plan": MeasurementPlan(seed=7).to_json(),
    }
    return [
        input_of(header, [first.to_json(), second.to_json()]),
        input_of(header, []),
    ]


READER = Reader(
    "stored_campaign",
    (
        "drivelab.campaign.stored",
        "drivelab.drives.measurement",
        "drivelab.drives.operation_result",
        "drivelab.drives.batches",
        "drivelab.drives.plan",
        "drivelab.workloads.characteristics",
        "drivelab.workloads.parts",
        "drivelab.store.database",
    ),
    _check,
    _seeds,
)
