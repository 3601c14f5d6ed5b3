"""What Huang et al. 2011 say about the early drives' writes, checked on their presets.

Section III: on SSD_S writes cost the more the more random they are, its strided writes perform
close to sequential ones, and reads are far from both.
"""

from __future__ import annotations

import functools

import pytest

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

# The size and the depth of the paper's figures where nothing else is said.
PAPER = Characteristics(write_ratio=1.0, queue_depth=1, read_size=2**18, write_size=2**18)


@functools.cache
def latency_ms(name: str, **changes: float) -> float:
    workload = Characteristics(**{**PAPER.__dict__, **changes})
    plan = MeasurementPlan(warmup_requests=500, requests=500)
    with SimulatedDrive.open(f"sim:{name}") as drive:
        (measured,) = drive.measure([(0, workload)], plan)
    return measured.latency_ns_mean / 1e6


def test_random_writes_of_the_samsung_are_slower_than_those_in_order_and_strided() -> None:
    in_order = latency_ms("samsung-slc-32gb", write_random=0.0)
    strided = latency_ms("samsung-slc-32gb", write_random=0.0, write_stride=2**18)
    random = latency_ms("samsung-slc-32gb")
    assert in_order <= strided < 1.5 * in_order
    assert random > 3 * in_order
    # The hard disk's 20 MB/s of figure 3 are 13 ms.
    assert random > 13


@pytest.mark.parametrize("write_size", [4096, 2**14, 2**16])
def test_small_random_writes_of_the_samsung_cost_a_merge(write_size: int) -> None:
    # 64 pages of 25 + 200 us copied inside the chip and two erases of 1.5 ms: 17.4 ms.
    assert latency_ms("samsung-slc-32gb", write_size=write_size) > 17.4


def test_more_writes_are_slower_on_both() -> None:
    for name in ("samsung-slc-32gb", "apex"):
        shares = [latency_ms(name, write_ratio=share) for share in (0.0, 0.5, 1.0)]
        assert shares == sorted(shares)


def test_single_reads_of_the_apex_take_less_than_the_published_bound() -> None:
    # 10 us of command, 50 in the cells, 20 on the channel, 16 on the link.
    latency = latency_ms("apex", write_ratio=0.0, read_size=4096)
    assert latency == pytest.approx(0.096, rel=0.001)
    assert latency < 0.1
