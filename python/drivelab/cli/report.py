"""Write a run's report again, or compare several runs on one page.

The run is one of `drivelab model`, `drivelab profile` or `drivelab pts`. The models are fitted
again too, so it also works for a campaign that was stopped. A comparison takes runs of
`drivelab model` and changes nothing in them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json
from drivelab.cli.models import accuracy_text
from drivelab.cli.outputs import add_force
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import UsageError
from drivelab.notes import print_note
from drivelab.plain_text import escaped

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drivelab.outputs import OutputFolder
    from drivelab.pages.digest import Digest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab report`."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        type=Path,
        nargs="+",
        help="the folder of a run; several folders of `drivelab model` are compared",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="output folder [one run: its own; several: runs/compare- and their names]",
    )
    parser.add_argument(
        "--pdf", action="store_true", help="also print the report as report.pdf, with Chromium"
    )
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the report or the comparison, and print where."""
    from drivelab.report.pdf import find_chromium

    # Reported before anything is read or drawn.
    chromium = find_chromium() if args.pdf else None
    answer, text = (_one if len(args.runs) == 1 else _several)(args, chromium)
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(text)
    return 0


def _one(args: argparse.Namespace, chromium: str | None) -> tuple[dict[str, Any], str]:
    from drivelab.runs.header import command_of
    from drivelab.store import RunStore

    with RunStore.open(args.runs[0]) as store:
        write = _OF.get(command_of(store.header), _campaign)
    return write(args, chromium)


def _campaign(args: argparse.Namespace, chromium: str | None) -> tuple[dict[str, Any], str]:
    from drivelab.campaign.header import stored_header
    from drivelab.models.limits import limits_of
    from drivelab.models.of_run import accuracy_rows, weights_of
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
        fitted = fit_and_report(store, folder, chromium=chromium)
    answer = {
        "run": str(path),
        "report": str(fitted.report_path),
        "pdf": _pdf(fitted.report_path, chromium),
        "model": str(fitted.model_path),
        "measurements": str(fitted.measurements_path),
        "drive": fitted.drive_name,
        "kind": fitted.drive_kind,
        "accuracy": accuracy_rows(fitted.model),
        "weights": weights_of(fitted.model),
        "limits": limits_of(fitted.model).to_json(),
    }
    return answer, f"{accuracy_text(fitted.model)}\n\n{_written(answer)}"


def _profile(args: argparse.Namespace, chromium: str | None) -> tuple[dict[str, Any], str]:
    from drivelab.cli.outputs import output_errors
    from drivelab.cli.profile_files import check_files, write_page
    from drivelab.outputs import OutputFolder
    from drivelab.profile.stored import StoredProfile
    from drivelab.report.pdf import printed
    from drivelab.report.saved import PAGE, PDF, PDF_KIND
    from drivelab.runs.header import run_of
    from drivelab.store import RunStore

    path: Path = args.runs[0]
    with RunStore.open(path) as store:
        header = store.header
        folder = OutputFolder.of_run(path, run_of(header), out=args.out, force=args.force)
        check_files(folder)
        folder.check_can_be_made()
        stored = StoredProfile.of(store)
    write_page(stored, header, folder)
    page = folder.path / PAGE
    if chromium is not None:
        with output_errors(folder.path / PDF):
            folder.write(PDF, PDF_KIND, printed(page, chromium))
    drive = header["drive"]
    answer = {
        "run": str(path),
        "report": str(page),
        "pdf": _pdf(page, chromium),
        "drive": drive["name"],
        "kind": drive["kind"],
        "passes": len(stored.found.measured),
    }
    return answer, _written(answer)


def _test(args: argparse.Namespace, chromium: str | None) -> tuple[dict[str, Any], str]:
    from drivelab.cli.pts_report import folder_of_run, reports_text, write_report
    from drivelab.report.saved import refuse_folder

    folder = folder_of_run(args.runs[0], args.out, force=args.force)
    refuse_folder(folder)
    answer = write_report(args.runs[0], folder, chromium)
    return answer, reports_text(in_lines([answer]))


# By the command that made the run.
_OF: Final = {"profile": _profile, "pts": _test}


def _pdf(page: Path, chromium: str | None) -> str | None:
    from drivelab.report.saved import PDF

    return None if chromium is None else str(page.parent / PDF)


def _written(answer: Mapping[str, Any]) -> str:
    names = [name for name in ("report", "pdf") if answer[name] is not None]
    return "\n".join(f"{name:<8} {escaped(answer[name])}" for name in names)


def _several(args: argparse.Namespace, chromium: str | None) -> tuple[dict[str, Any], str]:
    from drivelab.campaign.header import stored_header
    from drivelab.pages.digest import refuse_uncomparable
    from drivelab.pages.several_runs import default_folder
    from drivelab.store import RunStore

    refuse_uncomparable(args.runs)
    for each in args.runs:
        with RunStore.open(each) as store:
            stored_header(store)
    out = comparison_folder(args.runs, args.out or default_folder(args.runs), force=args.force)
    return compared(args.runs, out, chromium)


def comparison_folder(runs: Sequence[Path], path: Path, *, force: bool = False) -> OutputFolder:
    """Return the folder for a comparison, before runs are read and models fitted.

    Raises
    ------
    UsageError
        If it contains something else.
    """
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder

    of = f"the comparison of {', '.join(str(each.resolve()) for each in runs)}"
    out = OutputFolder(path, of, force=force)
    refuse_folder(out)
    return out


def compared(
    runs: Sequence[Path], out: OutputFolder, chromium: str | None = None
) -> tuple[dict[str, Any], str]:
    """Compare runs on one page; return the answer, and its text."""
    from drivelab.pages.several_runs import build_comparison

    digests = [_digest(path) for path in runs]
    page = build_comparison(digests, out, chromium=chromium)
    answer = {
        "report": str(page),
        "pdf": _pdf(page, chromium),
        "runs": [
            {"run": one.run, "drive": one.label, "kind": one.kind, "workloads": one.workloads}
            for one in digests
        ],
    }
    return answer, f"{_text(digests)}\n\n{_written(answer)}"


def _digest(path: Path) -> Digest:
    """Read what a comparison needs from a run; fit models that are missing or too old."""
    from drivelab.models.of_run import fit
    from drivelab.pages.digest import digest
    from drivelab.pages.run import read_run
    from drivelab.store import RunStore

    with RunStore.open(path) as store:
        try:
            return digest(read_run(path), path)
        except UsageError as error:
            print_note(f"{error}; fitting the models of {path} for this comparison")
        model, measurements = fit(store)
    return digest(read_run(path, measurements, model=model), path)


def _text(digests: Sequence[Digest]) -> str:
    labels = [escaped(one.label) for one in digests]
    width = max(map(len, labels))
    return "\n".join(
        f"{label:<{width}}  {one.workloads:,} workloads  {escaped(str(one.run))}"
        for label, one in zip(labels, digests, strict=True)
    )
