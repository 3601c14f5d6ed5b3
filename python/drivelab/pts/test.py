"""The parts of a test of the performance test specification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from drivelab.exhibits import Page
from drivelab.pts.applied_settings import AppliedSettings, Extent
from drivelab.pts.bench import Bench
from drivelab.pts.journal import Record
from drivelab.pts.settings import Settings

#: ``steady``; ``bounded`` if a limit of the test (bytes, time) came first; ``not_steady`` if the
#: rounds ran out; ``untested`` if the test has no rule; ``incomplete`` if it did not finish.
Verdict = Literal["untested", "steady", "bounded", "not_steady", "incomplete"]


@dataclass(frozen=True)
class Section:
    """A part of a test with its own preconditioning and steady state.

    Attributes
    ----------
    name
        Empty if a test has only one.
    verdict
        Whether it settled.
    rounds
        Number of complete rounds.
    values
        The section as in docs/json-pts.md.
    """

    name: str
    verdict: Verdict
    rounds: int
    values: dict[str, Any]


@dataclass(frozen=True)
class PtsTest:
    """A test: what it does to a drive, and what its record shows.

    Attributes
    ----------
    name
        The word on the command line.
    title
        Title of its report.
    summary
        A summary in half a line.
    known
        The source of its steps: ``specification``, ``implementations``, or ``own`` if only the
        method is the specification's.
    check
        Refuses settings and drives that it cannot run with a `UsageError`, before anything is done
        to the drive.
    carry_out
        Carries out every step.
    most_steps
        Returns the largest number of steps, which is exact unless the test `settles`.
    sections
        Judges a record, complete or not.
    pages
        Shows it.
    settles
        Whether it has rounds that should become steady.
    """

    name: str
    title: str
    summary: str
    known: Literal["specification", "implementations", "own"]
    check: Callable[[AppliedSettings], None]
    carry_out: Callable[[Bench], None]
    most_steps: Callable[[Settings, Extent], int]
    sections: Callable[[Record], list[Section]]
    pages: Callable[[Record], list[Page]]
    settles: bool = True


def settled_verdict(is_steady: bool, is_complete: bool) -> Verdict:
    """Return the verdict on rounds; those of an interrupted test are neither steady nor not."""
    if is_steady:
        return "steady"
    return "not_steady" if is_complete else "incomplete"
