"""Run a workload on a simulated drive and tell everything about the run.

Every request that is counted is told, by operation: rates, latencies up to 99.999 %, and
where they went. A percentile that the count does not support stays empty. The same drive,
workload and seed give the same numbers on any machine; only the cost of the run differs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import (
    add_characteristics,
    add_json,
    duration,
    seed,
    whole_number,
)
from drivelab.cli.drive_options import characteristics_json, characteristics_of
from drivelab.cli.terminal import show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse

_MOST_REQUESTS: Final = 10**10
_DEFAULT_REQUESTS: Final = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab simulate`."""
    parser.add_argument(
        "drive", metavar="DRIVE", help="a simulated drive: sim:PRESET or sim:FILE.toml"
    )
    add_characteristics(parser)
    parser.add_argument(
        "--requests",
        type=whole_number(1, _MOST_REQUESTS),
        metavar="N",
        help=f"requests counted [{_DEFAULT_REQUESTS}, unless --seconds is given]",
    )
    parser.add_argument(
        "--seconds",
        type=duration,
        metavar="TIME",
        help="simulated time in which requests are counted",
    )
    parser.add_argument(
        "--warmup-requests",
        type=whole_number(0, _MOST_REQUESTS),
        default=0,
        metavar="N",
        help="requests completed before counting starts [0]",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="key of all random numbers [0]"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate and print."""
    from drivelab.drives.registry import open_simulated
    from drivelab.report.quantities import workload_text

    workload = characteristics_of(args)
    workload.validate()
    if args.seconds == 0:
        raise UsageError("--seconds is 0; allowed: more than 0, for example 100ms")
    requests = args.requests
    if requests is None and args.seconds is None:
        requests = _DEFAULT_REQUESTS
    with open_simulated(args.drive) as drive:
        values = drive.simulate(
            workload,
            seed=args.seed,
            warmup_requests=args.warmup_requests,
            requests=requests,
            seconds=args.seconds,
        )
    (stream,) = values["streams"]
    stream |= {"description": workload_text(workload), "workload": characteristics_json(workload)}
    if args.json:
        print(json.dumps(values, indent=2))
    else:
        from drivelab.cli.simulate_text import text

        show(text(values))
    return 0
