"""What `drivelab runs` writes and deletes: exported tables, and whole runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from drivelab.cli.outputs import write_output
from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


def export(args: argparse.Namespace) -> dict[str, Any]:
    """Write the tables; give what ``runs export --json`` prints (docs/json.md)."""
    from drivelab.measure.export import measurements_csv, measurements_parquet
    from drivelab.measure.header import stored_header
    from drivelab.measure.stored import stored_measurements
    from drivelab.store import RunStore
    from drivelab.workloads.parts import Parts

    targets = [path for path in (args.csv, args.parquet) if path is not None]
    if not targets:
        raise UsageError("nothing to write: give --csv FILE, --parquet FILE or both")
    if len(targets) == 2 and targets[0].resolve() == targets[1].resolve():
        raise UsageError(f"--csv and --parquet both name {targets[0]}; name two files")
    for path in targets:
        _refuse_existing(path, force=args.force)
    with RunStore.open(args.run) as store:
        header, measurements = stored_header(store), stored_measurements(store)
    if args.csv is not None:
        parts = Parts.from_json(header["design"]["parts"])
        write_output(args.csv, measurements_csv(measurements, header["drive"], parts))
    if args.parquet is not None:
        write_output(args.parquet, measurements_parquet(measurements, header))
    return {
        "run": str(args.run),
        "rows": len(measurements),
        "files": [str(path) for path in targets],
    }


def remove(args: argparse.Namespace) -> dict[str, Any]:
    """Delete the run; give what ``runs remove --json`` prints (docs/json.md)."""
    from drivelab.measure.export import EXPORT
    from drivelab.pts.states import state_files
    from drivelab.report.build import MODEL
    from drivelab.report.saved import report_files
    from drivelab.store import refuse_no_run, remove_run

    refuse_no_run(args.run)
    if not args.yes:
        _ask(args.run)
    made = {EXPORT, MODEL, *report_files(args.run), *state_files(args.run)}
    files = remove_run(args.run, made)
    return {"run": str(args.run), "files": files}


def _refuse_existing(path: Path, *, force: bool) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file")
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no regular file; name another")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; --force replaces it, or name another file")


def _ask(path: Path) -> None:
    from drivelab.measure.inventory import summarise
    from drivelab.units import format_size

    if not sys.stdin.isatty():
        raise UsageError(f"removing {path} needs --yes where there is no terminal to ask")
    summary = summarise(path)
    what = f"a {summary.state} run"
    if summary.problem is None:
        what = f"{summary.measured} measurements of {summary.drive}, {summary.design}"
    question = f"remove {path} ({what}, {format_size(summary.size_bytes)})? [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RunError(f"nothing was removed: {path} stays")
