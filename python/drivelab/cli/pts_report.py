"""Write the report of a performance test, also of one that has not finished."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json
from drivelab.cli.outputs import add_force
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drivelab.outputs import OutputFolder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab pts report`."""
    parser.add_argument(
        "run",
        metavar="RUN",
        type=Path,
        help="a folder made by `drivelab pts run`, or one of several",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="output folder [the run's own folder]"
    )
    parser.add_argument(
        "--power-log",
        type=Path,
        metavar="FILE.csv",
        help="CSV file with the columns time,watts of a real drive: adds IOPS/W for the stimuli "
        "that it covers, and is saved with the run",
    )
    parser.add_argument(
        "--pdf", action="store_true", help="also print the report as PDF, with Chromium"
    )
    add_force(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Write the report, or one for each run in the folder, and print where."""
    from drivelab.report.pdf import find_chromium
    from drivelab.report.saved import refuse_folder

    runs = runs_of(args.run)
    # Reported before anything is drawn.
    chromium = find_chromium() if args.pdf else None
    _refuse_folder(args.out, args.run)
    folders = {run: _folder_of(run, args) for run in runs}
    for folder in folders.values():
        refuse_folder(folder)
    if args.power_log is not None:
        _keep_power_log(args.power_log, runs)
    written = [write_report(run, folder, chromium) for run, folder in folders.items()]
    if args.json:
        print(json.dumps({"reports": written}, indent=2))
    else:
        show(reports_text(in_lines(written)))
    return 0


def runs_of(path: Path) -> list[Path]:
    """Return one run, or the runs that a folder of ``pts run all`` contains.

    Raises
    ------
    UsageError
        If there is none.
    """
    from drivelab.pts.journal import test_of
    from drivelab.store import is_run

    if is_run(path):
        return [path]
    children = sorted(path.iterdir()) if path.is_dir() else []
    found = [child for child in children if test_of(child) is not None]
    if not path.exists():
        raise UsageError(f"{path} does not exist; name the folder of a `drivelab pts run`")
    if not found:
        raise UsageError(f"{path} is not a run of `drivelab pts run` and contains none")
    return found


def _keep_power_log(path: Path, runs: Sequence[Path]) -> None:
    """Copy a power log into the runs that it covers, once it is known to belong to each."""
    from drivelab.pts.every_test import test_named
    from drivelab.pts.journal import read_record
    from drivelab.pts.power import (
        POWER_LOG,
        keep_power_log,
        read_power_log,
        refuse_useless,
        with_energy,
    )
    from drivelab.store import RunStore

    log = read_power_log(path)
    for run in runs:
        with RunStore.open(run) as store:
            record = with_energy(read_record(store), log)
        refuse_useless(test_named(record.test).sections(record))
    for run in runs:
        try:
            keep_power_log(run, path)
        except OSError as error:
            raise RunError(
                f"{run / POWER_LOG} cannot be written: {error.strerror or error}; free some space"
            ) from error


def _refuse_folder(out: Path | None, run: Path) -> None:
    from drivelab.store import is_run

    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; a report is a folder, choose another --out")
    if out.resolve() != run.resolve() and is_run(out):
        raise UsageError(f"{out} is another run, and has its own report; choose another --out")


def _folder_of(run: Path, args: argparse.Namespace) -> OutputFolder:
    out = args.out if args.out is None or run == args.run else args.out / run.name
    return folder_of_run(run, out, force=args.force)


def check_run_files(run: Path) -> None:
    """Refuse a run with a report or result that somebody changed, before hours of measuring."""
    from drivelab.outputs import OutputFolder
    from drivelab.pts.kind import TEST
    from drivelab.report.saved import refuse_folder
    from drivelab.runs.header import command_of, run_of
    from drivelab.store import RunStore, is_run

    if not is_run(run):
        return
    try:
        with RunStore.open(run) as store:
            header = store.header
    except (UsageError, RunError):
        # Opening the run reports what is wrong.
        return
    if command_of(header) == TEST.command:
        refuse_folder(OutputFolder.of_run(run, run_of(header)))


def folder_of_run(run: Path, out: Path | None = None, *, force: bool = False) -> OutputFolder:
    """Return the folder for a run's report: by default its own."""
    from drivelab.outputs import OutputFolder
    from drivelab.pts.journal import read_record
    from drivelab.runs.header import run_of
    from drivelab.store import RunStore

    with RunStore.open(run) as store:
        of = run_of(read_record(store).header)
    return OutputFolder.of_run(run, of, out=out, force=force)


def write_report(run: Path, folder: OutputFolder, chromium: str | None = None) -> dict[str, Any]:
    """Write the report of a run into a folder; return what ``pts report --json`` prints for it."""
    from drivelab.pts.report import build
    from drivelab.report import written

    report = build(run)
    kind = report.result["drive"]["kind"]
    paths = written.write_report(report, folder, chromium=chromium)
    return {
        "run": str(run),
        "test": report.result["test"],
        "drive": report.result["drive"]["name"],
        "kind": kind,
        "stamp": report.stamp,
        "report": str(paths["report"]),
        "tables": str(paths["tables"]),
        "result": str(paths["result"]),
        "pdf": str(paths["pdf"]) if "pdf" in paths else None,
    }


def reports_text(written: Sequence[Mapping[str, Any]]) -> str:
    """Return what was written, and where."""
    lines = []
    for one in written:
        stamp = f" - {one['stamp']}" if one["stamp"] else ""
        lines += [f"{one['test']} of {one['drive']} ({one['kind']}){stamp}"]
        lines += [
            f"  {name:<8} {one[name]}"
            for name in ("report", "tables", "result", "pdf")
            if one[name]
        ]
    return "\n".join(lines)
