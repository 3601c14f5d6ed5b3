"""A drive that is faster than the way to it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from drivelab import _core
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns
from drivelab.workloads.characteristics import Characteristics

if TYPE_CHECKING:
    from drivelab.drives.simulated.drive import SimulatedDrive

_REQUESTS: Final = 50
# Slowed down so much, a drive takes ten times as long as the way to it.
_TIMES: Final = 10


def check_haste(drive: SimulatedDrive, dilation: float) -> None:
    """Refuse a drive that would have answered before a request has come to it and back.

    Raises
    ------
    UsageError
        When it is so, with the dilation that helps.
    """
    way_ns = _core.live_round_trip_ns()
    name, least_ns = min(_latencies(drive), key=lambda one: one[1])
    if least_ns * dilation >= way_ns:
        return
    enough = math.ceil(_TIMES * way_ns / max(least_ns, 1.0))
    raise UsageError(
        f"{drive.name} answers a {name} in {format_duration_ns(least_ns)}, and the way to it and "
        f"back takes {format_duration_ns(way_ns)}: clients would not see the drive; add --dilate "
        f"{enough}, and everything takes {enough} times longer"
    )


def _latencies(drive: SimulatedDrive) -> list[tuple[str, float]]:
    """Return how long a request of each kind takes on the drive alone."""
    latencies = []
    # A fresh drive holds nothing to read.
    kinds = {"write": 1.0} if drive.condition == "fresh" else {"read": 0.0, "write": 1.0}
    for name, share in kinds.items():
        asked = Characteristics(write_ratio=share, queue_depth=1)
        (stream,) = drive.simulate(asked, requests=_REQUESTS).values["streams"]
        latencies.append((name, stream["operations"][name]["latency_ns_mean"]))
    return latencies
