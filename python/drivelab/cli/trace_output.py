"""A trace that a command writes: its file, its format, and what is left out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.outputs import add_force, answer_to, output_errors
from drivelab.cli.terminal import in_lines, show
from drivelab.cli.trace_reading import ReadingProgress
from drivelab.errors import UsageError
from drivelab.outputs import check_outputs, whole_output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab._core import TraceReader
    from drivelab.outputs import Output
    from drivelab.traces.rewritten import Cut, Rewritten
    from drivelab.workloads.recorded import RecordedFiles

#: Formats that can be written; the core's list, copied so that `--help` answers immediately.
FORMATS: Final = ("spc", "fio-iolog", "mqsim", "parquet")
_KIND: Final = "trace"
_COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd"}
#: The ending of a Parquet file's name.
PARQUET: Final = ".parquet"


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the output file, and what may be left out."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        required=True,
        help="output file; compressed if its name ends in .gz or .zst",
    )
    parser.add_argument(
        "--drop",
        action="store_true",
        help="leave out requests that the format cannot represent, and count them",
    )
    add_force(parser)


def refuse_dash(path: Path, example: str) -> None:
    """Raise `UsageError` for ``-``, which elsewhere means standard output."""
    if path == Path("-"):
        raise UsageError(
            f"-o - would be standard output, and a file is written here: name one, as -o {example}"
        )


def _checked_output(args: argparse.Namespace, format_name: str) -> Output:
    """Return the output; refuse it before the trace is read if it cannot be written.

    Raises
    ------
    UsageError
        If it is also an input, exists, has no folder, or is ``-``.
    """
    path: Path = args.output
    refuse_dash(path, "web.spc.gz")
    if path.suffix in _COMPRESSIONS and format_name == "parquet":
        raise UsageError(f"{path}: parquet is compressed inside; let the name end in {PARQUET}")
    if path.suffix == PARQUET and format_name != "parquet":
        raise UsageError(
            f"{path} would have the format {format_name}; give it another name, or write parquet"
        )
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to write {path.name} into")
    output = answer_to(args, _KIND, path)
    check_outputs([output], force=args.force, inputs=args.files)
    return output


def write_trace(
    args: argparse.Namespace,
    source: RecordedFiles,
    format_name: str,
    *,
    cut: Cut | None = None,
    reader: TraceReader | None = None,
) -> None:
    """Write the trace whole or not at all, and print what was written."""
    from drivelab.traces.rewritten import rewrite

    output = _checked_output(args, format_name)
    with (
        ReadingProgress() as progress,
        output_errors(output.path),
        whole_output(output, force=args.force) as file,
    ):
        done = rewrite(
            source,
            Path(file.name if isinstance(file.name, str) else f"/proc/self/fd/{file.fileno()}"),
            format_name=format_name,
            compression=_COMPRESSIONS.get(output.path.suffix, "none"),
            may_drop=args.drop,
            cut=cut,
            progress=progress,
            reader=reader,
        )
    values = _output_values(done, output.path, format_name)
    print(json.dumps(values, indent=2)) if args.json else show(_output_text(in_lines(values)))


def _output_values(done: Rewritten, path: Path, format_name: str) -> dict[str, Any]:
    """Return what ``--json`` prints (docs/json-trace.md)."""
    return {
        "files": list(done.checks["files"]),
        "format": done.checks["format"],
        "output": str(path),
        "output_format": format_name,
        "requests_read": done.read,
        "requests_written": done.written["requests"],
        "begin_ns": done.begin_ns,
        "span_ns": done.span_ns,
        "skipped": done.checks["skipped"],
        **{name: done.written[name] for name in _COUNTS},
        "left_out": dict(done.written["left_out"]),
    }


_COUNTS: Final = (
    *("times_rounded", "responses_dropped", "queue_events_dropped", "processes_dropped"),
    "devices_numbered",
)
_LOSSES: Final = {
    "times_rounded": ("time", "rounded to whole microseconds"),
    "responses_dropped": ("response time", "dropped"),
    "queue_events_dropped": ("queue and device time", "dropped"),
    "processes_dropped": ("process number", "dropped"),
    "devices_numbered": ("device", "given a number, because the format has no names"),
}


def _output_text(values: dict[str, Any]) -> str:
    """Return what was written, and what was lost."""
    from drivelab.exhibits.quantities import count_text
    from drivelab.traces.words import in_span

    requests = count_text(values["requests_written"], "request")
    lines = [
        f"wrote {values['output']} ({values['output_format']}): {requests}"
        f"{in_span(values['span_ns'])}"
    ]
    if values["begin_ns"]:
        begin = _seconds(values["begin_ns"])
        lines.append(f"  times count from the first request, at {begin} s of the trace")
    lines += [f"  {line}" for line in _lost(values)]
    return "\n".join(lines)


def _seconds(time_ns: int) -> str:
    """Return a time in seconds with all its digits, as it is needed to align other files."""
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return f"{seconds}.{rest:09}".rstrip("0").rstrip(".")


def _lost(values: dict[str, Any]) -> Iterator[str]:
    from drivelab.exhibits.quantities import count_text

    for name, count in values["left_out"].items():
        if count:
            what = f"{count_text(count, name)} that {values['output_format']} cannot represent"
            yield f"left out: {what}"
    for name, (noun, what) in _LOSSES.items():
        if values[name]:
            yield f"{count_text(values[name], noun)} {what}"
    if values["skipped"]:
        yield f"{count_text(values['skipped'], 'bad line')} skipped"
