"""One measurement in words: the workload, its speed, and how certain that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.campaign.exhibits.bursts import FOUND, UNTIL, room_found
from drivelab.drives.write_pattern import BURST
from drivelab.exhibits.quantities import PROVENANCE, count_text, workload_text
from drivelab.units import format_duration_ns, format_iops, format_rate
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.trace import PLURALS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult
    from drivelab.drives.stream_result import StreamResult


def measurement_rows(
    measurement: Measurement, name: str, kind: str, variability: str | None = None
) -> list[tuple[str, str]]:
    """Return a measurement's results as rows of a label and a text.

    Parameters
    ----------
    measurement
        The measurement.
    name, kind
        Name and kind of the drive; the first label says whether it was measured or simulated.
    variability
        Whether runs of a simulated drive vary: ``on`` or ``off``; None if its preset has none.
    """
    rows = [
        (PROVENANCE[kind].adjective, name),
        *([("variability", variability)] if variability in ("on", "off") else []),
        ("workload", workload_text(measurement.workload)),
        ("latency", _latency_text(measurement)),
        *_confidence_rows(measurement),
        ("bandwidth", format_rate(measurement.bandwidth_bytes_per_second)),
        ("throughput", format_iops(measurement.iops)),
    ]
    if measurement.read is not None and measurement.write is not None:
        rows += [("reads", _direction_text(measurement.read))]
        rows += [("writes", _direction_text(measurement.write))]
    rows += [(stream.name, _stream_text(stream)) for stream in measurement.streams]
    rows.append(
        (
            "counted",
            f"{count_text(measurement.requests, 'request')} in "
            f"{format_duration_ns(measurement.duration_ns)}",
        )
    )
    # Ratios are readable at a glance; the drive's counters are for programs.
    rows += [
        (
            label.removesuffix("_ratio").replace("_", " "),
            f"{100 * value:.1f} %" if "utilisation" in label else f"{value:.2f}",
        )
        for label, value in measurement.extra.items()
        if label.endswith("_ratio")
    ]
    return rows


def burst_text(
    measurement: Measurement, preset: Mapping[str, Any], plan: Mapping[str, Any]
) -> str | None:
    """Say that random writes were a burst, and how to see what lasts; `None` if they were not.

    Parameters
    ----------
    measurement
        The measurement.
    preset
        Preset of a simulated drive; empty for other drives.
    plan
        The plan as JSON.
    """
    if plan.get("writes", BURST) != BURST or not isinstance(measurement.workload, Characteristics):
        return None
    room = room_found(measurement, preset, plan)
    if room is None:
        return None
    return (
        f"random writes found {FOUND[room]}, until {UNTIL[room]}; "
        "--writes sustained shows what lasts"
    )


def _confidence_rows(measurement: Measurement) -> list[tuple[str, str]]:
    """Say how certain the mean latency is, if that is known or was required."""
    ratio = measurement.half_width_ratio
    if ratio is None:
        if measurement.stopped_by != "max_requests":
            return []
        return [("95 % half-width", "not known: too few requests")]
    missed = ", more than asked" if measurement.stopped_by == "max_requests" else ""
    return [("95 % half-width", f"{100 * ratio:.2f} % of the mean latency{missed}")]


def _direction_text(result: OperationResult) -> str:
    return f"{count_text(result.requests, 'request')}, latency {_latency_text(result)}"


def _stream_text(stream: StreamResult) -> str:
    return "; ".join(
        f"{done.requests:,} {PLURALS[name] if done.requests > 1 else name}, "
        f"latency {_latency_text(done)}"
        for name, done in stream.by_operation.items()
    )


def _latency_text(result: Measurement | OperationResult) -> str:
    parts = [f"{format_duration_ns(result.latency_ns_mean)} mean"]
    parts += [
        f"{format_duration_ns(result.percentile_ns(percent))} at {percent:g} %"
        for percent in (50.0, 99.0, 99.9)
    ]
    return ", ".join(parts)
