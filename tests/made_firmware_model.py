"""A small model of firmware for tests, with simple numbers."""

from __future__ import annotations

from typing import Any

from drivelab.firmware_model.costs import COUNTS, Cost, Costs
from drivelab.firmware_model.model import (
    FirmwareModel,
    LeftOutAccuracy,
    TrainedFirmware,
    TrainedTarget,
)

FIRMWARE = TrainedFirmware(
    name="page-map",
    mapping="page",
    page_bytes=16_384,
    map_bytes=1 << 28,
    victim="greedy",
    workers=4,
    depth=64,
    geometry="4x4x2x5120x512",
)


def made_firmware_model(**changed: Any) -> FirmwareModel:
    """Make a model; a command takes 1000 cycles and 500 ns, every other count a tenth of it."""
    learned = Costs({name: Cost(100.0, 50.0) for name in COUNTS} | {"command": Cost(1000.0, 500.0)})
    return FirmwareModel(
        **{
            "firmware": FIRMWARE,
            "target": TrainedTarget("a53-like", 1200.0, 4, {"cores": 4}),
            "learned": learned,
            "static": Costs({name: Cost() for name in COUNTS} | {"command": Cost(3000.0, 0.0)}),
            "record_model": {"kind": "mean"},
            "accuracy": {
                "learned": LeftOutAccuracy(0.02, "LB", 0.06),
                "static": LeftOutAccuracy(0.3, "FS", 0.8),
                "records": LeftOutAccuracy(0.01, "TC", 0.04, 0.05),
            },
            "workloads": ("RR", "RW"),
            "records": 400,
            **changed,
        }
    )
