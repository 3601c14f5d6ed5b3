"""What `drivelab runs` writes and deletes: exported tables, and whole runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from drivelab.cli.outputs import STANDARD, is_standard, write_file
from drivelab.errors import RunError, UsageError
from drivelab.plain_text import escaped

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


def export(args: argparse.Namespace) -> dict[str, Any]:
    """Write the tables; return what ``runs export --json`` prints (docs/json-runs.md)."""
    from drivelab.cli.run_kinds import kind_of_run
    from drivelab.outputs import Output, check_outputs
    from drivelab.runs.export import KIND, measurements_csv, measurements_parquet
    from drivelab.runs.header import run_of
    from drivelab.store import RunStore

    targets = [path for path in (args.csv, args.parquet) if path is not None]
    if not targets:
        raise UsageError("nothing to write: give --csv FILE, --parquet FILE or both")
    standard = [path for path in targets if is_standard(path)]
    if standard and (args.json or len(standard) > 1):
        other = "--json" if args.json else "a second table"
        raise UsageError(f"{STANDARD} is standard output, which {other} uses already; name a file")
    with RunStore.open(args.run) as store:
        header, kind = store.header, kind_of_run(store)
        outputs = [Output(path, KIND, run_of(header)) for path in targets]
        files = [output for output in outputs if not is_standard(output.path)]
        check_outputs(files, force=args.force)
        rows = kind.rows(store)
    for output in outputs:
        if output.path is args.csv:
            content: str | bytes = measurements_csv(rows, header["drive"])
        else:
            content = measurements_parquet(rows, kind, header)
        write_file(output, content, force=args.force)
    return {
        "run": str(args.run),
        "rows": len(rows.measurements),
        "files": [str(path) for path in targets],
    }


def remove(args: argparse.Namespace) -> dict[str, Any]:
    """Delete the run; return what ``runs remove --json`` prints (docs/json-runs.md)."""
    from drivelab.cli.profile_files import FILES
    from drivelab.models.of_run import MODEL
    from drivelab.outputs import is_changed
    from drivelab.pts.states import state_files
    from drivelab.report.saved import WHAT_IF, report_files
    from drivelab.report.what_if_page import is_what_if
    from drivelab.runs.export import EXPORT
    from drivelab.store import refuse_no_run, remove_run

    refuse_no_run(args.run)
    if not args.yes:
        _ask(args.run)
    named = {EXPORT, MODEL, *FILES, *report_files(args.run), *state_files(args.run)}
    made = {name for name in named if not is_changed(args.run / name)}
    made |= {WHAT_IF} if is_what_if(args.run / WHAT_IF) else set()
    files = remove_run(args.run, made)
    return {"run": str(args.run), "files": files}


def _ask(path: Path) -> None:
    from drivelab.cli.run_kinds import kind_of_run
    from drivelab.runs.inventory import summarise
    from drivelab.units import format_size

    if not sys.stdin.isatty():
        raise UsageError(f"removing {path} needs --yes, because there is no terminal to ask")
    summary = summarise(path, kind_of_run)
    what = f"a {summary.state} run"
    if summary.standing is not None:
        what = f"{summary.measured} measurements of {summary.drive}, {summary.standing.design}"
    question = f"remove {path} ({what}, {format_size(summary.size_bytes)})? [y/N] "
    print(escaped(question), end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RunError(f"nothing was removed from {path}")
