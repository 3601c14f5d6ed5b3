"""What drives cost for what they do, and for an asked rate."""

from __future__ import annotations

import pytest
from made_choice import candidate

from drivelab.choose.costs import costs
from drivelab.choose.words import cheapest_text
from drivelab.prices import Price

PRICES = {"sim:a": Price(50.0, 4.0, 10**12), "sim:b": Price(30.0, 8.0, None)}


def test_a_rate_that_is_asked_for_takes_whole_drives() -> None:
    # 10,000 and 2,000 requests a second.
    drives = [candidate("sim:a", [1e5, 1e5]), candidate("sim:b", [5e5, 5e5])]
    one, other = costs(drives, PRICES, 10_001)
    assert (one.iops_per_price, one.iops_per_watt) == (200.0, 2500.0)
    assert one.price_per_terabyte == 50.0
    # What the table does not say is as large as the drive.
    assert other.price_per_terabyte == pytest.approx(30.0 / (2**30 / 1e12))
    assert (one.drives, one.rate_price, one.rate_watts) == (2, 100.0, 8.0)
    assert (other.drives, other.rate_price, other.rate_watts) == (6, 180.0, 48.0)
    assert cheapest_text([one, other]) == (
        "10,001 IOPS cost least with sim:a: 2 drives, 100 in all, 8 W."
    )


def test_without_a_rate_no_number_of_drives_is_named() -> None:
    found = costs([candidate("sim:a", [1e5, 1e5])], PRICES, None)
    assert (found[0].drives, found[0].rate_price, found[0].rate_watts) == (None, None, None)
    assert cheapest_text(found) is None


def test_what_arrives_at_a_rate_is_the_rate() -> None:
    # Arrivals at random are never exactly as many as were asked for.
    able = candidate("sim:a", [1e5, 1e5], rate_iops=1000, served_iops=996)
    behind = candidate("sim:b", [1e5, 1e5], rate_iops=1000, served_iops=300)
    one, other = costs([able, behind], PRICES, None)
    assert (one.rate_iops, one.drives) == (1000, 1)
    assert (other.rate_iops, other.drives) == (1000, 4)
