"""Classes of workloads: an accepted class adds up, and a run stores it as it was read."""

from __future__ import annotations

import json
import math

from drivelab.pts.class_file import class_names, class_text, load_class
from drivelab.pts.workload_class import WorkloadClass
from fuzz.reader import Reader, file_of


def _check(data: bytes) -> None:
    made = load_class(str(file_of("class.toml", data)))
    assert math.isclose(math.fsum(stream.weight for stream in made.streams), 1, abs_tol=1e-5)
    assert WorkloadClass.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert made.figure([1.0] * len(made.parts)) > 0


def _seeds() -> list[bytes]:
    few = (
        'title = "t"\nsummary = "s"\nsource = "assumed"\nstreams_run = "at once"\n[[streams]]\n'
        'name = "a"\nsource = "assumed"\nweight = 0.25\nsizes = [{ size = "4KiB", share = 0.5 }, '
        '{ size = "512", share = 0.5 }]\nread_ratio = 0.5\nrandom_ratio = 0.5\nthreads = 2\n'
        'queue_depth = 4\ncontent = "zero"\nis_forced = true\nzones = [{ accesses = 0.5, range = '
        "0.05 }, { accesses = 0.5, range = 0.95 }]\n"
    )
    return [*(class_text(name).encode() for name in class_names()), few.encode()]


READER = Reader(
    "class_file",
    ("drivelab.bounded_toml", "drivelab.pts.class_file", "drivelab.pts.workload_class"),
    _check,
    _seeds,
)
