"""Run a paper's workloads and compare its published numbers with ours.

Every comparison has a tolerance and a reason for it. If one fails, the exit code is 1. --out saves
a page that compares all numbers (report.html), the tables as CSV, the figures as SVG, and all
measurements; if the command is stopped, the same command resumes.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json
from drivelab.cli.outputs import add_force, output_errors
from drivelab.cli.terminal import show
from drivelab.errors import DrivelabError, RunError, TerminatedError, UsageError
from drivelab.outputs import OutputFolder
from drivelab.report.saved import PAGE, PAGE_KIND, WHAT_IF

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from drivelab.exhibits import Cell, Table
    from drivelab.reproduce.claims import Reproduction


# Width of an ordinary terminal.
_COLUMNS: Final = 78
_HEAD: Final = 11


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab reproduce`."""
    from drivelab.reproduce.papers import PAPERS

    parser.add_argument("paper", metavar="PAPER", help=f"one of: {', '.join(PAPERS)}")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="output folder for the page, tables, figures and measurements [nothing is saved]",
    )
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Reproduce, print, write.

    Raises
    ------
    RunError
        If a claim fails; raised after everything was printed and written.
    """
    from drivelab.reproduce.claims import failure_text
    from drivelab.reproduce.papers import PAPERS, reproduce

    if args.out is not None and args.out.exists() and not args.out.is_dir():
        raise UsageError(f"{args.out} is not a folder; --out names one")
    if args.out is not None and args.paper in PAPERS:
        # Checked before work that may take an hour.
        with output_errors(args.out):
            args.out.mkdir(parents=True, exist_ok=True)
        _check_folder(args)
    with _forgotten(args):
        reproduction = reproduce(args.paper, args.out)
    files, failure = _write(reproduction, args)
    if args.json:
        print(json.dumps(_values(reproduction, files), indent=2))
    else:
        show(_text(reproduction, files))
    if failure is not None:
        raise failure
    failures = reproduction.failures
    if failures:
        raise RunError(
            f"{len(failures)} of {len(reproduction.statements)} claims fail, the first: "
            f"{failure_text(failures[0])}"
        )
    return 0


@contextmanager
def _forgotten(args: argparse.Namespace) -> Iterator[None]:
    """Say after Ctrl-C and signals that nothing is saved, if nothing is."""
    from drivelab.reproduce.papers import KEPT

    if args.out is not None:
        yield
        return
    kept = "; with --out DIR the same command resumes" if args.paper in KEPT else ""
    note = f"; nothing was saved{kept}"
    # Runs in a temporary folder would say that they are saved there.
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(f"stopped{note}") from interrupt
    except TerminatedError as terminated:
        number = terminated.number
        raise TerminatedError(number, f"{TerminatedError(number)}{note}") from terminated


_KINDS: Final = {".csv": "table", ".svg": "figure", ".html": PAGE_KIND}


def _folder_of(args: argparse.Namespace) -> OutputFolder:
    return OutputFolder(args.out, f"`drivelab reproduce {args.paper}`", force=args.force)


def _check_folder(args: argparse.Namespace) -> None:
    """Refuse a folder with tables or figures of something else, or that cannot be written."""
    if not os.access(args.out, os.W_OK | os.X_OK):
        raise UsageError(f"nothing can be written into {args.out}; name another --out")
    found = [
        entry
        for entry in sorted(args.out.iterdir())
        if entry.suffix in _KINDS and entry.name != WHAT_IF
    ]
    _folder_of(args).check({entry.name: _KINDS[entry.suffix] for entry in found})


def _write(
    reproduction: Reproduction, args: argparse.Namespace
) -> tuple[list[str], DrivelabError | None]:
    """Write the files; return those written, and what stopped the writing.

    The work may have taken an hour, so its result is printed before a failure ends the command.
    """
    if args.out is None:
        return [], None
    from drivelab.report.written import rendered_into
    from drivelab.reproduce.exhibits import reproduction_report

    folder = _folder_of(args)
    page = rendered_into(folder.path, reproduction_report(reproduction), force=folder.force)
    texts = {
        f"{table.name}.csv": table.csv()
        for table in (*reproduction.tables, *reproduction.statement_tables())
    }
    texts |= {table.name + ".csv": table.csv() for table in page.tables}
    texts |= {name: draw() for name, draw in reproduction.drawings.items()}
    texts[PAGE] = page.html
    files: list[str] = [str(args.out / WHAT_IF)] if page.has_what_if else []
    try:
        for name, text in texts.items():
            with output_errors(args.out / name):
                files.append(str(folder.write(name, _KINDS[Path(name).suffix], text)))
    except DrivelabError as error:
        return files, error
    return files, None


def _values(reproduction: Reproduction, files: list[str]) -> dict[str, Any]:
    return {
        "paper": reproduction.paper,
        "reference": reproduction.reference,
        "holds": not reproduction.failures,
        "tables": {table.name: table.records() for table in reproduction.tables},
        "claims": [claim.to_json() for claim in reproduction.claims],
        "orderings": [ordering.to_json() for ordering in reproduction.orderings],
        "quoted": list(reproduction.quoted),
        "files": files,
    }


def _text(reproduction: Reproduction, files: list[str]) -> str:
    from drivelab.reproduce.claims import failure_text

    lines = [reproduction.reference, ""]
    for table in reproduction.tables:
        lines += [f"{table.name.replace('_', ' ').capitalize()}", *_columns(table), ""]
    lines += [f"- {text}" for text in reproduction.quoted]
    held = len(reproduction.statements) - len(reproduction.failures)
    lines += ["", f"{held} of {len(reproduction.statements)} claims hold"]
    lines += [f"  fails: {failure_text(failure)}" for failure in reproduction.failures]
    lines += [f"wrote {name}" for name in files]
    return "\n".join(lines)


def _columns(table: Table) -> list[str]:
    """Lay a table out for a terminal, with rows as columns if that is narrower."""
    from drivelab.exhibits import Table
    from drivelab.report.terminal import aligned, table_lines

    heads = tuple(name.replace("_", " ") for name in table.columns)
    rows = tuple(
        tuple(_cell(cell, name) for cell, name in zip(row, table.columns, strict=True))
        for row in table.rows
    )
    # Long headings are wrapped, so that a table fits an ordinary terminal.
    upright = table_lines(Table(table.name, heads, rows), left=0, head_width=_HEAD)
    turned = aligned(list(zip(heads, *rows, strict=True)), left=0)
    width = max(map(len, upright))
    shown = upright if width <= max(_COLUMNS, *map(len, turned)) else turned
    return [f"  {line}" for line in shown]


def _cell(cell: Cell, column: str) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        if column.endswith("_ns"):
            return f"{cell:,.0f}"
        if column.endswith(("_r2", "coefficient")):
            return f"{cell:.3f}"
        # The paper prints its errors with one decimal; ours have one more.
        own_error = column.endswith("_percent") and not column.startswith("published")
        return f"{cell:,.2f}" if own_error else f"{cell:,.1f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
