"""Suggestions for a misspelled name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

#: Most names that are suggested.
_MOST: Final = 3


def nearest(asked: str, known: Iterable[str], most: int = _MOST) -> list[str]:
    """Return the known names that are close to `asked`, the closest first.

    Upper and lower case are equal, ``_`` equals ``-``, and an option's leading dashes are ignored.
    """
    by_plain = {_plain(name): name for name in known}
    return [by_plain[near] for near in difflib.get_close_matches(_plain(asked), by_plain, most)]


def meant(asked: str, known: Iterable[str], most: int = _MOST) -> str:
    """Return ``did you mean ...? `` with the nearest names; an empty text if no name is near.

    Parameters
    ----------
    asked
        The name that the user wrote.
    known
        All valid names.
    most
        Most names to suggest.
    """
    near = nearest(asked, known, most)
    return f"did you mean {' or '.join(near)}? " if near else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").lstrip("-")
