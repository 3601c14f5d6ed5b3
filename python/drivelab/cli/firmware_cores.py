"""`drivelab firmware cores`: how many cores, and at which clock, until the flash is the limit."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_characteristics, add_json, seed, whole_number
from drivelab.cli.outputs import add_force
from drivelab.cli.scenario_options import add_scenario, workload_of
from drivelab.cli.terminal import in_lines, show

if TYPE_CHECKING:
    from drivelab.firmware.core_counts import CoresFound
    from drivelab.outputs import OutputFolder

_WRITTEN: Final = ("report", "tables", "result")
_MOST_CORES: Final = 64
_CLOCKS_MHZ: Final = (10, 100_000)
_MOST_TRIED: Final = 16
_MOST_REQUESTS: Final = 10**9
_CORES: Final = "1,2,4,8"
_CLOCKS: Final = "150,300,600,1200,2400"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab firmware cores`."""
    parser.add_argument(
        "drive", metavar="DRIVE", help="a simulated SSD: sim:PRESET or sim:FILE.toml"
    )
    parser.add_argument(
        "--cores",
        type=_several(1, _MOST_CORES, "cores"),
        default=_CORES,
        metavar="N,...",
        help=f"numbers of cores to try [{_CORES}]",
    )
    parser.add_argument(
        "--clocks",
        type=_several(*_CLOCKS_MHZ, "MHz"),
        default=_CLOCKS,
        metavar="MHZ,...",
        help=f"clocks to try [{_CLOCKS}]",
    )
    parser.add_argument(
        "--time",
        metavar="MODEL",
        help="what the firmware costs: learned:page-map, learned:FILE.json, or static: with either "
        "[the preset's own costs, else learned:page-map]",
    )
    parser.add_argument(
        "--requests",
        type=whole_number(1, _MOST_REQUESTS),
        default=100_000,
        metavar="N",
        help="requests to count in each run [100000]",
    )
    parser.add_argument(
        "--warmup-requests",
        type=whole_number(0, _MOST_REQUESTS),
        default=2_000,
        metavar="N",
        help="requests to complete before counting starts [2000]",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers [0]"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="output folder for a report and its table [nothing is saved]",
    )
    add_characteristics(parser)
    add_scenario(parser)
    add_force(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Simulate every number of cores at every clock, and print the least that is enough."""
    from drivelab.firmware.core_counts import CoresAsked, find_cores
    from drivelab.firmware.core_exhibits import cores_report, cores_values

    asked = CoresAsked(
        args.drive if args.drive.startswith("sim:") else f"sim:{args.drive}",
        workload_of(args),
        args.cores,
        args.clocks,
        time=args.time,
        requests=args.requests,
        warmup_requests=args.warmup_requests,
        seed=args.seed,
    )
    folder = None if args.out is None else _folder(args)
    found = find_cores(asked, None if args.json else _print_step)
    written: dict[str, Path] = {}
    if folder is not None:
        from drivelab.report.written import write_report

        written = write_report(cores_report(found), folder)
    values = {
        **cores_values(found),
        **{each: str(written[each]) if each in written else None for each in _WRITTEN},
    }
    print(json.dumps(values, indent=2)) if args.json else show(_text(in_lines(values), found))
    return 0


def _print_step(line: str) -> None:
    print(line, file=sys.stderr)


def _folder(args: argparse.Namespace) -> OutputFolder:
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder

    folder = OutputFolder(args.out, f"cores of {args.drive}", force=args.force)
    refuse_folder(folder)
    return folder


def _several(least: int, most: int, unit: str) -> Callable[[str], tuple[int, ...]]:
    """Read whole numbers separated by commas, each once, in rising order."""

    def parse(text: str) -> tuple[int, ...]:
        words = text.split(",")
        if not all(word.isascii() and word.isdigit() and len(word) < 8 for word in words):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 1,2,4")
        numbers = sorted({int(word) for word in words})
        if not least <= numbers[0] <= numbers[-1] <= most:
            raise argparse.ArgumentTypeError(f"{text!r}: allowed are {least} to {most} {unit}")
        if len(numbers) > _MOST_TRIED:
            raise argparse.ArgumentTypeError(f"{text!r}: at most {_MOST_TRIED} of them")
        return tuple(numbers)

    return parse


def _text(values: dict[str, Any], found: CoresFound) -> str:
    from drivelab.exhibits.quantities import latency_text
    from drivelab.firmware.core_exhibits import answer, cores_table
    from drivelab.report.terminal import table_lines

    written = [values[name] for name in _WRITTEN if values[name]]
    lines = [
        answer(found),
        "",
        *table_lines(cores_table(found), left=0),
        "",
        f"{values['workload']}; {values['requests']:,} requests a run",
        f"firmware's time: {values['time']}; with free firmware a request takes "
        f"{latency_text(found.free.mean_latency_ns)} on average",
        *([""] if written else []),
        *(f"wrote {name}" for name in written),
    ]
    return "\n".join(lines)
