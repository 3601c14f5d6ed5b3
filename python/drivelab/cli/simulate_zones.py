"""What happened to the zones of a simulated drive, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from drivelab.cli.courses import line

# Reasons to refuse a command, in the order in which they are printed.
REASONS: Final = {
    "refused_not_at_pointer": "did not write at the write pointer of their zone",
    "refused_full": "wrote to a full zone",
    "refused_across_end": "went past the end of their zone",
    "refused_too_many_active": "would have made too many zones active",
    "refused_too_many_open": "would have opened too many zones",
    "refused_transition": "opened or closed a zone in a state that forbids it",
    "refused_invalid": "were neither writes of whole pages nor appends",
}


def refusal_caution(counts: Mapping[str, Any]) -> str | None:
    """Return first that a drive with zones refused commands, if it did.

    Parameters
    ----------
    counts
        The object ``zones`` of what ``drivelab simulate --json`` prints.
    """
    refused = counts["refused_commands"]
    if not refused:
        return None
    most = max(REASONS, key=lambda reason: counts[reason])
    commands = "1 command" if refused == 1 else f"{refused:,} commands"
    which = REASONS[most]
    if counts[most] < refused:
        which = f"most of them {which}"
    return (
        f"the drive refused {commands}: {which}. They moved no data and count as trims. A drive "
        "with zones must be written sequentially: a stream with zones does so (docs/zones.md)."
    )


def zone_lines(counts: Mapping[str, Any]) -> Iterator[str]:
    """Return what was done to zones, how many were open, and what was refused.

    Parameters
    ----------
    counts
        The object ``zones`` of what ``drivelab simulate --json`` prints.
    """
    yield line(
        "zones",
        f"{counts['filled_zones']:,} written to their end, {counts['resets']:,} reset, "
        f"{counts['finishes']:,} finished",
    )
    yield line(
        "",
        f"at most {counts['most_open']:,} open and {counts['most_active']:,} active at the same "
        "time",
    )
    asked = {"appends": "appends", "opens": "opened", "closes": "closed"}
    parts = [f"{counts[key]:,} {words}" for key, words in asked.items() if counts[key]]
    if counts["drive_closes"]:
        parts.append(f"{counts['drive_closes']:,} closed by the drive")
    if parts:
        yield line("", ", ".join(parts))
    for key, words in REASONS.items():
        if counts[key]:
            yield line("", f"{counts[key]:,} refused: {words}")
