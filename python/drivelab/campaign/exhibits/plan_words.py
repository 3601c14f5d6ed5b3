"""How long each workload was measured: a sentence with everything in a plan except its seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.drives.write_pattern import BURST
from drivelab.exhibits.quantities import latency_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def plan_words(plan: Mapping[str, Any], kind: str) -> str:
    """Describe how long each workload was measured.

    Parameters
    ----------
    plan
        As returned by `drivelab.drives.plan.MeasurementPlan.to_json`.
    kind
        Kind of the drive: a formula needs no time, a simulated drive has its own.
    """
    if kind == "closed_form":
        return "calculated, not waited for"
    clock = "simulated " if kind == "simulated" else ""
    warm = [
        *([f"{plan['warmup_requests']:,} requests"] if plan.get("warmup_requests") else []),
        *([_time(plan["warmup_seconds"], clock)] if plan.get("warmup_seconds") else []),
    ]
    settled = plan.get("writes", BURST) != BURST
    end = "; each workload that writes began on a drive settled by its kind of writing"
    end = end if settled else ""
    head = f"After {' and '.join(warm)} of warm-up, " if warm else "Without warm-up, "
    requests, seconds = plan.get("requests"), plan.get("seconds")
    ratio = plan.get("half_width_ratio")
    if ratio is None:
        ends = [
            *([f"{requests:,} requests"] if requests is not None else []),
            *([_time(seconds, clock)] if seconds is not None else []),
        ]
        first = ", whichever came first" if len(ends) > 1 else ""
        return f"{head}{' or '.join(ends)}{first}{end}"
    least = f"at least {requests:,} requests, and " if requests is not None else ""
    most = [f"{plan['max_requests']:,} requests"] if plan.get("max_requests") else []
    most += [_time(seconds, clock)] if seconds is not None else []
    limit = f", or {' or '.join(most)} at most" if most else ""
    burst = plan.get("burst_ratio")
    if burst is not None:
        limit += f", or until {100 * burst:g} % of the drive had been written"
    return (
        f"{head}{least}until the mean latency was known to within {100 * ratio:g} % "
        f"(95 % confidence){limit}{end}"
    )


def _time(seconds: float, clock: str) -> str:
    text = latency_text(seconds * 1e9)
    return f"{text} of {clock}time" if clock else text
