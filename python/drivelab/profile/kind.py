"""A profile as a kind of run: when it is the same, how far it is, and the rows that it exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import UsageError
from drivelab.profile.journal import stored_passes
from drivelab.profile.measured_pass import evenly
from drivelab.profile.settings import ProfileSettings
from drivelab.profile.tables import ORDERS
from drivelab.runs.columns import Column, Rows
from drivelab.runs.kind import RunKind, Standing
from drivelab.store import RunStore, damaged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.profile.optimisation import Cost

#: Lies in the folder of a profile that ended: where passes are chosen by those before them, they
#: do not say whether more are wanted.
ANSWER: Final = "profile.json"


def _without_half_width(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return what makes a profile another one: how well it is to be known does not."""
    plan = dict(header.get("plan") or {})
    plan.pop("half_width_ratio", None)
    return {**header, "plan": plan}


def stored_plan(store: RunStore, cost: Cost | None = None) -> ProfileSettings:
    """Return what a run was asked for; `cost` is not part of what identifies it.

    Raises
    ------
    RunError
        When its header holds no plan.
    """
    try:
        return ProfileSettings.from_json(store.header["plan"], cost=cost)
    except (KeyError, TypeError, UsageError) as error:
        raise damaged(store.path, f"its plan is none: {error}") from error


def is_complete(store: RunStore, plan: ProfileSettings) -> bool:
    """Return whether every pass that the plan asks for is there."""
    passes = plan.passes_in_all()
    if passes is not None and not plan.is_full:
        return len(store.done()) >= passes
    return (store.path / ANSWER).is_file()


def _standing(store: RunStore) -> Standing:
    plan = stored_plan(store)
    if is_complete(store, plan):
        return Standing(PROFILE.what, plan.seed, is_complete=True, planned=len(store.done()))
    return Standing(
        PROFILE.what,
        plan.seed,
        is_complete=False,
        planned=plan.passes_in_all(),
        may_end_sooner=plan.is_full,
    )


def _stored_rows(store: RunStore) -> Rows:
    """Return a row for each pass; of its requests their time together is known alone."""
    passes = list(stored_passes(store).values())
    asked = [one.whole_pass for one in passes]
    labels = [
        Column("direction", "text", [one.direction for one in asked]),
        Column("order", "text", [ORDERS[one.is_random] for one in asked]),
        Column("request_bytes", "integer", [one.request_bytes for one in asked]),
        Column("whole_requests", "integer", [one.whole_requests for one in asked]),
        Column("access_time_ns", "real", [one.access_time_ns for one in passes]),
    ]
    measurements = [
        evenly(one.index, one.whole_pass, one.duration_ns, factor=one.variability_factor)
        for one in passes
    ]
    return Rows(measurements, labels, has_latencies=False)


PROFILE: Final = RunKind(
    "profile",
    "profile",
    one="pass",
    many="passes",
    compared=("drive", "plan"),
    rows=_stored_rows,
    standing=_standing,
    as_compared=_without_half_width,
)
