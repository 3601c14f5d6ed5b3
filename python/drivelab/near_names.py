"""A name that is not known, and the known ones that somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

#: So many are guessed.
_MOST: Final = 3


def nearest(asked: str, known: Iterable[str], most: int = _MOST) -> list[str]:
    """Give the known names that are close to what was asked for, the closest first.

    Upper and lower case are the same, ``_`` is ``-``, and an option's dashes do not count.
    """
    by_plain = {_plain(name): name for name in known}
    return [by_plain[near] for near in difflib.get_close_matches(_plain(asked), by_plain, most)]


def meant(asked: str, known: Iterable[str], most: int = _MOST) -> str:
    """Ask whether one of the nearest names was meant, with a space behind; empty without any.

    Parameters
    ----------
    asked
        What was written.
    known
        Names that there are.
    most
        How many to name at most.
    """
    near = nearest(asked, known, most)
    return f"did you mean {' or '.join(near)}? " if near else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").lstrip("-")
