"""What a run's intervals promise, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits.quantities import listed
from drivelab.models.intervals import LEVELS, workloads_needed

if TYPE_CHECKING:
    from drivelab.models.exhibits.run_data import RunData

#: The level that is shown first, where the run has it.
_PREFERRED: Final = 0.9
_OF_TEN: Final = {0.8: "eight", 0.9: "nine", 0.95: "nine and a half"}


def levels(run: RunData) -> list[float]:
    """Return the levels that any interval is given at; every metric has the same."""
    return list(next(iter(run.intervals.factors.values()), {}))


def band_level(run: RunData) -> float | None:
    """Return the level that figures and words show: 90 %, or the highest that there is."""
    found = [level for level in levels(run) if level <= _PREFERRED]
    return max(found, default=None)


def promise_words(run: RunData) -> str:
    """Say what sets the width of the intervals, what that promises, and which are missing.

    Returns
    -------
    str
        Empty where there are no intervals.
    """
    level = band_level(run)
    if level is None:
        return ""
    parts = [
        f"The factor was set with {run.intervals.workloads:,} workloads drawn at random, each "
        "predicted by a model that was fitted without it. Of ten more workloads drawn in the same "
        f"way, about {_OF_TEN[level]} are inside the {100 * level:g} % interval, on average over "
        "many runs."
    ]
    missing = [level for level in LEVELS if level not in levels(run)]
    if missing:
        named = listed([f"{100 * level:g} %" for level in missing])
        needed = listed([str(workloads_needed(level)) for level in missing])
        parts.append(f"An interval of {named} needs {needed} such workloads.")
    return " ".join(parts)


def band_words(run: RunData) -> str:
    """Say what the shaded band of predicted against observed is; empty where there is none."""
    level = band_level(run)
    if level is None:
        return ""
    return (
        f"The shaded band is the {100 * level:g} % interval of the model that answers, for a "
        "workload of medium difficulty."
    )
