"""Experiment designs: which workloads a campaign measures.

A design is named by one string: ``huang2011`` is all of it, ``huang2011:300`` a sample of 300
workloads. A new design is a function from that string and the count to a `Design`, and a line in
`DESIGNS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Protocol

from drivelab._core import SECTOR_BYTES
from drivelab.errors import UsageError
from drivelab.workloads.huang2011 import huang2011
from drivelab.workloads.selection import Accepts, Selection


class Design(Protocol):
    """A set of workloads to measure."""

    @property
    def name(self) -> str:
        """The string that names it."""

    @property
    def distinct(self) -> int:
        """Distinct workloads that the whole design holds."""

    def select(
        self, seed: int, accepts: Accepts | None = None, block_bytes: int = SECTOR_BYTES
    ) -> Selection:
        """Choose the workloads, and say how many the drive cannot express.

        Parameters
        ----------
        seed
            Key of the random numbers.
        accepts
            Whether the drive can express a workload; by default every one.
        block_bytes
            Requests to the drive are multiples of this.
        """


DESIGNS: Final[dict[str, Callable[[str, int | None], Design]]] = {
    "huang2011": huang2011,
}

_COUNT: Final = re.compile("0{0,9}[1-9][0-9]{0,17}")


def design_names() -> tuple[str, ...]:
    """Return the names of all designs."""
    return tuple(DESIGNS)


def parse_design(text: str) -> Design:
    """Find the design that ``NAME`` or ``NAME:N`` stands for.

    Raises
    ------
    UsageError
        When there is no such design (the error lists those that exist), when N is no count, or
        when the design holds fewer distinct workloads than N.
    """
    spelled = ", ".join(f"{name}, {name}:N" for name in DESIGNS)
    name, colon, written = text.partition(":")
    if name not in DESIGNS:
        shown = name if len(name) <= 40 else f"{name[:37]}..."
        raise UsageError(f"unknown design {shown!r}; valid: {spelled}")
    if colon and not _COUNT.fullmatch(written):
        raise UsageError(
            f"{text[:60]!r} does not say how many workloads; valid: {spelled} with N from 1 on"
        )
    count = int(written) if colon else None
    design = DESIGNS[name](text, count)
    if count is not None and count > design.distinct:
        raise UsageError(
            f"{text} asks for {count}; the design holds {design.distinct} distinct workloads"
        )
    return design
