"""What a test of the performance test specification consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from drivelab.exhibits import Page
from drivelab.pts.applied_settings import AppliedSettings, Extent
from drivelab.pts.bench import Bench
from drivelab.pts.journal import Record
from drivelab.pts.settings import Settings

#: ``steady``; ``bounded`` when a bound of the test's own (bytes, time) came first; ``not_steady``
#: when the rounds ran out; ``untested`` where the test has no rule; ``incomplete`` when it did not
#: come to its end.
Verdict = Literal["untested", "steady", "bounded", "not_steady", "incomplete"]


@dataclass(frozen=True)
class Section:
    """A part of a test with its own preconditioning and steady state.

    Attributes
    ----------
    name
        Empty where a test is one.
    verdict
        Whether it settled.
    rounds
        Whole rounds that were run.
    values
        What docs/json-pts.md says of a section.
    """

    name: str
    verdict: Verdict
    rounds: int
    values: dict[str, Any]


@dataclass(frozen=True)
class PtsTest:
    """A test: what it does to a drive, and what its record says.

    Attributes
    ----------
    name
        The word on the command line.
    title
        Of its report.
    summary
        Half a line.
    known
        How its steps are known: ``specification``, ``implementations``, or ``own`` where only
        the method is the specification's.
    check
        Refuses settings and drives that it cannot run with a `UsageError`, before anything is
        done to the drive.
    carry_out
        Takes every step.
    most_steps
        Says how many those are at most; exactly, unless the test `settles`.
    sections
        Judges a record, complete or not.
    pages
        Shows it.
    settles
        Whether it has rounds that are to become steady.
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
    """Judge rounds: those of a test that was cut short are neither steady nor not."""
    if is_steady:
        return "steady"
    return "not_steady" if is_complete else "incomplete"
