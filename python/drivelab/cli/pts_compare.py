"""Compare drives that have run the same performance test."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import add_json, ratio, size
from drivelab.cli.outputs import add_force
from drivelab.cli.pts_compare_text import text_of
from drivelab.cli.terminal import in_lines, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from drivelab.outputs import OutputFolder

_LONGEST_NAME: Final = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab pts compare`."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="2 to 20 folders made by `drivelab pts run`, their result.json, or sim:PRESET for "
        "a reference result that ships with Drivelab; the others are normalised to the first",
    )
    parser.add_argument(
        "--test", metavar="TEST", help="the test to compare, if the folders contain several"
    )
    parser.add_argument(
        "--block-size", type=size, metavar="SIZE", help="the block size that you care about [4KiB]"
    )
    parser.add_argument(
        "--read-ratio",
        type=ratio,
        metavar="RATIO",
        help="the share of reads that you care about, 0 to 1 [0]",
    )
    parser.add_argument(
        "--class",
        dest="merit",
        metavar="NAME|FILE.toml",
        help="the class of workloads that you care about; it comes first",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="output folder [runs/compare- and their names]"
    )
    parser.add_argument(
        "--pdf", action="store_true", help="also print the report as PDF, with Chromium"
    )
    add_force(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Write the comparison, and print where."""
    from drivelab.pts.compared import read_results
    from drivelab.pts.compared_report import compare
    from drivelab.report.pdf import find_chromium
    from drivelab.report.saved import refuse_folder
    from drivelab.report.written import write_report

    chromium = find_chromium() if args.pdf else None
    out = _folder_of(args)
    refuse_folder(out)
    drives = read_results(args.runs, args.test)
    report = compare(
        drives, block_bytes=args.block_size, read_ratio=args.read_ratio, merit=args.merit
    )
    paths = write_report(report, out, chromium=chromium)
    answer = {
        **report.result,
        "stamp": report.stamp,
        "report": str(paths["report"]),
        "tables": str(paths["tables"]),
        "result": str(paths["result"]),
        "pdf": str(paths["pdf"]) if "pdf" in paths else None,
    }
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(text_of(in_lines(answer)))
    return 0


def _folder_of(args: argparse.Namespace) -> OutputFolder:
    from drivelab.outputs import OutputFolder

    names = [each if each.startswith("sim:") else str(Path(each).resolve()) for each in args.runs]
    of = f"the comparison of {', '.join(names)}"
    return OutputFolder(args.out or _default_folder(args.runs), of, force=args.force)


def _default_folder(names: Sequence[str]) -> Path:
    """Return the folder's name, the same for the same runs in the same order."""
    words = (re.sub(r"[^A-Za-z0-9]+", "-", Path(name).name).strip("-") for name in names)
    return Path("runs") / f"compare-{'-'.join(word or 'run' for word in words)}"[:_LONGEST_NAME]
