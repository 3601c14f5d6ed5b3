"""Measure one workload, or a recorded trace, on one drive.

A simulated drive is measured in simulated time, a real one with fio. A characteristic that you do
not give has the value in brackets.
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
    refuse_options_without_effect,
)
from drivelab.cli.replay_progress import check_replayed_whole, replay_reported
from drivelab.cli.terminal import in_lines, show
from drivelab.cli.trace_options import add_trace, measured_trace_of
from drivelab.drives.write_pattern import WRITES
from drivelab.workloads.trace import STREAM, Trace

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult
    from drivelab.drives.stream_result import StreamResult
    from drivelab.workloads.characteristics import Characteristics


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab measure`."""
    add_drive(parser)
    add_characteristics(parser)
    add_trace(parser)
    add_drive_options(parser)
    add_writes(parser, WRITES, "burst")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    from drivelab.drives.in_order import measured_in_order

    refuse_options_without_effect(args)
    plan = plan_of(args)
    workload = _workload_of(args)
    if isinstance(workload, Trace):
        plan = plan.counted_whole()
        check_replayed_whole(args.drive, plan)
    with open_named(args, [workload]) as drive:
        with replay_reported(drive, workload):
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
        if isinstance(workload, Trace):
            rows = _with_notes(rows, workload, measurement, kind)
        burst = burst_text(measurement, preset, plan.to_json())
        if burst is not None:
            rows.append(("a burst", burst))
        show(_text(rows))
    return 0


def _workload_of(args: argparse.Namespace) -> Characteristics | Trace:
    """Return the named trace, or a workload of the characteristics."""
    trace = measured_trace_of(args)
    if trace is not None:
        return trace
    workload = characteristics_of(args)
    workload.validate()
    return workload


def _with_notes(
    rows: Sequence[tuple[str, str]], trace: Trace, measurement: Measurement, kind: str
) -> list[tuple[str, str]]:
    """Return the text with a note first if a replay was late, and further notes below."""
    from drivelab.cli.trace_text import fio_notes
    from drivelab.workloads.trace_notes import trace_notes

    # If the trace only reads and writes, the lines above say everything.
    if not any(each.trim or each.flush for each in measurement.streams):
        rows = [(label, text) for label, text in rows if label != STREAM]
    late = [each.lateness for each in measurement.streams if each.lateness is not None]
    cautions = [("caution", caution) for each in late if (caution := each.caution())]
    after = next(place for place, (label, _) in enumerate(rows) if label == "workload") + 1
    notes = [("", in_lines(note)) for note in trace_notes(trace)]
    if kind == "real":
        notes += [("", note) for note in fio_notes(trace, measurement)]
    notes += [("sent late", each.describe()) for each in late]
    return [*cautions, *rows[:after], *notes, *rows[after:]]


def describe(measurement: Measurement) -> dict[str, Any]:
    """Return what ``--json`` prints for a measurement (docs/json-measure.md)."""
    from drivelab.runs.columns import PERCENTILES

    values = measurement.to_json()
    workload = measurement.workload
    if isinstance(workload, Trace):
        asked = {"trace": workload.to_json()}
        del values["workload"], values["streams"]
        asked |= _of_stream(measurement.streams)
    else:
        asked = {"workload": characteristics_json(measurement.characteristics)}
        del values["characteristics"]
    del values["index"]
    for direction in ("read", "write"):
        result: OperationResult | None = getattr(measurement, direction)
        if result is not None:
            values[direction] |= {
                f"latency_ns_{name}": result.percentile_ns(percent)
                for name, percent in PERCENTILES.items()
            }
    return {
        **asked,
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


def _of_stream(streams: Sequence[StreamResult]) -> dict[str, Any]:
    """Return the trims, the flushes and the lateness of a trace's stream."""
    found: dict[str, Any] = {}
    for stream in streams:
        parts = {"trim": stream.trim, "flush": stream.flush, "lateness": stream.lateness}
        found |= {name: part.to_json() for name, part in parts.items() if part is not None}
    return found


def _text(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(label) for label, _ in rows)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in rows)
