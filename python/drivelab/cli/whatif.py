"""Write the what-if page: a simulated SSD to change, in a browser and without a network.

The page contains the simulator. Choose a preset, move its channels, chips, page times and
over-provisioning, and the curves over queue depth follow. Its numbers are those that `drivelab
measure` gives for the preset that the page saves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import add_json
from drivelab.cli.outputs import add_force, check_files, write_file
from drivelab.cli.terminal import show
from drivelab.outputs import Output
from drivelab.report.saved import WHAT_IF, WHAT_IF_KIND, WHAT_IF_OF

if TYPE_CHECKING:
    import argparse

_ENDINGS: Final = (".html",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab whatif`."""
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(WHAT_IF),
        metavar="FILE.html",
        help="where to write the page [what-if.html]",
    )
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from drivelab.report.what_if_page import what_if_page

    output = Output(args.out, WHAT_IF_KIND, WHAT_IF_OF)
    check_files([(_ENDINGS, output)], force=args.force)
    page = what_if_page()
    write_file(output, page, force=args.force)
    if args.json:
        print(json.dumps({"page": str(args.out), "size_bytes": len(page)}, indent=2))
    else:
        show(f"wrote {args.out}: open it in a browser")
    return 0
