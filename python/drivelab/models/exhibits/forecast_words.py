"""A forecast of a trace in sentences: whether the drive keeps up, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.exhibits.quantities import mre_text

if TYPE_CHECKING:
    from drivelab.models.trace_forecast import TraceForecast


def outside_text(forecast: TraceForecast) -> str:
    """Say how many windows ask for something that was not measured; empty where none does."""
    outside = int(forecast.outside.sum())
    if not outside:
        return ""
    count = len(forecast.begin_ns)
    return (
        f"{outside:,} of {count:,} windows contain requests unlike those that were measured; their "
        "error is unknown"
    )


def sureness_text(error: float) -> str:
    """Say what is known of the error: `error` is the model's mean relative one in closed loops."""
    return (
        f"the model is off by {mre_text(error)} on average in closed loops. It was not tested on "
        "traces, so there is no interval; VALIDATION.md says how far forecasts of recorded traces "
        "were off."
    )
