"""Which options each kind of drive takes: an option without effect is an error.

The command line and the Python API use this and spell options differently: `word` returns an
option's spelling, ``--half-width`` or ``half_width_ratio``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from drivelab.drives.naming import kind_of
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.write_pattern import BURST, Writes
from drivelab.errors import CannotAnswerError, UsageError

# For each option: what it is for, and what to use instead.
_REAL_ONLY: Final = {
    "size": "files on real drives; a preset says its capacity",
    "keep": "files on real drives",
    "allow_destructive": "real drives",
    "purge": "real drives; a simulated one is purged without it",
    "endurance": "real drives; a preset says its own",
    "on_failure": "real drives",
}
_VIRTUAL_ONLY: Final = {
    "workers": "simulated drives",
    "no_variability": "simulated drives",
}


def refuse_without_effect(
    drive_name: str, asked: Mapping[str, Any], word: Callable[[str], str] = str
) -> None:
    """Raise `UsageError` for an option that the named kind of drive would ignore.

    Parameters
    ----------
    drive_name
        The string that names the drive.
    asked
        Options by name. `None` and `False` mean not given; options that every kind of drive takes
        are allowed.
    word
        Returns an option's spelling in the caller's interface.
    """
    real = kind_of(drive_name) == "real"
    for name, use in (_VIRTUAL_ONLY if real else _REAL_ONLY).items():
        if asked.get(name) not in (None, False):
            raise UsageError(f"{word(name)} has no effect on {drive_name}: it is for {use}")


def usual_writes(drive_name: str) -> Writes:
    """Return the default of ``writes`` for a model's measurements.

    Sustained where that costs no drive time and wear: on simulated drives.
    """
    return "sustained" if kind_of(drive_name) == "simulated" else BURST


def plan_for(
    drive_name: str, *, seed: int, asked: Mapping[str, Any], word: Callable[[str], str] = str
) -> MeasurementPlan:
    """Return the plan; what was not given keeps the default of the drive's kind.

    Parameters
    ----------
    drive_name, word
        As `refuse_without_effect` takes them.
    seed
        Key of all random numbers.
    asked
        Attributes of `MeasurementPlan` by name; `None` counts as not asked for.

    Raises
    ------
    UsageError
        When an option has no effect, or the values do not go together.
    """
    kind = kind_of(drive_name)
    if kind == "closed_form" and asked.get("writes") == "sustained":
        raise CannotAnswerError(
            f"{word('writes')} sustained has no meaning for {drive_name}: a formula does not "
            "store what was written; leave it out"
        )
    if kind == "closed_form" and asked.get("content") is not None:
        raise UsageError(
            f"{word('content')} has no effect on {drive_name}: it is for drives that store data, "
            "and a formula does not"
        )
    plan = MeasurementPlan.of_kind(kind, seed=seed, **asked)
    # On simulated drives a half-width ends the measurement unless something else is given.
    if asked.get("max_requests") is not None and plan.half_width_ratio is None:
        raise UsageError(
            f"{word('max_requests')} is for {word('half_width_ratio')}; give {word('requests')}"
        )
    return plan
