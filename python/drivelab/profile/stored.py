"""The profile in a run folder, estimated again from its passes without its drive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import UsageError
from drivelab.profile.journal import stored_passes
from drivelab.profile.kind import is_complete, stored_plan
from drivelab.profile.measured import from_passes
from drivelab.profile.optimisation import Cost
from drivelab.profile.settings import ProfileSettings
from drivelab.runs.starts import drives_beside, has_new_file
from drivelab.store import damaged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.profile.profile import Profile
    from drivelab.store import RunStore

_COST: Final = "optimization_cost"


def cost_of_start(cost: Cost | None) -> dict[str, Any]:
    """Return what a start of a profile keeps of the cost that it was asked about."""
    return {} if cost is None else {_COST: {"time_ns": cost.time_ns, "ratio": cost.ratio}}


@dataclass(frozen=True)
class StoredProfile:
    """A profile and what it was of.

    Attributes
    ----------
    found
        From all passes that the run holds.
    plan
        What was asked for; its cost is that of the last start.
    is_complete
        Whether everything that was asked for is there.
    has_new_file, beside
        As of `drivelab.profile.run.Profiled`.
    """

    found: Profile
    plan: ProfileSettings
    is_complete: bool
    has_new_file: bool | None
    beside: list[str] | None

    @classmethod
    def of(cls, store: RunStore) -> StoredProfile:
        """Read a run of `drivelab profile`.

        Raises
        ------
        UsageError
            When passes are missing that a profile begins with.
        RunError
            When the database is damaged.
        """
        starts = store.starts()
        try:
            asked: Mapping[str, Any] | None = starts[-1].get(_COST) if starts else None
            cost = None if asked is None else Cost(asked["time_ns"], asked["ratio"])
        except (KeyError, TypeError, UsageError) as error:
            raise damaged(store.path, f"its cost is none: {error}") from error
        plan = stored_plan(store, cost)
        passes = stored_passes(store)
        done = {
            (each.whole_pass.direction, each.whole_pass.is_random, each.whole_pass.request_bytes)
            for each in passes.values()
        }
        wanted = {
            (direction, is_random, size)
            for direction in plan.directions
            for is_random in (False, True)
            for size in plan.first_sizes()
        }
        if not wanted <= done:
            command = starts[-1].get("command") if starts else None
            raise UsageError(
                f"{store.path} is a profile that was stopped: {len(passes)} passes exist, but "
                f"not one of every size and order; `{command or 'drivelab profile'}` resumes it"
            )
        in_order = [passes[place] for place in sorted(passes)]
        found = from_passes(in_order, plan.intervals, scheme=plan.scheme, centre=plan.centre)
        is_real = store.header["drive"].get("kind") == "real"
        return cls(
            found,
            plan,
            is_complete(store, plan),
            has_new_file(starts) if is_real else None,
            drives_beside(starts) if is_real else None,
        )
