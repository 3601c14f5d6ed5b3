"""What placement handles did in a simulated run, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.cli.courses import line


def placement_lines(counts: Mapping[str, Any] | None) -> Iterator[str]:
    """Return a line for each handle that was written with, and what became of reclaim units.

    Parameters
    ----------
    counts
        The object ``placement`` of what ``drivelab simulate --json`` prints; None for drives
        without handles.
    """
    if counts is None:
        return
    of_handles = zip(counts["host_pages"], counts["media_pages"], strict=True)
    label = "placement"
    for handle, (host, media) in enumerate(of_handles):
        if media == 0:
            continue
        over = f", {media / host:.3f} for each" if host else ""
        yield line(label, f"handle {handle}: {host:,} host pages, {media:,} programmed{over}")
        label = ""
    moved, empty = counts["moved_units"], counts["empty_units"]
    yield line(
        label,
        f"reclaim units: {counts['unit_switches']:,} opened, {empty:,} collected empty, "
        f"{moved:,} moved",
    )
    if counts["invalid_pages"]:
        yield line(
            "", f"{counts['invalid_pages']:,} pages with handles or groups that it does not have"
        )
    if counts["displaced_pages"]:
        yield line(
            "", f"{counts['displaced_pages']:,} pages outside their reclaim group, which was full"
        )
