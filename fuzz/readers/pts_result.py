"""Saved results of tests: an accepted result can be compared with another."""

from __future__ import annotations

import json
from typing import Final

from drivelab.pts.compared import read_results
from drivelab.pts.compared_report import compare
from fuzz.reader import Reader, read_sealed

_REFERENCE: Final = "sim:x25m"
_KINDS: Final = ("real", "simulated", "closed_form")


def _check(data: bytes) -> None:
    drives = read_sealed("result.json", data, lambda path: read_results([str(path), _REFERENCE]))
    assert drives[0].kind in _KINDS
    assert drives[0].label != drives[1].label
    json.dumps(compare(drives).result, allow_nan=False)


def _seeds() -> list[bytes]:
    from drivelab.pts.reference import read_reference

    found = (read_reference(_REFERENCE, test) for test in ("latency", "throughput"))
    return [json.dumps(each).encode() for each in found]


READER = Reader(
    "pts_result",
    ("drivelab.pts.compared", "drivelab.pts.result_types", "drivelab.pts.compared_report"),
    _check,
    _seeds,
)
