"""In which order workloads are measured."""

from __future__ import annotations

from itertools import groupby

import pytest

from drivelab.campaign.order import measuring_order, planned_order
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.write_pattern import PIECE_BYTES, WritePattern, write_pattern
from drivelab.workloads.characteristics import Characteristics

KINDS = (
    Characteristics(write_ratio=1.0, write_size=4096),
    Characteristics(),
    Characteristics(write_ratio=1.0, write_random=0.0),
    Characteristics(write_ratio=0.5, write_size=1 << 20),
)
WORKLOADS = [KINDS[place % len(KINDS)] for place in range(40)]
BURST = MeasurementPlan(seed=3)
SUSTAINED = MeasurementPlan(seed=3, writes="sustained")


def kinds(order: list[int]) -> list[WritePattern | None]:
    return [kind for kind, _ in groupby(write_pattern(WORKLOADS[index]) for index in order)]


def test_bursts_are_measured_at_random() -> None:
    assert planned_order(range(40), WORKLOADS, BURST) == measuring_order(range(40), 3)


def test_each_kind_of_sustained_writes_comes_once_and_at_random_inside() -> None:
    order = planned_order(range(40), WORKLOADS, SUSTAINED)
    assert kinds(order) == [None, *PIECE_BYTES]
    assert sorted(order) == list(range(40))
    at_random = measuring_order(range(40), 3)
    for first in range(len(KINDS)):
        own = set(range(first, 40, len(KINDS)))
        assert [at for at in order if at in own] == [at for at in at_random if at in own]


@pytest.mark.parametrize("left", list(PIECE_BYTES))
def test_what_the_drive_is_settled_to_comes_first(left: WritePattern) -> None:
    order = planned_order(range(40), WORKLOADS, SUSTAINED, left)
    assert kinds(order) == [None, left, *(kind for kind in PIECE_BYTES if kind != left)]
