"""The papers that can be reproduced; a new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from drivelab.reproduce.claims import Reproduction


def _yoo2014() -> Reproduction:
    from drivelab.reproduce.yoo2014 import reproduce

    return reproduce()


PAPERS: Final[dict[str, Callable[[], Reproduction]]] = {"yoo2014": _yoo2014}


def reproduce(paper: str) -> Reproduction:
    """Reproduce a paper.

    Raises
    ------
    UsageError
        For a paper that is not known; lists the known ones.
    """
    if paper not in PAPERS:
        raise UsageError(f"no paper {paper!r}; the papers are {', '.join(PAPERS)}")
    return PAPERS[paper]()
