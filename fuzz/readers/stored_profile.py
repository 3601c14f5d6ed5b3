"""Runs of profiles: passes are read as stored, and are rewritten unchanged."""

from __future__ import annotations

import json

from drivelab.profile.journal import pass_json, pass_of_json, stored_passes
from drivelab.profile.measured_pass import MeasuredPass
from drivelab.workloads.whole_pass import WholePass
from fuzz.made_folder import input_of, run_of
from fuzz.reader import Reader


def _check(data: bytes) -> None:
    with run_of(data) as store:
        passes = stored_passes(store)
    for place, measured in passes.items():
        assert measured.index == place
        assert pass_of_json(json.loads(json.dumps(pass_json(measured)))) == measured
        assert measured.access_time_ns > 0
        assert measured.absorbed_bytes >= 0


def _seeds() -> list[bytes]:
    whole = WholePass(direction="read", is_random=False, request_bytes=4096, file_bytes=2**20)
    passes = [
        MeasuredPass(0, whole, 1_000_000, None),
        MeasuredPass(1, whole, 1_000_000, 1.01, 64, (200_000, 500_000, 800_000)),
    ]
    return [input_of({"kind": "profile"}, [pass_json(each) for each in passes])]


READER = Reader(
    "stored_profile",
    (
        "drivelab.profile.journal",
        "drivelab.profile.measured_pass",
        "drivelab.workloads.whole_pass",
    ),
    _check,
    _seeds,
)
