"""The costs of drives per unit of performance, and the cost of a required rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivelab.choose.candidate import QUALITIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.choose.candidate import Candidate
    from drivelab.prices import Price


@dataclass(frozen=True)
class Cost:
    """What a drive costs for its performance.

    Attributes
    ----------
    drive
        Name of the drive.
    price
        Price of one drive.
    iops_per_price, iops_per_watt
        Throughput per unit of price, and per watt.
    price_per_terabyte
        Price of 10^12 bytes.
    rate_iops
        Required requests per second; ``None`` if no rate is required.
    drives
        Number of drives that serve the rate together, each a part; ``None`` without a rate.
    """

    drive: str
    price: Price
    iops_per_price: float
    iops_per_watt: float
    price_per_terabyte: float
    rate_iops: float | None
    drives: int | None

    @property
    def rate_price(self) -> float | None:
        """Price of the drives that serve the rate together."""
        return None if self.drives is None else self.drives * self.price.price

    @property
    def rate_watts(self) -> float | None:
        """Power of these drives together, in watts."""
        return None if self.drives is None else self.drives * self.price.watts


def costs(
    candidates: Sequence[Candidate], prices: Mapping[str, Price], rate_iops: float | None
) -> tuple[Cost, ...]:
    """Return the costs of drives.

    Parameters
    ----------
    candidates
        The drives with their results, in the order of the answer.
    prices
        Price of each drive.
    rate_iops
        Requests per second to be served; ``None`` for the rate at which requests arrive, if the
        workload has one.
    """
    found = []
    for one in candidates:
        price = prices[one.drive]
        iops = one.interval(QUALITIES["throughput"]).mean
        rate = one.asked_iops if rate_iops is None else rate_iops
        capacity = price.capacity_bytes or one.capacity_bytes
        found.append(
            Cost(
                one.drive,
                price,
                iops / price.price,
                iops / price.watts,
                price.price / (capacity / 1e12),
                rate,
                _drives_for(one, rate, iops, is_own=rate_iops is None),
            )
        )
    return tuple(found)


def _drives_for(one: Candidate, rate: float | None, iops: float, *, is_own: bool) -> int | None:
    if rate is None:
        return None
    if is_own and not one.shortfalls:
        return 1
    # A drive that was late may have caught up at the end, but it was still too slow.
    return max(2 if is_own else 1, math.ceil(rate / iops))
