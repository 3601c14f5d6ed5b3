"""The state of a served drive, under the names of docs/json-watch.md.

```text
    the core's last second ──> state: the last second, the time so far, what the drive contains,
                               and in its row the few numbers that lines over time show
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.lateness import Lateness
from drivelab.drives.operation_result import CommandResult, OperationResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.simulated.drive import SimulatedDrive
    from drivelab.live.settings import ServeSettings

#: Classes for the results of each kind of request.
RESULTS: Final[dict[str, type[OperationResult]]] = {
    "read": OperationResult,
    "write": OperationResult,
    "trim": OperationResult,
    "flush": CommandResult,
}
_PERCENTILES: Final = (("p50", 50.0), ("p99", 99.0), ("p99_9", 99.9))


@dataclass(frozen=True)
class About:
    """Facts that do not change while a drive is served.

    Attributes
    ----------
    drive, name, kind
        The string that names it, its preset's name, and ``ssd``, ``hdd``, ``raid0`` or ``raid``.
    uri
        The address for clients.
    capacity_bytes
        Its size.
    members
        Number of drives in an array; 1 for other drives.
    dilation, late_ns, late_share, has_delay
        As in `ServeSettings`.
    """

    drive: str
    name: str
    kind: str
    uri: str
    capacity_bytes: int
    members: int
    dilation: float
    late_ns: int
    late_share: float
    has_delay: bool

    @classmethod
    def of(cls, drive: SimulatedDrive, settings: ServeSettings, uri: str) -> About:
        """Gather the facts."""
        return cls(
            drive=drive.name,
            name=drive.preset["name"],
            kind=drive.preset["kind"],
            uri=uri,
            capacity_bytes=drive.capacity_bytes,
            members=drive.preset.get("members", 1),
            dilation=settings.dilation,
            late_ns=settings.late_ns,
            late_share=settings.late_share,
            has_delay=settings.has_delay,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit."""
        return {
            "drive": self.drive,
            "name": self.name,
            "kind": self.kind,
            "uri": self.uri,
            "capacity_bytes": self.capacity_bytes,
            "members": self.members,
            "dilation": self.dilation,
            "allowed_late_ns": self.late_ns,
            "allowed_late_ratio": self.late_share,
            "is_simulated": self.has_delay,
        }


def state(about: About, watched: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of the drive at the end of a second of the core's."""
    total = watched["total"]
    media = watched["media"]
    state_now = {
        **about.to_json(),
        "second": watched["number"],
        "wall_seconds": total["wall_ns"] / 1e9,
        "connected_clients": total["connected"],
        "clients": total["clients"],
        "failure": total["failure"],
        "now": {
            **_served(about, watched["second"], watched["length_ns"]),
            "queue_depth": _mean_depth(about, watched),
            **_drive_now(watched["stretch"]),
        },
        "total": {
            **_served(about, total, total["wall_ns"]),
            "flash": media["flash"],
            "disk": media["disk"],
        },
    }
    return {**state_now, "row": _row(state_now)}


def _row(state_now: Mapping[str, Any]) -> dict[str, Any]:
    """Return what lines over time show of a state."""
    now = state_now["now"]
    operations = now["operations"]
    lateness, room = now["lateness"], now["room"]
    return {
        "second": state_now["second"],
        "wall_seconds": state_now["wall_seconds"],
        **{f"{name}_iops": _of(operations, name, "iops") or 0.0 for name in ("read", "write")},
        **{
            f"{name}_{key}": _of(operations, name, key)
            for name in ("read", "write")
            for key in ("latency_ns_p50", "latency_ns_p99")
        },
        "bytes_per_second": now["bytes_per_second"],
        "late_ns_p99": None if lateness is None else lateness["late_ns_p99"],
        "write_amplification_ratio": _of(now, "flash", "write_amplification_ratio"),
        "free_blocks": None if room is None else room["free_blocks"],
        "collection_moves": _of(now, "flash", "collection_moves"),
    }


def _of(values: Mapping[str, Any], name: str, key: str) -> Any:
    found = values.get(name)
    return None if found is None else found[key]


def _served(about: About, stretch: Mapping[str, Any], wall_ns: int) -> dict[str, Any]:
    """Return what was served in this much wall time; rates are in the drive's own time."""
    seconds = max(wall_ns, 1) / 1e9 / about.dilation
    operations = {
        name: _operation(result(**stretch[name]), seconds)
        for name, result in RESULTS.items()
        if stretch[name] is not None
    }
    requests = sum(each["requests"] for each in operations.values())
    moved = sum(each["bytes"] for name, each in operations.items() if name in ("read", "write"))
    lateness = None if stretch["lateness"] is None else Lateness(**stretch["lateness"])
    return {
        "seconds": seconds,
        "requests": requests,
        "iops": requests / seconds,
        "bytes_per_second": moved / seconds,
        "operations": operations,
        "lateness": None if lateness is None else _lateness(lateness),
        "late_ratio": stretch["late_replies"] / lateness.requests if lateness else 0.0,
        "late_replies": stretch["late_replies"],
        "no_space_requests": stretch["no_space"],
        "failed_requests": stretch["failed"],
    }


def _operation(result: OperationResult, seconds: float) -> dict[str, Any]:
    return {
        "requests": result.requests,
        "bytes": result.bytes,
        "iops": result.requests / seconds,
        "bytes_per_second": result.bytes / seconds,
        "latency_ns_mean": result.latency_ns_mean,
        **{f"latency_ns_{name}": result.percentile_ns(percent) for name, percent in _PERCENTILES},
        "latency_ns_max": result.latency_ns_max,
    }


def _lateness(lateness: Lateness) -> dict[str, Any]:
    return {
        "replies": lateness.requests,
        "late_ns_mean": lateness.late_ns_mean,
        **{
            # The middle of a bin may be above the longest time.
            f"late_ns_{name}": min(lateness.percentile_ns(percent), lateness.late_ns_max)
            for name, percent in _PERCENTILES
        },
        "late_ns_max": lateness.late_ns_max,
    }


def _mean_depth(about: About, watched: Mapping[str, Any]) -> float:
    """Return the mean number of outstanding requests, by Little's law."""
    second = watched["second"]
    seconds = max(watched["length_ns"], 1) / 1e9 / about.dilation
    results = (second[name] for name in RESULTS)
    spent_ns = sum(one["latency_ns_mean"] * one["requests"] for one in results if one)
    return float(spent_ns / 1e9 / seconds)


def _drive_now(stretch: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what the drive itself did in the second, and what it contains at its end."""
    if stretch is None:
        keys = ("outstanding_requests", "buffer", "room", "flash", "disk")
        lists = ("channel", "unit", "disk")
        return {
            **dict.fromkeys(keys),
            **{f"{name}_utilisation_ratio": list[float]() for name in lists},
        }
    room = stretch["room"]
    return {
        "outstanding_requests": stretch["outstanding"],
        "buffer": {"bytes": stretch["buffer_bytes"], "taken_bytes": stretch["buffered_bytes"]},
        "room": None if room is None else dict(room),
        "flash": stretch["flash"],
        "disk": stretch["disk"],
        "channel_utilisation_ratio": stretch["channel_utilisation_ratio"] or [],
        "unit_utilisation_ratio": stretch["unit_utilisation_ratio"] or [],
        "disk_utilisation_ratio": _disk_shares(stretch),
    }


def _disk_shares(stretch: Mapping[str, Any]) -> Sequence[float]:
    if stretch["disk"] is None:
        return []
    members = [member["utilisation_ratio"] for member in stretch["members"]]
    return members or [stretch["disk"]["utilisation_ratio"]]
