"""What became of the zones of a simulated drive, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from drivelab.cli.courses import line

# Why a command is refused, in the order in which reasons are told.
REASONS: Final = {
    "refused_not_at_pointer": "did not write where their zone is written next",
    "refused_full": "wrote to a full zone",
    "refused_across_end": "reached beyond what their zone holds",
    "refused_too_many_active": "began more zones than may be active",
    "refused_too_many_open": "opened more zones than may be open",
    "refused_transition": "opened or closed a zone that cannot be",
    "refused_invalid": "were no writes of whole pages, or no appends",
}


def refusal_caution(counts: Mapping[str, Any]) -> str | None:
    """Say first that a drive with zones refused commands, if it did.

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
        "with zones is written in order: a stream with zones does so (docs/zones.md)."
    )


def zone_lines(counts: Mapping[str, Any]) -> Iterator[str]:
    """Tell what was done to zones, how many were open, and what was refused.

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
        "", f"at most {counts['most_open']:,} open and {counts['most_active']:,} active at once"
    )
    asked = {"appends": "appends", "opens": "opened", "closes": "closed"}
    told = [f"{counts[key]:,} {words}" for key, words in asked.items() if counts[key]]
    if counts["drive_closes"]:
        told.append(f"{counts['drive_closes']:,} closed by the drive")
    if told:
        yield line("", ", ".join(told))
    for key, words in REASONS.items():
        if counts[key]:
            yield line("", f"{counts[key]:,} refused: {words}")
