"""Models of firmware: an accepted model has costs, and is written as it was read."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from drivelab.firmware.profiled import INPUTS
from drivelab.firmware.record_models import Kriged, Line, Scale
from drivelab.firmware.record_predictor import INPUT_KIND, RecordPredictor, read_record_predictor
from drivelab.firmware_model.costs import COUNTS, Cost, Costs
from drivelab.firmware_model.model import (
    FirmwareModel,
    LeftOutAccuracy,
    TrainedFirmware,
    TrainedTarget,
)
from drivelab.firmware_model.model_file import model_bytes, read_firmware_model
from fuzz.reader import Reader, file_of, read_sealed


def _check(data: bytes) -> None:
    model = read_sealed("firmware.json", data, read_firmware_model)
    again = file_of("again.json", model_bytes(model))
    assert read_firmware_model(again) == model
    for costs in (model.learned, model.static):
        took = costs.core_ns(dict.fromkeys(COUNTS, 1), model.target.clock_mhz)
        assert math.isfinite(took)
        assert took > 0
    predictor = read_record_predictor(model.record_model, "firmware.json")
    with np.errstate(all="ignore"):
        times = predictor.model(np.ones((2, len(predictor.low))))
    assert times.shape == (2,)
    assert read_record_predictor(predictor.to_json(), "again").to_json() == predictor.to_json()


@cache
def _made() -> list[FirmwareModel]:
    inputs = len(INPUTS[INPUT_KIND])
    some = np.linspace(1.0, 2.0, inputs)
    scale = Scale(some, some, 3.0, 0.5, 30.0, is_logarithm=True)
    rows = np.vstack([some, 2 * some])
    models = (Line(scale, 1.0, some), Kriged(scale, rows, some[:2], 1.0, 2.0, 0.5, 1.0))
    return [
        FirmwareModel(
            TrainedFirmware("page-map", "page", 16_384, 1 << 28, "greedy", 4, 64, "4x4x2x5120x512"),
            TrainedTarget("a53-like", 1200.0, 4, {"cores": 4}),
            Costs({name: Cost(100.0, 50.5) for name in COUNTS}),
            Costs({name: Cost(10.0, 0.0) for name in COUNTS}),
            RecordPredictor(one, some, 2 * some, {"name": "host"}).to_json(),
            {name: LeftOutAccuracy(0.01, "RR", 0.02) for name in ("learned", "static", "records")},
            ("RR", "RW"),
            40,
        )
        for one in models
    ]


def _seeds() -> list[bytes]:
    sealed = [model_bytes(one) for one in _made()]
    # As they are before they have their sum; changed, they are given one that fits.
    return [*(one.rpartition(b",\n")[0] + b"}" for one in sealed), sealed[0]]


READER = Reader(
    "firmware_model",
    (
        "drivelab.firmware_model.model_file",
        "drivelab.firmware.record_predictor",
        "drivelab.firmware.record_models",
        "drivelab.checked_json",
    ),
    _check,
    _seeds,
)
