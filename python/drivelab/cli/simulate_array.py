"""What an array with copies or parity did in a simulated run, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.cli.courses import line
from drivelab.units import format_duration_ns, format_size


def array_lines(counts: Mapping[str, Any] | None) -> Iterator[str]:
    """Return what members were sent, how parity was updated, and the progress of a rebuild.

    Parameters
    ----------
    counts
        The object ``array`` of what ``drivelab simulate --json`` prints; None for other drives.
    """
    if counts is None:
        return
    yield ""
    reads, writes = counts["member_reads"], counts["member_writes"]
    yield line("array", f"{reads:,} reads and {writes:,} writes of members")
    if counts["parity_write_bytes"] or counts["parity_read_bytes"]:
        yield line(
            "parity",
            f"{format_size(counts['parity_read_bytes'])} read, "
            f"{format_size(counts['parity_write_bytes'])} written",
        )
        yield line(
            "",
            f"rows: {counts['full_stripe_writes']:,} written whole, "
            f"{counts['read_modify_writes']:,} by read-modify-write, "
            f"{counts['reconstruct_writes']:,} by reconstruct-write",
        )
    if counts["degraded_reads"]:
        yield line("degraded", f"{counts['degraded_reads']:,} reads met a missing member")
    if counts["rebuild_left_bytes"] is not None:
        yield from _rebuild_lines(counts)


def _rebuild_lines(counts: Mapping[str, Any]) -> Iterator[str]:
    speed = counts["rebuild_bytes_per_second"]
    at = "" if speed is None else f" at {speed / 1e6:.4g} MB/s"
    yield line("rebuild", f"{format_size(counts['rebuilt_bytes'])} rebuilt{at}")
    if counts["rebuild_ended_ns"] is not None:
        yield line("", f"whole after {format_duration_ns(counts['rebuild_ended_ns'])}")
    elif counts["rebuild_left_bytes"] == 0:
        yield line("", "the member was whole before")
    else:
        left = f"{format_size(counts['rebuild_left_bytes'])} left"
        seconds = counts["rebuild_left_seconds"]
        lasts = "" if seconds is None else f": {format_duration_ns(seconds * 1e9)} at this speed"
        yield line("", f"{left}{lasts}")
