"""Model files: an accepted model answers, and is written as it was read."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from drivelab.errors import CannotAnswerError
from drivelab.models.model import PerformanceModel
from drivelab.workloads.characteristics import Characteristics
from fuzz.reader import Reader, read_sealed, scratch
from fuzz.seed_model import MODEL

_ASKED: Final = (
    Characteristics(write_ratio=0.5, queue_depth=16, read_size=4096, write_size=65536),
    Characteristics(write_ratio=1.0, queue_depth=1, write_size=512, write_random=0.25),
)


def _check(data: bytes) -> None:
    model = read_sealed("model.json", data, PerformanceModel.load)
    again = scratch() / "again.json"
    model.save(again)
    other = PerformanceModel.load(again)
    first = again.read_bytes()
    other.save(again)
    assert again.read_bytes() == first
    for key in model.predictors:
        try:
            answers = model.predict(_ASKED, **key._asdict())
        except CannotAnswerError:
            continue
        assert all(math.isfinite(answer) and answer > 0 for answer in answers)
        np.testing.assert_array_equal(answers, other.predict(_ASKED, **key._asdict()))
    model.outside(_ASKED)


def _seeds() -> list[bytes]:
    sealed = MODEL.read_bytes()
    # As it is before it has its sum; changed, it is given one that fits.
    return [sealed.rpartition(b",\n")[0] + b"}", sealed]


READER = Reader(
    "model",
    (
        "drivelab.checked_json",
        "drivelab.models.model_file",
        "drivelab.bounded_json",
        "drivelab.sealed_json",
        "drivelab.sealed_model",
    ),
    _check,
    _seeds,
)
