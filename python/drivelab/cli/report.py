"""Write a run's report again, from the measurements that it holds.

The models are fitted again too, so it works on a campaign that was stopped half-way.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from drivelab.cli.arguments import add_json
from drivelab.cli.models import accuracy_rows, accuracy_text, fit_and_report

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab report`."""
    parser.add_argument("run", metavar="RUN", type=Path, help="a folder made by `drivelab model`")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Fit, write and say where."""
    from drivelab.store import RunStore

    with RunStore.open(args.run) as store:
        fitted = fit_and_report(store)
    if args.json:
        answer = {
            "run": str(args.run),
            "report": str(fitted.report_path),
            "model": str(fitted.model_path),
            "measurements": str(fitted.measurements_path),
            "drive": fitted.drive_name,
            "kind": fitted.drive_kind,
            "accuracy": accuracy_rows(fitted.model),
        }
        print(json.dumps(answer, indent=2))
    else:
        print(f"{accuracy_text(fitted.model)}\n\nreport   {fitted.report_path}")
    return 0
