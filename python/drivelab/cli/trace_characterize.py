"""`drivelab trace characterize`: everything about a trace, as a whole and by window."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json
from drivelab.cli.outputs import add_force, answer_to, output_errors
from drivelab.cli.terminal import show
from drivelab.cli.trace_reading import ReadingProgress, add_source, add_window, recorded_files
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from drivelab.outputs import OutputFolder
    from drivelab.traces.characterization import Characterization

_CSV: Final = "windows.csv"
_PARQUET: Final = "windows.parquet"
#: Files of a trace's report, in addition to those of every report.
_WINDOWS: Final = {_CSV: "windows", _PARQUET: "windows"}
#: The files that ``--json`` names.
_WRITTEN: Final = ("report", "pdf", "tables", "result", "windows_csv", "windows_parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab trace characterize`."""
    add_source(parser)
    add_window(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="output folder for report.html, windows.csv, windows.parquet, result.json and the "
        "CSV of every figure",
    )
    parser.add_argument(
        "--pdf", action="store_true", help="also print the report as PDF, with Chromium"
    )
    add_force(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Read the trace, write what was asked for, and print what it asks of a drive."""
    from drivelab.cli.trace_summary import characterization_text
    from drivelab.traces.characterization import characterize
    from drivelab.traces.values import characterization_values

    if args.window * 1e9 < 1:
        raise UsageError("--window is too short; allowed: 1ns or more, for example 60s")
    source = recorded_files(args, args.files)
    folder, chromium = _folder(args), _chromium(args)
    with ReadingProgress() as progress:
        trace = characterize(source, window_ns=round(args.window * 1e9), progress=progress)
    values = characterization_values(trace)
    files: dict[str, str] = {}
    if folder is not None:
        files = _written(trace, values, folder, chromium)
    if args.json:
        written = {name: files.get(name) for name in _WRITTEN}
        answer = characterization_values(trace, windows=True) | {"written": written}
        print(json.dumps(answer, indent=2))
    else:
        show(characterization_text(trace, files))
    return 0


def _chromium(args: argparse.Namespace) -> str | None:
    from drivelab.report.pdf import find_chromium

    if not args.pdf:
        return None
    if args.out is None:
        raise UsageError("--pdf prints the report: give --out FOLDER too")
    return find_chromium()


def _folder(args: argparse.Namespace) -> OutputFolder | None:
    """Return the folder of the report; refuse it before the trace is read if it cannot be one."""
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder

    if args.out is None:
        return None
    of = answer_to(args, "report", args.out).of
    folder = OutputFolder(args.out, of, force=args.force)
    refuse_folder(folder, beside=_WINDOWS, inputs=args.files)
    return folder


def _written(
    trace: Characterization, values: dict[str, Any], folder: OutputFolder, chromium: str | None
) -> dict[str, str]:
    from drivelab.report.written import write_report
    from drivelab.traces.exhibits import trace_report
    from drivelab.traces.saved import windows_csv, windows_parquet

    paths = write_report(trace_report(trace, values), folder, chromium=chromium)
    for name, content in ((_CSV, windows_csv(trace)), (_PARQUET, windows_parquet(trace))):
        with output_errors(folder.path / name):
            paths[name] = folder.write(name, _WINDOWS[name], content)
    return {name.replace(".", "_"): str(path) for name, path in paths.items()}
