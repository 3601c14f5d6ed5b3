"""Experiment designs: which workloads a campaign measures.

A design has one name: ``adaptive`` chooses workloads as it goes, ``huang2011`` is the whole design,
``huang2011:300`` a sample of 300 workloads, ``workloads.csv`` a file. To add a design, write a
function that turns the name and the count into a `Design`, and add a line to `DESIGNS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from drivelab._core import SECTOR_BYTES
from drivelab.errors import UsageError
from drivelab.near_names import meant
from drivelab.workloads.adaptive import adaptive
from drivelab.workloads.csv_design import SUFFIX, csv_design
from drivelab.workloads.huang2011 import huang2011
from drivelab.workloads.huang2011_sweeps import huang2011_sweeps
from drivelab.workloads.selection import Accepts, Selection
from drivelab.workloads.sobol import sobol


class Design(Protocol):
    """A set of workloads to measure."""

    @property
    def name(self) -> str:
        """The design's name."""

    @property
    def distinct(self) -> int | None:
        """Number of distinct workloads in the whole design; `None` for a continuous range."""

    @property
    def population(self) -> str | None:
        """The population in words; `None` if it depends on the drive's blocks."""

    def select(
        self, seed: int, accepts: Accepts | None = None, block_bytes: int = SECTOR_BYTES
    ) -> Selection:
        """Return the workloads, and the number that the drive cannot run.

        Parameters
        ----------
        seed
            Key of the random numbers.
        accepts
            Returns whether the drive can run a workload; by default every one.
        block_bytes
            Requests to the drive are multiples of this.
        """


@dataclass(frozen=True)
class DesignEntry:
    """The name of a design, and the function that makes it.

    Attributes
    ----------
    make
        Returns the design for the name as written and the count.
    counted
        Whether ``:N`` never, sometimes or always follows the name.
    """

    make: Callable[[str, int | None], Design]
    counted: Literal["never", "maybe", "always"]


DESIGNS: Final[dict[str, DesignEntry]] = {
    "adaptive": DesignEntry(adaptive, "never"),
    "huang2011": DesignEntry(huang2011, "maybe"),
    "huang2011-sweeps": DesignEntry(huang2011_sweeps, "never"),
    "sobol": DesignEntry(sobol, "always"),
}

#: The default design of a campaign.
DEFAULT_DESIGN: Final = "adaptive"
_SPELLINGS: Final = {"never": ("",), "maybe": ("", ":N"), "always": (":N",)}
_COUNT: Final = re.compile("0{0,9}[1-9][0-9]{0,17}")


def design_spellings() -> tuple[str, ...]:
    """Return the forms of designs' names: ``NAME``, ``NAME:N``, ``FILE.csv``."""
    named = (
        f"{name}{ending}" for name, entry in DESIGNS.items() for ending in _SPELLINGS[entry.counted]
    )
    return (*named, f"FILE{SUFFIX}")


def is_file(text: str) -> bool:
    """Return whether a design's name is a file's."""
    return text.lower().endswith(SUFFIX)


def parse_design(text: str) -> Design:
    """Return the design with the name ``NAME``, ``NAME:N`` or ``FILE.csv``.

    Raises
    ------
    UsageError
        When there is no such design (the error lists all), when N is not a count, when the design
        has fewer than N distinct workloads, or when the file is not a list of workloads.
    """
    if is_file(text):
        return csv_design(text)
    valid = ", ".join(design_spellings())
    name, colon, written = text.partition(":")
    entry = DESIGNS.get(name)
    if entry is None:
        shown = name if len(name) <= 40 else f"{name[:37]}..."
        raise UsageError(f"unknown design {shown!r}; {meant(name, DESIGNS)}valid: {valid}")
    if colon and entry.counted == "never":
        how = (
            "measures as many as --measurements says" if name == "adaptive" else "is measured whole"
        )
        raise UsageError(f"{name} {how}: leave :N out; valid: {valid}")
    if (colon and not _COUNT.fullmatch(written)) or (not colon and entry.counted == "always"):
        raise UsageError(
            f"{text[:60]!r} does not say how many workloads; valid: {valid} with N from 1 on"
        )
    count = int(written) if colon else None
    design = entry.make(text, count)
    if count is not None and design.distinct is not None and count > design.distinct:
        raise UsageError(
            f"{text} asks for {count}; the design has {design.distinct} distinct workloads"
        )
    return design
