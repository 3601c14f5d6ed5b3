"""What a reader of a profile has to know before trusting its ratios, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.profile.sizes import size_text
from drivelab.runs.starts import beside_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.profile.profile import Profile
    from drivelab.profile.settings import ProfileSettings
    from drivelab.profile.sizes import Interval


def cautions(
    found: Profile,
    plan: ProfileSettings,
    *,
    is_complete: bool = True,
    has_new_file: bool | None = None,
    beside: Sequence[str] | None = None,
) -> list[str]:
    """Say what limits the ratios, a line each without a full stop.

    Parameters
    ----------
    found
        The profile.
    plan
        What was asked for.
    is_complete
        Whether everything that was asked for was measured.
    has_new_file, beside
        As of `drivelab.profile.run.Profiled`.
    """
    lines = []
    if not is_complete:
        lines.append(
            f"it was stopped after {len(found.measured):,} passes, before all were measured that "
            "it asks for"
        )
    for (direction, is_random), interval in found.through_ends:
        of = f"{direction}s in {'random order' if is_random else 'order'}"
        lines.append(
            f"{of}, {_span_text(interval)}: the line of least squares falls to 0 or below, so that "
            "through the ends stands"
        )
    if plan.share < 1 and "write" in plan.directions:
        lines.append(
            "partial passes that write miss what a drive puts off for longer than they last, such "
            "as the merges of log blocks"
        )
    if any(ratios.half_width_ratio is None for ratios in found.ratios.values()):
        limit = "--max-time left no time for it" if plan.repetitions == "auto" else "--repetitions"
        lines.append(f"nothing was repeated ({limit}), so nobody knows how sure this is")
    widths = [each.half_width_ratio for each in found.ratios.values()]
    if any(width is not None and plan.missed(width) for width in widths):
        ended_by = f"{plan.ended_by} ended it" if is_complete else "it was stopped"
        lines.append(f"less sure than asked for: {ended_by} before")
    if plan.is_full and found.tests_not_known:
        lines.append(
            f"{found.tests_not_known} of {2 * len(plan.sizes) * len(plan.directions)} tests "
            f"are not known within 10 % after {plan.most_repetitions} repetitions "
            "(--max-repetitions)"
        )
    if has_new_file:
        lines.append("it resumed with another file, because the first one had been removed")
    if beside:
        lines.append(beside_text(beside))
    return lines


def _span_text(interval: Interval) -> str:
    return f"{size_text(interval.low_bytes)} to {size_text(interval.high_bytes)}"
