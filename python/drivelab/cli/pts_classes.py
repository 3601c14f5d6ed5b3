"""List the classes of workloads, or print one so that it can be copied and edited."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json
from drivelab.cli.terminal import show, show_file

if TYPE_CHECKING:
    from drivelab.pts.workload_class import WorkloadClass


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab pts classes`."""
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME|FILE.toml",
        help="print this one as TOML, once it is checked [list all]",
    )
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """List or print.

    Raises
    ------
    UsageError
        When there is no such class, or a file is none.
    """
    from drivelab.pts.class_file import class_names, class_text, load_class

    classes = [load_class(name) for name in ([args.name] if args.name else class_names())]
    if args.json:
        print(json.dumps({"classes": [_described(each) for each in classes]}, indent=2))
    elif args.name:
        # As it is, comments too.
        show_file(class_text(args.name))
    else:
        widest = max(len(each.name) for each in classes)
        lines = [f"{each.name:<{widest}}  {each.summary}" for each in classes]
        lines += ["", "drivelab pts classes NAME > mine.toml   to edit one"]
        lines += ["drivelab pts run class DRIVE --class mine.toml"]
        show("\n".join(lines))
    return 0


def _described(of: WorkloadClass) -> dict[str, Any]:
    weights = [
        {"block_bytes": size, "read_ratio": read_ratio, "weight": weight}
        for size, read_ratio, weight in of.weights
    ]
    return {**of.to_json(), "weights": weights}
