"""Which pages of a drive contain data before a run, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def filled_words(first: str | None, preset: Mapping[str, Any]) -> str | None:
    """Return which pages contain data before the first request; ``None`` if the preset is silent.

    Parameters
    ----------
    first
        The words for the drive or, in an array, for its first member, with numbers of pages.
    preset
        The resolved preset.
    """
    if not preset.get("unlike_members"):
        return first
    # Unlike members have other numbers of pages, so only shares are true of all of them.
    members = [preset["member_preset"], *preset["other_presets"]]
    # Disks have no pages.
    said = [member.get("occupancy") for member in members if member["kind"] == "ssd"]
    if not any(said):
        return None
    if any(each != said[0] for each in said):
        return "each member holds data as its own [occupancy] says"
    filled, order = said[0]["filled"], said[0]["order"]
    if filled >= 1:
        return "all pages of each member hold data"
    share = f"{100 * filled:.3g} %"
    if order == "random":
        return f"{share} of the pages of each member, drawn at random, hold data"
    return f"the first {share} of the pages of each member hold data"
