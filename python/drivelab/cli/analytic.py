"""Compute the latency of one request, and its parts, with the closed form of Yoo et al. 2014.

DRIVE is an SSD preset, written sim:PRESET, analytic:PRESET or PRESET, or a .toml file. The
equations are true for drives that dispatch in order and have neither a host link nor a write
buffer. For other drives the command refuses and lists the conditions that are not met.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json, add_record, size
from drivelab.cli.terminal import show
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns, format_size

if TYPE_CHECKING:
    import argparse

    from drivelab.drives.closed_form.drive import AnalyticDrive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab analytic`."""
    parser.add_argument(
        "drive", metavar="DRIVE", help="an SSD preset, with or without sim: or analytic:"
    )
    add_record(parser)
    parser.add_argument(
        "--file-size", type=size, metavar="SIZE", help="also print the time for a file of this size"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Compute the answer and print it."""
    from drivelab.drives.closed_form.drive import AnalyticDrive

    drive = AnalyticDrive.open(args.drive.removeprefix("sim:"))
    values = answer(drive, args.op, args.record, args.file_size)
    if args.json:
        print(json.dumps(values, indent=2))
    else:
        show(_text(values))
    return 0


def answer(
    drive: AnalyticDrive, op: str, record_bytes: int, file_bytes: int | None
) -> dict[str, Any]:
    """Return what `--json` prints.

    Raises
    ------
    UsageError
        If the file is not a whole number of records within the drive.
    """
    parts = drive.closed_form.record(op, record_bytes)
    latency_ns = parts.pop("record_ns")
    values: dict[str, Any] = {
        "drive": drive.name,
        "op": op,
        "record_bytes": record_bytes,
        "page_size_bytes": drive.closed_form.page_size_bytes,
        "latency_ns": latency_ns,
        **parts,
        "iops": _per_second(1, latency_ns),
        "bandwidth_bytes_per_second": _per_second(record_bytes, latency_ns),
        "bandwidth_mib_per_second": _per_second(record_bytes, latency_ns * 2**20),
    }
    if file_bytes is not None:
        if file_bytes == 0 or file_bytes % record_bytes or file_bytes > drive.capacity_bytes:
            raise UsageError(
                f"a file of {file_bytes} bytes is not possible; allowed: a multiple of the record, "
                f"{record_bytes}, up to the capacity, {drive.capacity_bytes}"
            )
        records = file_bytes // record_bytes
        values |= {
            "file_bytes": file_bytes,
            "file_records": records,
            "file_duration_ns": records * latency_ns,
        }
    return values


def _per_second(amount: int, duration_ns: int) -> float | None:
    # A preset may set every time to 0.
    return amount * 1e9 / duration_ns if duration_ns else None


def _text(values: dict[str, Any]) -> str:
    def rate(key: str, factor: float, unit: str) -> str:
        value = values[key]
        return "unlimited" if value is None else f"{value / factor:,.1f} {unit}"

    wait_ns = values["wait_ns"]
    lines = [
        ("drive", values["drive"]),
        ("operation", f"{values['op']} of {format_size(values['record_bytes'])}"),
        ("latency", f"{format_duration_ns(values['latency_ns'])} ({values['latency_ns']:,} ns)"),
        (
            "cycles",
            f"{values['cycles']} of up to {values['rho']} pages, the last of "
            f"{values['last_cycle_pages']} (record of {values['pages']} pages)",
        ),
        ("one page", format_duration_ns(values["page_ns"])),
        ("one cycle", format_duration_ns(values["cycle_ns"])),
        ("t_wait", f"{format_duration_ns(wait_ns)} between cycles" if wait_ns else "none"),
        ("throughput", rate("iops", 1, "IOPS")),
        (
            "bandwidth",
            f"{rate('bandwidth_bytes_per_second', 1e6, 'MB/s')} = "
            f"{rate('bandwidth_mib_per_second', 1, 'MiB/s')}",
        ),
    ]
    if "file_bytes" in values:
        duration = format_duration_ns(values["file_duration_ns"])
        file = f"{duration} for {format_size(values['file_bytes'])}"
        lines.append(("file", f"{file}, {values['file_records']:,} records one after another"))
    return "\n".join(f"{name:<11} {text}" for name, text in lines)
