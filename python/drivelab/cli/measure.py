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
    add_writes,
    characteristics_json,
    characteristics_of,
    open_named,
    plan_of,
)
from drivelab.cli.terminal import in_lines, show
from drivelab.drives.write_pattern import WRITES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab measure`."""
    add_drive(parser)
    add_characteristics(parser)
    add_drive_options(parser)
    add_writes(parser, WRITES, "burst")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    from drivelab.drives.in_order import measured_in_order

    workload = characteristics_of(args)
    workload.validate()
    plan = plan_of(args)
    with open_named(args, [workload]) as drive:
        (measurement,) = measured_in_order(drive, [workload], plan)
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
        from drivelab.campaign.exhibits.measurement_words import burst_text, measurement_rows

        rows = measurement_rows(measurement, in_lines(drive_name), kind, variability)
        burst = burst_text(measurement, preset, plan.to_json())
        if burst is not None:
            rows.append(("a burst", burst))
        show(_text(rows))
    return 0


def describe(measurement: Measurement) -> dict[str, Any]:
    """Give what ``--json`` prints about a measurement (docs/json.md)."""
    from drivelab.runs.columns import PERCENTILES

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


def _text(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(label) for label, _ in rows)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in rows)
