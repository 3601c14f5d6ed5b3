"""Options for reading traces, the same for every command that takes one."""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from drivelab.cli.arguments import argument_type, duration, size, whole_number
from drivelab.errors import UsageError
from drivelab.runs.status_line import StatusLine
from drivelab.units import parse_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.workloads.recorded import RecordedFiles

_MEANINGS: Final = (
    *("arrival", "offset", "size", "operation", "device", "response", "queue", "device_time"),
    "process",
)
_MOST_TIME_UNIT_NS: Final = 3_600_000_000_000
_SILENT_SECONDS: Final = 1.0
_DRAWN_EVERY_SECONDS: Final = 0.2
_LINE_EVERY_SECONDS: Final = 10.0


def _time_unit(text: str) -> int:
    """Read a unit of time such as ``1ms``, ``100ns`` or ``s``."""
    if re.fullmatch("ns|us|ms|s|m|h", text):
        text = f"1{text}"
    nanoseconds = parse_duration(text) * 1e9
    if not 1 <= round(nanoseconds) <= _MOST_TIME_UNIT_NS:
        raise UsageError(f"a unit of {text} is not allowed; write 1ns to 1h, for example ms")
    return round(nanoseconds)


def _column(text: str) -> tuple[str, str]:
    meaning, equals, name = text.partition("=")
    if not equals or not name or meaning not in _MEANINGS:
        raise UsageError(
            f"{text!r} maps no column; write MEANING=COLUMN, where MEANING is one of "
            f"{', '.join(_MEANINGS)}"
        )
    return meaning, name


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the files of a trace, and how they are read."""
    parser.add_argument(
        "files",
        metavar="FILE",
        type=Path,
        nargs="+",
        help="the trace, plain, gzip or zstd; several files are merged by their times",
    )
    add_reading(parser.add_argument_group("how the trace is read"))


def add_reading(group: argparse._ActionsContainer) -> None:
    """Add how the files are read."""
    group.add_argument(
        "--format",
        metavar="NAME",
        help="format of the trace (docs/traces.md lists them) [recognised from the content]",
    )
    group.add_argument(
        "--device",
        action="append",
        metavar="NAME",
        default=[],
        help="keep only requests to this device; may be repeated",
    )
    group.add_argument(
        "--on-bad",
        choices=("refuse", "skip"),
        default="refuse",
        help="stop at the first bad line, or count and skip bad lines [refuse]",
    )
    group.add_argument(
        "--time-unit",
        type=argument_type(_time_unit),
        metavar="UNIT",
        help="unit of its times, for example ms or 100ns [that of the format]",
    )
    group.add_argument(
        "--address-unit",
        type=size,
        metavar="SIZE",
        help="unit of its addresses, for example 512 or 4KiB [that of the format]",
    )
    group.add_argument(
        "--device-size",
        type=size,
        metavar="SIZE",
        help="size of the device; a request that ends beyond it is a bad line [not checked]",
    )
    group.add_argument(
        "--sort-window",
        type=whole_number(0, 1 << 20),
        metavar="N",
        default=4096,
        help="how many later requests may come before a request in the file [4096]",
    )
    group.add_argument(
        "--column",
        action="append",
        type=argument_type(_column),
        metavar="MEANING=COLUMN",
        default=[],
        help="for a Parquet file: the column that holds arrival, offset, size, operation, ...; "
        "may be repeated",
    )


def recorded_files(args: argparse.Namespace, paths: Sequence[Path]) -> RecordedFiles:
    """Return the files of the trace that was asked for.

    Raises
    ------
    UsageError
        If a file or a meaning of a column is named twice, or a file is a folder.
    """
    from drivelab.workloads.recorded import RecordedFiles, refuse_named

    refuse_named(paths)
    meanings = [meaning for meaning, _ in args.column]
    for meaning in meanings:
        if meanings.count(meaning) > 1:
            raise UsageError(f"--column names {meaning} twice; name one column for it")
    return RecordedFiles(
        tuple(map(str, paths)),
        format=args.format,
        devices=tuple(args.device) or None,
        device_bytes=args.device_size,
        time_unit_ns=args.time_unit,
        sector_bytes=args.address_unit,
        sort_window=args.sort_window,
        columns=tuple(args.column) or None,
        skip_bad_lines=args.on_bad == "skip",
    )


def add_window(parser: argparse.ArgumentParser) -> None:
    """Add ``--window``."""
    parser.add_argument(
        "--window", type=duration, metavar="TIME", default=60.0, help="length of a window [60s]"
    )


class ReadingProgress:
    """Shows on standard error how many requests were read, if reading takes a while."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._started = time.monotonic()
        self._shown_at = 0.0

    def __call__(self, requests: int) -> None:
        """Show the number, if it is time to."""
        elapsed = time.monotonic() - self._started
        every = _DRAWN_EVERY_SECONDS if self._line.is_terminal else _LINE_EVERY_SECONDS
        if elapsed >= _SILENT_SECONDS and elapsed - self._shown_at >= every:
            self._shown_at = elapsed
            self._line.show(f"{requests:,} requests read in {elapsed:.0f} s")

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the terminal's line."""
        self._line.clear()
