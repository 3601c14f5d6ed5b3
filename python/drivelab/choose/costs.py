"""What drives cost for what they do, and what an asked rate costs with each."""

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
    """What a drive costs for what it does.

    Attributes
    ----------
    drive
        Its name.
    price
        Of one.
    iops_per_price, iops_per_watt
        Its throughput for each unit of price, and for each watt.
    price_per_terabyte
        For 10^12 bytes.
    rate_iops
        Requests a second that are asked for; ``None`` where none are.
    drives
        So many serve that rate together, each its part; ``None`` without a rate.
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
        """Price of the drives that serve the rate."""
        return None if self.drives is None else self.drives * self.price.price

    @property
    def rate_watts(self) -> float | None:
        """Watts that they draw together."""
        return None if self.drives is None else self.drives * self.price.watts


def costs(
    candidates: Sequence[Candidate], prices: Mapping[str, Price], rate_iops: float | None
) -> tuple[Cost, ...]:
    """Say what drives cost for what they do.

    Parameters
    ----------
    candidates
        In the order of the answer.
    prices
        Of each.
    rate_iops
        Requests a second that are to be served; where ``None`` those that arrive by themselves,
        if any do.
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
    # One that is late may have caught up at the end, and was too slow all the same.
    return max(2 if is_own else 1, math.ceil(rate / iops))
