"""What happened to the zones of a simulated drive, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from drivelab.cli.courses import line

# What was refused, of one command and of several, in the order in which it is printed.
REASONS: Final = {
    "refused_not_at_pointer": (
        "a write away from the write pointer of its zone",
        "writes away from the write pointer of their zone",
    ),
    "refused_full": ("a write to a full zone", "writes to full zones"),
    "refused_across_end": (
        "a read or write past the end of its zone",
        "reads or writes past the end of their zone",
    ),
    "refused_too_many_active": (
        "a write or open above the limit of active zones",
        "writes or opens above the limit of active zones",
    ),
    "refused_too_many_open": (
        "a write or open above the limit of open zones",
        "writes or opens above the limit of open zones",
    ),
    "refused_transition": (
        "an open or close that its zone's state forbids",
        "opens or closes that their zone's state forbids",
    ),
    "refused_invalid": (
        "a write of less than whole pages, or an invalid append",
        "writes of less than whole pages, or invalid appends",
    ),
}
_FEWER: Final = "Write to fewer zones at the same time (docs/zones.md)."
# What to change, by the most frequent reason.
_ADVICE: Final = {
    "refused_invalid": (
        "Writes have to be whole pages of the drive (geometry.page_size_bytes): set "
        "write_size_bytes of the stream, or --write-size, to a multiple of that (docs/zones.md)."
    ),
    "refused_too_many_active": _FEWER,
    "refused_too_many_open": _FEWER,
}
_SEQUENTIALLY: Final = (
    "A drive with zones must be written sequentially: a stream with zones does so (docs/zones.md)."
)


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
    which = _counted(most, counts[most])
    if refused == 1:
        commands, moved = "1 command", "It moved no data and counts as a trim."
    else:
        commands, moved = f"{refused:,} commands", "They moved no data and count as trims."
        if counts[most] < refused:
            share = "most" if 2 * counts[most] > refused else "many"
            which = f"{share} of them {which}"
    return f"the drive refused {commands}: {which}. {moved} {_ADVICE.get(most, _SEQUENTIALLY)}"


def _counted(reason: str, count: int) -> str:
    one, several = REASONS[reason]
    return one if count == 1 else several


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
    for key in REASONS:
        if counts[key]:
            yield line("", f"{counts[key]:,} refused: {_counted(key, counts[key])}")
