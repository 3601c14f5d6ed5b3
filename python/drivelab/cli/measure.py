"""Measure one workload on one drive.

A simulated drive answers in simulated time, a real one is measured by fio. Characteristics
that are not given keep the value in brackets.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_characteristics, add_drive, add_json
from drivelab.cli.drive_options import (
    add_drive_options,
    characteristics_json,
    characteristics_of,
    open_named,
    plan_of,
)
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import RunError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult
    from drivelab.drives.plan import MeasurementPlan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab measure`."""
    add_drive(parser)
    add_characteristics(parser)
    add_drive_options(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    workload = characteristics_of(args)
    workload.validate()
    plan = plan_of(args)
    with open_named(args, [workload]) as drive:
        drive.check(workload)
        measurement = next(iter(drive.measure([(0, workload)], plan)), None)
        if measurement is None:
            raise RunError(f"{drive.name} answered nothing")
        drive_name, kind = drive.name, drive.kind
        variability: str | None = getattr(drive, "variability", None)
        preset = drive.identity().get("preset", {})
    if args.json:
        answer = {
            "drive": drive_name,
            "kind": kind,
            "variability": variability,
            "plan": plan.to_json(),
        }
        print(json.dumps(answer | describe(measurement), indent=2))
    else:
        burst = _burst_text(measurement, preset, plan)
        show(_text(in_lines(drive_name), kind, variability, measurement, burst))
    return 0


def describe(measurement: Measurement) -> dict[str, Any]:
    """Give what ``--json`` prints about a measurement (docs/json.md)."""
    from drivelab.measure.columns import PERCENTILES

    values = measurement.to_json()
    del values["index"], values["characteristics"]
    for direction in ("read", "write"):
        result: OperationResult | None = getattr(measurement, direction)
        if result is not None:
            values[direction] |= {
                f"latency_ns_{name}": result.percentile_ns(percent)
                for name, percent in PERCENTILES.items()
            }
    return {
        "workload": characteristics_json(measurement.characteristics),
        "requests": measurement.requests,
        "bytes": measurement.bytes,
        "latency_ns_mean": measurement.latency_ns_mean,
        **{
            f"latency_ns_{name}": measurement.percentile_ns(percent)
            for name, percent in PERCENTILES.items()
        },
        "bandwidth_bytes_per_second": measurement.bandwidth_bytes_per_second,
        "iops": measurement.iops,
        "half_width_ratio": measurement.half_width_ratio,
        **values,
    }


def _text(
    name: str,
    kind: str,
    variability: str | None,
    measurement: Measurement,
    burst: Sequence[tuple[str, str]],
) -> str:
    from drivelab.report.quantities import PROVENANCE, workload_text
    from drivelab.units import format_duration_ns, format_iops, format_rate

    lines = [
        (PROVENANCE[kind].adjective, name),
        *([("variability", variability)] if variability in ("on", "off") else []),
        ("workload", workload_text(measurement.characteristics)),
        ("latency", _latency_text(measurement)),
        *_confidence_text(measurement),
        ("bandwidth", format_rate(measurement.bandwidth_bytes_per_second)),
        ("throughput", format_iops(measurement.iops)),
    ]
    if measurement.read is not None and measurement.write is not None:
        lines += [("reads", _direction_text(measurement.read))]
        lines += [("writes", _direction_text(measurement.write))]
    lines.append(
        (
            "counted",
            f"{measurement.requests:,} requests in {format_duration_ns(measurement.duration_ns)}",
        )
    )
    # Ratios say something at a glance; the drive's counters are in --json.
    lines += [
        (
            label.removesuffix("_ratio").replace("_", " "),
            f"{100 * value:.1f} %" if "utilisation" in label else f"{value:.2f}",
        )
        for label, value in measurement.extra.items()
        if label.endswith("_ratio")
    ]
    lines += burst
    width = max(len(label) for label, _ in lines)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in lines)


def _burst_text(
    measurement: Measurement, preset: Mapping[str, Any], plan: MeasurementPlan
) -> list[tuple[str, str]]:
    from drivelab.report.bursts import FOUND, UNTIL, room_found

    room = room_found(measurement, preset, plan.to_json())
    if room is None:
        return []
    told = f"random writes found {FOUND[room]}; for what the drive sustains warm up until "
    return [("a burst", f"{told}{UNTIL[room]} (--warmup-requests)")]


def _confidence_text(measurement: Measurement) -> list[tuple[str, str]]:
    """Say how sure the mean latency is, where that is known or was asked for."""
    ratio = measurement.half_width_ratio
    if ratio is None:
        if measurement.stopped_by != "max_requests":
            return []
        return [("95 % half-width", "not known: too few requests")]
    missed = ", more than asked" if measurement.stopped_by == "max_requests" else ""
    return [("95 % half-width", f"{100 * ratio:.2f} % of the mean latency{missed}")]


def _direction_text(result: OperationResult) -> str:
    return f"{result.requests:,} requests, latency {_latency_text(result)}"


def _latency_text(result: Measurement | OperationResult) -> str:
    from drivelab.units import format_duration_ns

    parts = [f"{format_duration_ns(result.latency_ns_mean)} mean"]
    parts += [
        f"{format_duration_ns(result.percentile_ns(percent))} at {percent:g} %"
        for percent in (50.0, 99.0, 99.9)
    ]
    return ", ".join(parts)
