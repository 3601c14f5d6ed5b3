"""A drive that is faster than the connection to it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from drivelab import _core
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns
from drivelab.workloads.characteristics import Characteristics

if TYPE_CHECKING:
    from drivelab.drives.simulated.drive import SimulatedDrive

_REQUESTS: Final = 100
# With this slow-down, a drive takes ten times as long as the connection.
_TIMES: Final = 10


def check_haste(drive: SimulatedDrive, dilation: float) -> None:
    """Refuse a drive that would answer before a request can reach it and return.

    Raises
    ------
    UsageError
        If the drive is that fast; the error gives the --dilate that helps. If the drive has zones,
        which clients cannot see.
    """
    if "zones" in drive.preset:
        raise UsageError(
            f"{drive.name} has zones, which clients of a served drive cannot see; serve a drive "
            "without [zones], or simulate this one with a scenario whose streams have `zones` "
            "(docs/zones.md)"
        )
    way_ns = _core.live_round_trip_ns()
    name, least_ns = min(_latencies(drive), key=lambda one: one[1])
    if least_ns * dilation >= way_ns:
        return
    if least_ns == 0:
        raise UsageError(
            f"{drive.name} answers a {name} in 0 ns, which no --dilate makes slower than the "
            f"connection ({format_duration_ns(way_ns)} there and back): give the preset times on "
            "the host's side, such as host.write_acknowledge_ns, or serve it without times "
            "(--no-delay)"
        )
    enough = math.ceil(_TIMES * way_ns / least_ns)
    raise UsageError(
        f"{drive.name} answers a {name} in {format_duration_ns(least_ns)}, but the connection "
        f"takes {format_duration_ns(way_ns)} there and back, so clients would not see the drive; "
        f"add --dilate {enough}, which makes everything {enough} times slower"
    )


def _latencies(drive: SimulatedDrive) -> list[tuple[str, float]]:
    """Return how long a request of each kind takes on the drive alone."""
    latencies = []
    # A fresh drive has no data to read. On others every second request is a read, as writes alone
    # may take no time.
    kinds = {"write": 1.0} if drive.condition == "fresh" else {"read": 0.0, "write": 0.5}
    for name, share in kinds.items():
        asked = Characteristics(write_ratio=share, queue_depth=1)
        (stream,) = drive.simulate(asked, requests=_REQUESTS).values["streams"]
        latencies.append((name, stream["operations"][name]["latency_ns_mean"]))
    return latencies
