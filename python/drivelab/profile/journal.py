"""The passes of a profile as a run folder keeps them, so that a stopped profile goes on.

A profile asks for its passes in an order that only their results decide. Started again, it asks for
the same ones, is given what is stored, and measures what is not. Asked about another cost, or for
another half-width, it may ask for others from some pass on: then it is given all that are stored,
and goes on from there. Such a profile may go on with other passes than it would have, if it was
stopped once more: what of those that are stored was measured for which question is not kept.
"""

from __future__ import annotations

import math
import operator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from drivelab._core import RequestStream
from drivelab.errors import RunError, UsageError
from drivelab.profile.measured_pass import MeasuredPass, measured_passes
from drivelab.store import RunStore, damaged
from drivelab.workloads.whole_pass import WholePass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from drivelab.profile.measured_pass import PassDrive
    from drivelab.profile.plan import ProfilePlan

#: What the header of such a run says of itself; other runs have no such key.
RUN_KIND: Final = "profile"

# Of simulated time and of fio's; some 292 years.
_LONGEST_NS: Final = (1 << 63) - 1


def without_half_width(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return what makes a profile another one: how well it is to be known does not."""
    plan = dict(header.get("plan") or {})
    plan.pop("half_width_ratio", None)
    return {**header, "plan": plan}


def pass_json(measured: MeasuredPass) -> dict[str, Any]:
    """Return a pass and its time, JSON-able."""
    return asdict(measured)


def pass_of_json(data: dict[str, Any]) -> MeasuredPass:
    """Read what `pass_json` wrote.

    Raises
    ------
    KeyError, TypeError, ValueError, OverflowError, UsageError
        When it is no pass, or none that a drive could have measured.
    """
    values = {**data, "whole_pass": WholePass(**data["whole_pass"])}
    measured = MeasuredPass(**{**values, "marks_ns": tuple(data["marks_ns"])})
    # Whoever sends a pass decides which there are.
    RequestStream.of_pass(measured.whole_pass.as_tuple(), 0, measured.index)
    _check_times(measured)
    return measured


def _check_times(measured: MeasuredPass) -> None:
    """Raise `ValueError` when a drive cannot have taken these times."""
    duration_ns, factor = measured.duration_ns, measured.variability_factor
    marks, requests_per_mark = measured.marks_ns, measured.requests_per_mark
    if not (_is_whole(duration_ns) and 0 < duration_ns <= _LONGEST_NS):
        raise ValueError(f"its duration is {duration_ns!r:.40} ns")
    if factor is not None and not (isinstance(factor, float) and 0 < factor < math.inf):
        raise ValueError(f"its variability factor is {factor!r:.40}")
    at_most = measured.whole_pass.requests // max(1, len(marks))
    if not (_is_whole(requests_per_mark) and bool(marks) <= requests_per_mark <= at_most):
        raise ValueError(f"its marks are of {requests_per_mark!r:.40} requests each")
    ends = (0, *marks, duration_ns)
    rises = all(_is_whole(mark) for mark in marks) and all(map(operator.le, ends, ends[1:]))
    if not rises:
        raise ValueError("its marks do not rise from 0 to its duration")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class Passes:
    """Measures passes one after the other and keeps each.

    Parameters
    ----------
    drive
        Where to measure.
    plan
        Whose passes they are; with a pass's place its seed is the key of random numbers.
    store
        Holds the lock; ``None`` keeps nothing.
    told
        Called with the passes that are there and those asked for so far.
    began
        Called before the first pass that is measured.
    """

    def __init__(
        self,
        drive: PassDrive,
        plan: ProfilePlan,
        store: RunStore | None = None,
        told: Callable[[int, int], None] = lambda _done, _asked: None,
        began: Callable[[], None] = lambda: None,
    ) -> None:
        self._drive = drive
        self._plan = plan
        self._store = store
        self._told = told
        self._began = began
        self._asked = 0
        self._stored = [] if store is None else stored_passes(store)
        #: Passes measured by this start.
        self.measured = 0

    def __call__(self, passes: Sequence[WholePass]) -> list[MeasuredPass]:
        """Give the next passes, measured or as stored; all that are stored where these are others.

        Raises
        ------
        RunError
            When the drive fails, or the store holds passes of another plan; what was measured is
            kept.
        """
        first = self._asked
        found = self._stored[first : first + len(passes)]
        pairs = zip(found, passes, strict=False)
        if any(was.whole_pass != wanted for was, wanted in pairs):
            return self._rest(first)
        self._asked += len(passes)
        work = list(enumerate(passes[len(found) :], start=first + len(found)))
        if work:
            found += self._measure(work)
        return found

    def _rest(self, first: int) -> list[MeasuredPass]:
        """Give all that are stored from a place on."""
        found = self._stored[first:]
        for was in found:
            if not self._plan.may_send(was.whole_pass):
                raise RunError(
                    f"pass {was.index} of the stored profile is none of this plan: name a new "
                    "folder"
                )
        self._asked = len(self._stored)
        return found

    def _measure(self, work: Sequence[tuple[int, WholePass]]) -> Iterator[MeasuredPass]:
        if not self.measured:
            self._began()
        for one in measured_passes(self._drive, work, seed=self._plan.seed):
            if self._store is not None:
                self._store.append(pass_json(one), one.index)
            self.measured += 1
            self._told(one.index + 1, self._asked)
            yield one


def stored_passes(store: RunStore) -> list[MeasuredPass]:
    """Read every pass of a run, in order.

    Raises
    ------
    RunError
        When the run holds anything else, or a pass is missing.
    """
    found = []
    for place, each in enumerate(store.measurements()):
        try:
            found.append(pass_of_json(each))
        except (KeyError, TypeError) as error:
            raise damaged(store.path, f"pass {place} says something else") from error
        except (ValueError, OverflowError, UsageError) as error:
            raise damaged(store.path, f"pass {place} is none: {error}") from error
    if any(each.index != place for place, each in enumerate(found)):
        raise damaged(store.path, "a pass is missing")
    return found
