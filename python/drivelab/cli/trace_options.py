"""Options of the commands that replay a recorded trace, and the workload that they make."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import whole_number
from drivelab.cli.trace_reading import ReadingProgress, add_reading, recorded_files
from drivelab.drives.write_pattern import BURST
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from drivelab.workloads.recorded import RecordedFiles
    from drivelab.workloads.trace import Trace

#: Options that need a trace, and their values if they are not given.
_OF_A_TRACE: Final[dict[str, Any]] = {
    **dict.fromkeys(("speed", "depth", "fit", "format", "time_unit", "address_unit")),
    "device": [],
    "on_bad": "refuse",
    "device_size": None,
    "sort_window": 4096,
    "column": [],
}
#: Send requests as fast as the drive answers.
_MOST: Final = "max"


def add_trace(
    parser: argparse.ArgumentParser, what: str = "replay the requests of these files"
) -> argparse._ArgumentGroup:
    """Add ``--trace`` with this help, and how it is sent; return the group."""
    from drivelab._core import MAX_QUEUE_DEPTH, TRACE_FITS, USUAL_TRACE_DEPTH

    group = parser.add_argument_group(
        "a recorded trace", "instead of characteristics (docs/replay.md)"
    )
    group.add_argument(
        "--trace",
        nargs="+",
        type=Path,
        metavar="FILE",
        help=f"{what}; several files are merged by their times",
    )
    group.add_argument(
        "--speed",
        type=_speed,
        metavar="FACTOR",
        help="2x sends twice as fast as recorded, max as fast as the drive answers [1x]",
    )
    group.add_argument(
        "--depth",
        type=whole_number(1, MAX_QUEUE_DEPTH),
        metavar="N",
        help="maximum number of outstanding requests; a request beyond it is sent late "
        f"[{USUAL_TRACE_DEPTH}, on a real drive 64; with --speed max as many as were recorded]",
    )
    group.add_argument(
        "--fit",
        choices=TRACE_FITS,
        help="where requests go on the drive: as recorded (keep), modulo the drive's size "
        "(wrap), or with the touched regions of 1 MiB moved together (scale) [keep]",
    )
    add_reading(group)
    return group


def trace_of(args: argparse.Namespace) -> Trace | None:
    """Read the trace once, and return it as a workload; `None` without ``--trace``.

    Raises
    ------
    UsageError
        If an option has no effect, or the trace cannot be replayed like this.
    RunError
        If a file cannot be read to its end.
    """
    from drivelab.workloads.characteristics import FIELDS
    from drivelab.workloads.recorded import refuse_pipes
    from drivelab.workloads.trace import Trace

    if args.trace is None:
        for name, usual in _OF_A_TRACE.items():
            if getattr(args, name) != usual:
                option = _option(name)
                raise UsageError(f"{option} is for a trace: name its files with --trace FILE")
        return None
    for name in (*FIELDS, "scenario"):
        if getattr(args, name, None) is not None:
            raise UsageError(
                f"a trace already sets what is sent: leave out {_option(name)} or the trace"
            )
    refuse_pipes(args.trace, "this command")
    files = recorded_files(args, args.trace)
    if args.speed == (None,) and args.depth is None:
        _refuse_unknown_depth(files)
    with ReadingProgress() as progress:
        return Trace.of_files(
            files,
            speed=1.0 if args.speed is None else args.speed[0],
            depth=args.depth,
            fit=args.fit or "keep",
            progress=progress,
        )


def _refuse_unknown_depth(files: RecordedFiles) -> None:
    """Refuse to take the depth from files of a format that does not tell it, before reading them.

    Files of other formats may still lack response times; reading them to their end shows that.
    """
    from drivelab._core import trace_formats

    name = files.open().format
    if name in {each["name"] for each in trace_formats() if not each["response"]}:
        raise UsageError(
            f"--speed {_MOST} needs a depth: {files.name} is of the format {name}, which has no "
            "response times, so the recorded depth is not known; give --depth N, for example "
            "--depth 32"
        )


def measured_trace_of(args: argparse.Namespace) -> Trace | None:
    """Return `trace_of` for commands that measure with a plan; refuse options without effect.

    Raises
    ------
    UsageError, RunError
        As in `trace_of`, and for warm-ups and for earlier writes.
    """
    if args.trace is not None:
        for name in ("warmup_requests", "warmup_seconds"):
            if getattr(args, name) is not None:
                option = "--warmup" if name == "warmup_seconds" else "--warmup-requests"
                raise UsageError(
                    f"{option} has no effect on a trace, which is counted from its first request on"
                )
        if args.writes not in (None, BURST):
            raise UsageError(
                f"--writes {args.writes} has no effect on a trace: its writes find the drive as "
                "found"
            )
    return trace_of(args)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _speed(text: str) -> tuple[float | None]:
    """Read ``2x``, ``0.5`` or ``max``, in a tuple: None alone would mean that it was not given."""
    from drivelab.workloads.trace import SPEEDS

    if text == _MOST:
        return (None,)
    match = re.fullmatch(r"([0-9]{1,10}(?:\.[0-9]{1,10})?|\.[0-9]{1,10})x?", text)
    factor = float(match[1]) if match else 0.0
    least, most = SPEEDS
    if not least <= factor <= most:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not allowed; it takes a factor such as 2x or 0.5x, or {_MOST}"
        )
    return (factor,)
