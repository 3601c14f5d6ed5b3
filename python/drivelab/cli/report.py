"""Write a run's report again, or compare several runs on one page.

The models of one run are fitted again too, so it works on a campaign that was stopped
half-way. A comparison reads the runs and changes nothing in them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json
from drivelab.cli.models import accuracy_text
from drivelab.cli.outputs import add_force
from drivelab.cli.terminal import show
from drivelab.errors import UsageError
from drivelab.plain_text import escaped
from drivelab.told import tell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from drivelab.pages.digest import Digest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab report`."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        type=Path,
        nargs="+",
        help="a folder made by `drivelab model`; several are compared",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where to write [one run: its folder; several: runs/compare- and their names]",
    )
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the report or the comparison, and say where."""
    answer, text = _one(args) if len(args.runs) == 1 else _several(args)
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(text)
    return 0


def _one(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from drivelab.campaign.header import stored_header
    from drivelab.models.of_run import accuracy_rows
    from drivelab.outputs import OutputFolder
    from drivelab.pages.fitted import fit_and_report
    from drivelab.report.saved import refuse_folder
    from drivelab.runs.header import run_of
    from drivelab.store import RunStore

    path: Path = args.runs[0]
    with RunStore.open(path) as store:
        of = run_of(stored_header(store))
        folder = OutputFolder.of_run(path, of, out=args.out, force=args.force)
        refuse_folder(folder)
        fitted = fit_and_report(store, folder)
    answer = {
        "run": str(path),
        "report": str(fitted.report_path),
        "model": str(fitted.model_path),
        "measurements": str(fitted.measurements_path),
        "drive": fitted.drive_name,
        "kind": fitted.drive_kind,
        "accuracy": accuracy_rows(fitted.model),
    }
    return answer, f"{accuracy_text(fitted.model)}\n\nreport   {escaped(str(fitted.report_path))}"


def _several(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from drivelab.campaign.header import stored_header
    from drivelab.outputs import OutputFolder
    from drivelab.pages.digest import refuse_uncomparable
    from drivelab.pages.several_runs import build_comparison, default_folder
    from drivelab.report.saved import refuse_folder
    from drivelab.store import RunStore

    refuse_uncomparable(args.runs)
    for each in args.runs:
        with RunStore.open(each) as store:
            stored_header(store)
    path = args.out or default_folder(args.runs)
    of = f"the comparison of {', '.join(str(each.resolve()) for each in args.runs)}"
    out = OutputFolder(path, of, force=args.force)
    # Told before runs are read, and models perhaps fitted.
    refuse_folder(out)
    digests = [_digest(path) for path in args.runs]
    page = build_comparison(digests, out)
    answer = {
        "report": str(page),
        "runs": [
            {"run": one.run, "drive": one.label, "kind": one.kind, "workloads": one.workloads}
            for one in digests
        ],
    }
    return answer, _text(digests, page)


def _digest(path: Path) -> Digest:
    """Read what a comparison needs of a run; models that are not there or too old are fitted."""
    from drivelab.models.of_run import fit
    from drivelab.pages.digest import digest
    from drivelab.pages.run import read_run
    from drivelab.store import RunStore

    with RunStore.open(path) as store:
        try:
            return digest(read_run(path), path)
        except UsageError as error:
            tell(f"{error}; fitting the models of {path} for this comparison")
        model, measurements = fit(store)
    return digest(read_run(path, measurements, model=model), path)


def _text(digests: Sequence[Digest], page: Path) -> str:
    labels = [escaped(one.label) for one in digests]
    width = max(map(len, labels))
    lines = [
        f"{label:<{width}}  {one.workloads:,} workloads  {escaped(str(one.run))}"
        for label, one in zip(labels, digests, strict=True)
    ]
    return "\n".join([*lines, "", f"report   {escaped(str(page))}"])
