"""The papers that can be reproduced; a new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError
from drivelab.near_names import meant

if TYPE_CHECKING:
    from pathlib import Path

    from drivelab.reproduce.claims import Reproduction


def _boito2015(_folder: Path | None) -> Reproduction:
    from drivelab.reproduce.boito2015 import reproduce

    return reproduce()


def _huang2011(folder: Path | None) -> Reproduction:
    from drivelab.reproduce.huang2011 import reproduce

    return reproduce(folder)


def _lee2021(folder: Path | None) -> Reproduction:
    from drivelab.reproduce.lee2021 import reproduce

    return reproduce(folder)


def _snia2010(folder: Path | None) -> Reproduction:
    from drivelab.reproduce.snia2010 import reproduce

    return reproduce(folder)


def _yoo2014(_folder: Path | None) -> Reproduction:
    from drivelab.reproduce.yoo2014 import reproduce

    return reproduce()


PAPERS: Final[dict[str, Callable[[Path | None], Reproduction]]] = {
    "boito2015": _boito2015,
    "huang2011": _huang2011,
    "lee2021": _lee2021,
    "snia2010": _snia2010,
    "yoo2014": _yoo2014,
}
#: Papers that store their measurements in a folder and resume there.
KEPT: Final = ("huang2011", "lee2021", "snia2010")


def reproduce(paper: str, folder: Path | None = None) -> Reproduction:
    """Reproduce a paper.

    Parameters
    ----------
    paper
        Name of the paper, a key of `PAPERS`.
    folder
        Folder that stores long measurements, so that they resume after a stop. Without it, nothing
        is stored.

    Raises
    ------
    UsageError
        If the paper is not known; the error lists the known ones.
    """
    if paper not in PAPERS:
        raise UsageError(
            f"no paper {paper!r}; {meant(paper, PAPERS)}the papers are {', '.join(PAPERS)}"
        )
    return PAPERS[paper](folder)
