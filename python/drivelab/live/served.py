"""What a served drive did, and how closely it kept to the simulator's time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drivelab.drives.lateness import Lateness
from drivelab.live.state import RESULTS
from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.drives.operation_result import OperationResult
    from drivelab.live.settings import ServeSettings


@dataclass(frozen=True)
class Served:
    """What was served up to a moment.

    Attributes
    ----------
    wall_ns
        Time since the server began, ns.
    dilation
        Factor by which everything was slower than in the drive's own time.
    operations
        What each kind of request did, in the drive's own time; only kinds that occurred.
    lateness
        How long after its due time each reply went out, wall time; ``None`` before the first.
    late_ns, late_share
        The lateness and the share of late replies that were allowed.
    late_replies
        Number of replies that were later.
    clients, connected
        Clients that have connected so far, and that are connected now.
    no_space, failed
        Requests that found no space, and that failed otherwise.
    power_cuts, lost_bytes
        How often the drive lost power, and how many bytes were lost of those it had acknowledged or
        was writing.
    failure
        Why the drive could not continue, or why its file's last sync failed; else ``None``.
    """

    wall_ns: int
    dilation: float
    operations: dict[str, OperationResult]
    lateness: Lateness | None
    late_ns: int
    late_share: float
    late_replies: int
    clients: int
    connected: int
    no_space: int
    failed: int
    failure: str | None
    power_cuts: int = 0
    lost_bytes: int = 0

    @classmethod
    def of_core(cls, reported: Mapping[str, Any], settings: ServeSettings) -> Served:
        """Take what the native core reports."""
        operations = {
            name: result(**reported[name])
            for name, result in RESULTS.items()
            if reported[name] is not None
        }
        lateness = reported["lateness"]
        return cls(
            wall_ns=reported["wall_ns"],
            dilation=settings.dilation,
            operations=operations,
            lateness=None if lateness is None else Lateness(**lateness),
            late_ns=settings.late_ns,
            late_share=settings.late_share,
            late_replies=reported["late_replies"],
            clients=reported["clients"],
            connected=reported["connected"],
            no_space=reported["no_space"],
            failed=reported["failed"],
            failure=reported["failure"],
            power_cuts=reported["power_cuts"],
            lost_bytes=reported["lost_bytes"],
        )

    @property
    def requests(self) -> int:
        """Requests that were served."""
        return sum(result.requests for result in self.operations.values())

    @property
    def late_ratio(self) -> float:
        """Return the share of the replies that were late."""
        return self.late_replies / self.lateness.requests if self.lateness else 0.0

    @property
    def was_late(self) -> bool:
        """Return whether too many replies were late for clients to see the simulated drive."""
        return self.late_ratio > self.late_share

    def caution(self) -> str | None:
        """Return that it was late and what helps; ``None`` if it was not."""
        if not self.was_late:
            return None
        return (
            f"{100 * self.late_ratio:.3g} % of the replies went out more than "
            f"{format_duration_ns(self.late_ns)} late; allowed are {100 * self.late_share:g} %: "
            "clients saw a slower drive than the simulated one; end other programs, keep a core "
            "free with --cpu N, or slow the drive down with --dilate 10"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the values under names that carry the unit."""
        lateness = self.lateness
        return {
            "wall_seconds": self.wall_ns / 1e9,
            "dilation": self.dilation,
            "requests": self.requests,
            "operations": {
                name: {
                    "requests": result.requests,
                    "bytes": result.bytes,
                    "iops": result.requests / (self.wall_ns / 1e9 / self.dilation),
                    "latency_ns_mean": result.latency_ns_mean,
                    "latency_ns_p50": result.percentile_ns(50.0),
                    "latency_ns_p99": result.percentile_ns(99.0),
                    "latency_ns_max": result.latency_ns_max,
                }
                for name, result in self.operations.items()
            },
            "lateness": None
            if lateness is None
            else {
                "replies": lateness.requests,
                "late_ns_mean": lateness.late_ns_mean,
                "late_ns_p50": lateness.percentile_ns(50.0),
                "late_ns_p99": lateness.percentile_ns(99.0),
                "late_ns_max": lateness.late_ns_max,
            },
            "allowed_late_ns": self.late_ns,
            "allowed_late_ratio": self.late_share,
            "late_replies": self.late_replies,
            "late_ratio": self.late_ratio,
            "was_late": self.was_late,
            "clients": self.clients,
            "no_space_requests": self.no_space,
            "failed_requests": self.failed,
            "power_cuts": self.power_cuts,
            "lost_bytes": self.lost_bytes,
            "failure": self.failure,
        }
