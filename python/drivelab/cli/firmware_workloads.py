"""Workloads of firmware, as they are named on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import whole_number
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from drivelab.firmware.requests import RequestPlan
    from drivelab.workloads.workload import Workload

#: All fifteen of table 4.
FIFTEEN_TOGETHER: Final = "lee2021"
# One part in this many is run by default.
_PART: Final = 50
WORKLOAD_HELP: Final = (
    "lee2021 for all fifteen of Lee et al. 2021, table 4; a label of that table, for example RR; "
    "the name or file of a scenario; or the file of a recorded trace (docs/traces.md)"
)
_MOST_RECORDS: Final = 1_000_000
_LABEL_LETTERS: Final = 2
_SCENARIO: Final = ".toml"
_FIT: Final = "keep"


def add_length(parser: argparse.ArgumentParser) -> None:
    """Add ``--part`` and ``--records``, how much of each workload runs, and ``--fit``."""
    from drivelab._core import TRACE_FITS

    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--part",
        type=whole_number(1, 100_000),
        default=_PART,
        metavar="N",
        help=f"run only the first 1/N of each workload; 1 runs it completely [{_PART}]",
    )
    length.add_argument(
        "--records",
        type=whole_number(1, _MOST_RECORDS),
        metavar="N",
        help="run N records of each workload, whatever its length; percentiles need 500",
    )
    parser.add_argument(
        "--fit",
        choices=TRACE_FITS,
        help="where requests of a trace go on the drive: as recorded (keep), modulo the drive's "
        f"size (wrap), or with the touched regions of 1 MiB moved together (scale) [{_FIT}]",
    )


def request_plan(args: argparse.Namespace, capacity_bytes: int) -> RequestPlan:
    """Return which requests of each workload are run, from the options of `add_length`."""
    from drivelab.firmware.requests import RECORD_REQUESTS, RequestPlan

    if args.records is None:
        return RequestPlan(args.seed, args.part, capacity_bytes=capacity_bytes)
    requests = args.records * RECORD_REQUESTS
    return RequestPlan(args.seed, requests=requests, capacity_bytes=capacity_bytes)


def named_workloads(names: Sequence[str], fit: str | None = None) -> dict[str, Workload]:
    """Return workloads by their names, in this order.

    Parameters
    ----------
    names
        Names, as `WORKLOAD_HELP` describes them.
    fit
        Where requests of traces go on the drive, if that was given.

    Raises
    ------
    UsageError
        If one is unknown, named twice, or a file that cannot be read; or if `fit` is given and none
        is a trace.
    """
    from drivelab.firmware.lee2021 import FIFTEEN
    from drivelab.workloads.trace import Trace

    asked: list[str] = []
    for name in names:
        asked += [each.label for each in FIFTEEN] if name == FIFTEEN_TOGETHER else [name]
    twice = {name for name in asked if asked.count(name) > 1}
    if twice:
        raise UsageError(f"{min(twice)} is named twice; name each workload once")
    found = {name: _workload(name, fit or _FIT) for name in asked}
    if fit is not None and not any(isinstance(each, Trace) for each in found.values()):
        raise UsageError(
            f"--fit {fit} is for recorded traces, and none is named here; leave it out"
        )
    return found


def _workload(name: str, fit: str) -> Workload:
    from drivelab.drives.simulated.scenarios import read_scenario
    from drivelab.firmware.lee2021 import FIFTEEN, published_workload
    from drivelab.workloads.recorded import RecordedFiles
    from drivelab.workloads.trace import Trace

    if name in {each.label for each in FIFTEEN}:
        return published_workload(name).workload()
    if len(name) <= _LABEL_LETTERS and not Path(name).exists():
        # The error lists the known labels.
        published_workload(name)
    if Path(name).is_file() and not name.endswith(_SCENARIO):
        return Trace.of_files(RecordedFiles((name,)), fit=fit)
    return read_scenario(name)
