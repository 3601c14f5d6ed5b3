"""The passes of a profile as a run folder keeps them, so that a stopped profile goes on.

A profile asks for its passes in an order that only their results decide. Started again, it asks for
the same ones, is given what is stored, and measures what is not. Asked about another cost, or for
another half-width, it may ask for others from some pass on: then it is given all that are stored,
and goes on from there. Such a profile may go on with other passes than it would have, if it was
stopped once more: what of those that are stored was measured for which question is not kept.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.whole_passes import PassMeasurement
from drivelab.errors import RunError
from drivelab.store import RunStore, damaged
from drivelab.workloads.whole_pass import WholePass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from drivelab.serra.plan import ProfilePlan
    from drivelab.serra.profile import PassDrive

#: What the header of such a run says of itself; other runs have no such key.
RUN_KIND: Final = "profile"


def without_half_width(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return what makes a profile another one: how well it is to be known does not."""
    plan = dict(header.get("plan") or {})
    plan.pop("half_width_ratio", None)
    return {**header, "plan": plan}


def pass_json(measured: PassMeasurement) -> dict[str, Any]:
    """Return a pass and its time, JSON-able."""
    return asdict(measured)


def pass_of_json(data: dict[str, Any]) -> PassMeasurement:
    """Read what `pass_json` wrote."""
    values = {**data, "whole_pass": WholePass(**data["whole_pass"])}
    return PassMeasurement(**{**values, "marks_ns": tuple(data["marks_ns"])})


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
        self._stored = [] if store is None else _stored(store)
        #: Passes measured by this start.
        self.measured = 0

    def __call__(self, passes: Sequence[WholePass]) -> list[PassMeasurement]:
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

    def _rest(self, first: int) -> list[PassMeasurement]:
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

    def _measure(self, work: Sequence[tuple[int, WholePass]]) -> Iterator[PassMeasurement]:
        if not self.measured:
            self._began()
        for one in self._drive.measure_passes(work, seed=self._plan.seed):
            if self._store is not None:
                self._store.append(pass_json(one), one.index)
            self.measured += 1
            self._told(one.index + 1, self._asked)
            yield one


def _stored(store: RunStore) -> list[PassMeasurement]:
    """Read every pass of a run, in order."""
    try:
        found = [pass_of_json(each) for each in store.measurements()]
    except (KeyError, TypeError) as error:
        raise damaged(store.path, "a pass says something else") from error
    if any(each.index != place for place, each in enumerate(found)):
        raise damaged(store.path, "a pass is missing")
    return found
