"""Options of the commands that replay a recorded trace, and the workload that they say."""

from __future__ import annotations

import argparse
import re
import time
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import duration, size, whole_number
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from drivelab.workloads.trace import Trace

_OF_A_TRACE: Final = (
    *("speed", "depth", "fit", "device", "format", "on_bad", "address_unit", "time_unit"),
)
_SILENT_SECONDS: Final = 1.0
_SHOWN_EVERY_SECONDS: Final = 0.2
_LINE_EVERY_SECONDS: Final = 10.0
#: As fast as requests are answered.
_MOST: Final = "max"


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Add ``--trace`` and what says how it is replayed."""
    from drivelab._core import MAX_QUEUE_DEPTH, TRACE_FITS, USUAL_TRACE_DEPTH

    group = parser.add_argument_group(
        "a recorded trace", "instead of characteristics (docs/replay.md)"
    )
    group.add_argument(
        "--trace",
        nargs="+",
        metavar="FILE",
        help="replay the requests of these files, merged by their times",
    )
    group.add_argument(
        "--speed",
        type=_speed,
        metavar="FACTOR",
        help="2x sends twice as fast as recorded, max as fast as requests are answered [1x]",
    )
    group.add_argument(
        "--depth",
        type=whole_number(1, MAX_QUEUE_DEPTH),
        metavar="N",
        help="most requests outstanding; a request that is due meanwhile is sent late "
        f"[{USUAL_TRACE_DEPTH}; with --speed max as many as were recorded]",
    )
    group.add_argument(
        "--fit",
        choices=TRACE_FITS,
        help="where requests fall: as recorded (keep), modulo the drive's size (wrap), touched "
        "regions of 1 MiB in a row (scale) [keep]",
    )
    group.add_argument(
        "--device",
        action="append",
        metavar="NAME",
        help="only requests to this device; may be repeated [all, laid one after the other]",
    )
    group.add_argument(
        "--format", metavar="NAME", help="format of the files [told by their content]"
    )
    group.add_argument(
        "--on-bad",
        choices=("refuse", "skip"),
        help="whether a bad line ends the command, or is counted and left out [refuse]",
    )
    group.add_argument(
        "--address-unit", type=size, metavar="SIZE", help="bytes of an address [as the format says]"
    )
    group.add_argument(
        "--time-unit", type=duration, metavar="TIME", help="unit of times [as the format says]"
    )


def trace_of(args: argparse.Namespace) -> Trace | None:
    """Read the trace once, and return it as a workload; `None` without ``--trace``.

    Raises
    ------
    UsageError
        When an option has no effect, or the trace cannot be replayed so.
    RunError
        When a file cannot be read to its end.
    """
    from drivelab.workloads.characteristics import FIELDS
    from drivelab.workloads.recorded import RecordedFiles
    from drivelab.workloads.trace import Trace

    if args.trace is None:
        for name in _OF_A_TRACE:
            if getattr(args, name) is not None:
                option = _option(name)
                raise UsageError(f"{option} is for a trace: name its files with --trace FILE")
        return None
    for name in (*FIELDS, "scenario"):
        if getattr(args, name, None) is not None:
            raise UsageError(
                f"a trace says itself what is sent: leave out {_option(name)} or --trace"
            )
    files = RecordedFiles(
        tuple(args.trace),
        format=args.format,
        devices=None if args.device is None else tuple(args.device),
        skip_bad_lines=args.on_bad == "skip",
        sector_bytes=args.address_unit,
        time_unit_ns=None if args.time_unit is None else round(args.time_unit * 1e9),
    )
    progress = _Progress()
    try:
        return Trace.of_files(
            files,
            speed=1.0 if args.speed is None else args.speed[0],
            depth=args.depth,
            fit=args.fit or "keep",
            progress=progress,
        )
    finally:
        progress.close()


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _speed(text: str) -> tuple[float | None]:
    """Read ``2x``, ``0.5`` or ``max``: in a tuple, as nothing would count as not given."""
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


class _Progress:
    """How many requests of a trace were looked at, on standard error; short traces say nothing."""

    def __init__(self) -> None:
        from drivelab.runs.status_line import StatusLine

        self._line = StatusLine()
        self._started = time.monotonic()
        self._told = 0.0

    def __call__(self, requests: int) -> None:
        elapsed = time.monotonic() - self._started
        every = _SHOWN_EVERY_SECONDS if self._line.is_terminal else _LINE_EVERY_SECONDS
        if elapsed < _SILENT_SECONDS or elapsed - self._told < every:
            return
        self._told = elapsed
        self._line.show(f"looking at the trace: {requests:,} requests so far")

    def close(self) -> None:
        self._line.clear()
