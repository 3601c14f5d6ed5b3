"""Plans of placements: a drive can run what was read, and the parts are stored as read."""

from __future__ import annotations

import json
import math

from drivelab.place.plan_file import example_text, read_plan
from drivelab.place.window import window_for
from drivelab.workloads.side_by_side import Part, SideBySide
from fuzz.reader import Reader, file_of


def _check(data: bytes) -> None:
    plan = read_plan(file_of("plan.toml", data))
    names = [each.name for each in plan.demands]
    assert len(set(names)) == len(names) > 0
    for each in plan.demands:
        assert all(0 < value < math.inf for value in each.bounds.given().values())
        assert each.rate_iops is None or 0 < each.rate_iops < math.inf
        assert Part.from_json(json.loads(json.dumps(each.part.to_json()))) == each.part
    for offer in plan.offers:
        assert offer.at_most > 0
        assert all(value is None or 0 <= value < math.inf for value in (offer.price, offer.watts))
    assert 0 < plan.utilisation_at_most <= 1
    window = window_for(plan.demands)
    first = plan.demands[0].part
    one = SideBySide((first,), window.duration_ns, window.warmup_ns, window.requests)
    assert one.streams()


def _seeds() -> list[bytes]:
    few = (
        'objective = "latency"\nutilisation_at_most = 0.5\n[[workload]]\nname = "a"\n'
        'queue_depth = 4\nwrite_ratio = 0.5\nsize = "1GiB"\niops_at_least = 5\ncontent = "zero"\n'
        '[[workload]]\nname = "b"\nrate_mb_per_second = 3\narrivals = "fixed"\nsize = 4096\n'
        '[[workload]]\nname = "c"\nscenario = "tpc-c"\nlatency_ms_mean_at_most = 5\n'
        '[[drive]]\nname = "sim:x25m"\nat_most = 3\n[[drive]]\nname = "sim:sas-15k"\nprice = 0\n'
    )
    return [example_text().encode(), few.encode()]


READER = Reader(
    "placement_plan",
    (
        *("drivelab.place.plan_file", "drivelab.place.demand_table", "drivelab.place.values"),
        *("drivelab.workloads.side_by_side", "drivelab.bounded_toml"),
    ),
    _check,
    _seeds,
)
