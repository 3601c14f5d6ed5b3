"""`drivelab firmware profile`: run workloads on host and target, and keep every record."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json, argument_type, seed, whole_number
from drivelab.cli.firmware_workloads import (
    WORKLOAD_HELP,
    add_length,
    named_workloads,
    request_plan,
)
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.firmware.profiled import Profiled

_MOST_WORKERS: Final = 16
_MOST_DEPTH: Final = 255
_GEOMETRY: Final = "4x4x2x5120x512"


def _geometry(text: str) -> str:
    if not re.fullmatch(r"[0-9]+(x[0-9]+){4}", text):
        raise UsageError(
            f"{text!r} is no geometry: write channels, ways, dies a way, blocks a die and pages a "
            f"block, as {_GEOMETRY}"
        )
    return text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab firmware profile`."""
    parser.add_argument(
        "workloads",
        metavar="WORKLOAD",
        nargs="+",
        help=WORKLOAD_HELP,
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="run folder; an existing run goes on",
    )
    add_length(parser)
    parser.add_argument(
        "--geometry",
        type=argument_type(_geometry),
        default=_GEOMETRY,
        metavar="CxWxDxBxP",
        help="channels, ways, dies a way, blocks a die and pages of 16 KiB a block "
        f"[{_GEOMETRY}: 1 TiB with 25 %% over-provisioning]",
    )
    parser.add_argument(
        "--cores",
        type=whole_number(2, _MOST_WORKERS),
        default=4,
        metavar="N",
        help="workers of the firmware; more than the target has cores share them [4]",
    )
    parser.add_argument(
        "--queue-depth",
        type=whole_number(1, _MOST_DEPTH),
        default=64,
        metavar="N",
        help="requests outstanding [64]",
    )
    parser.add_argument(
        "--target",
        type=Path,
        metavar="FILE.toml",
        help="parameters of the emulated target [processors/a53-like.toml]",
    )
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="key of all random numbers [1]"
    )
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Profile, and say how long a request takes on both."""
    from drivelab.firmware.profile import Bench, FirmwareSettings, profile_firmware
    from drivelab.firmware.programs import firmware_program, observers

    workloads = named_workloads(args.workloads, args.fit)
    if args.target is not None and not args.target.is_file():
        raise UsageError(f"there is no file {args.target} with parameters of a target")
    host, target = observers()
    settings = FirmwareSettings(args.geometry, args.cores, args.queue_depth, args.seed)
    found = profile_firmware(
        workloads,
        Bench(
            host,
            target,
            firmware_program(),
            settings,
            request_plan(args, settings.capacity_bytes),
            _absolute(args.target),
        ),
        args.out,
        command=args.command,
        progress=not args.json,
    )
    values = {"run": str(args.out), "workloads": [_values(each) for each in found]}
    print(json.dumps(values, indent=2)) if args.json else show(_text(in_lines(values)))
    return 0


def _absolute(path: Path | None) -> Path | None:
    return None if path is None else path.resolve()


def _values(profiled: Profiled) -> dict[str, Any]:
    """Give what ``--json`` prints of a workload (docs/json-firmware.md)."""

    def per_request(log: Any, name: str) -> float:
        return float(log.column(name).sum() / profiled.counted.column("requests").sum())

    return {
        "label": profiled.label,
        "records": len(profiled),
        "host_ns_per_request": per_request(profiled.host, "time_ns"),
        "host_instructions_per_request": per_request(profiled.host, "instructions"),
        "target_ns_per_request": per_request(profiled.target, "time_ns"),
        "target_ns_per_request_low": per_request(profiled.target, "time_low_ns"),
        "target_ns_per_request_high": per_request(profiled.target, "time_high_ns"),
        "platform_ratio": per_request(profiled.target, "time_ns")
        / per_request(profiled.host, "time_ns"),
        "flash_programs_per_request": per_request(profiled.counted, "flash_programs"),
        "pages_moved_per_request": per_request(profiled.counted, "pages_moved"),
    }


def _text(values: dict[str, Any]) -> str:
    from drivelab.report.terminal import aligned

    rows = [
        (
            each["label"],
            f"{each['records']:,}",
            f"{each['host_ns_per_request'] / 1000:.2f}",
            f"{each['target_ns_per_request'] / 1000:.2f}",
            f"{each['target_ns_per_request_low'] / 1000:.2f} to "
            f"{each['target_ns_per_request_high'] / 1000:.2f}",
            f"{each['pages_moved_per_request']:.2f}",
        )
        for each in values["workloads"]
    ]
    head = ("workload", "records", "host us", "target us", "target, low to high", "pages moved")
    return "\n".join(
        [
            "Time of a request in the firmware, and pages that collection moves for it",
            "",
            *aligned([head, *rows], left=1),
            "",
            f"records  {values['run']}",
            f"next     drivelab firmware evaluate {values['run']}",
        ]
    )
