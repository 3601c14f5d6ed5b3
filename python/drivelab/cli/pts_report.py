"""Write the report of a performance test, as far as the test came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json
from drivelab.cli.terminal import show
from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab pts report`."""
    parser.add_argument(
        "run",
        metavar="RUN",
        type=Path,
        help="a folder made by `drivelab pts run`, or one of several",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to write [beside what was measured]"
    )
    parser.add_argument(
        "--power-log",
        type=Path,
        metavar="FILE.csv",
        help="time,watts of a real drive: IOPS/W of the stimuli that it covers; kept with the run",
    )
    parser.add_argument("--pdf", action="store_true", help="print it as PDF too, with Chromium")
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Write the report, or that of each run in the folder, and say where."""
    from drivelab.report.pdf import find_chromium

    runs = runs_of(args.run)
    # Told before anything is drawn.
    chromium = find_chromium() if args.pdf else None
    if args.out is not None:
        _refuse_folder(args.out, args.run)
        for run in runs:
            _refuse_foreign(_folder_of(run, args.run, args.out), run)
    if args.power_log is not None:
        _keep_power_log(args.power_log, runs)
    written = [_write(path, args.run, args.out, chromium) for path in runs]
    if args.json:
        print(json.dumps({"reports": written}, indent=2))
    else:
        show(_text(written))
    return 0


def runs_of(path: Path) -> list[Path]:
    """Give a run, or the runs that a folder holds, as ``pts run all`` leaves them.

    Raises
    ------
    UsageError
        When there is none.
    """
    from drivelab.pts.journal import test_of
    from drivelab.store import is_run

    if is_run(path):
        return [path]
    children = sorted(path.iterdir()) if path.is_dir() else []
    found = [child for child in children if test_of(child) is not None]
    if not found:
        raise UsageError(f"{path} is no run of `drivelab pts run`, and holds none")
    return found


def _keep_power_log(path: Path, runs: Sequence[Path]) -> None:
    """Copy a log into the runs that it is of, once it is known to belong to each."""
    from drivelab.drives.named_file import read_text_file
    from drivelab.pts.journal import read_record
    from drivelab.pts.power import POWER_LOG, read_power_log, refuse_useless, with_energy
    from drivelab.pts.registry import test_named
    from drivelab.store import RunStore
    from drivelab.whole_file import write_whole

    log = read_power_log(path)
    for run in runs:
        with RunStore.open(run) as store:
            record = with_energy(read_record(store), log)
        refuse_useless(test_named(record.test).sections(record))
    text = read_text_file(path, "a power log", path.stat().st_size, "name it again")
    for run in runs:
        try:
            write_whole(run / POWER_LOG, text)
        except OSError as error:
            raise RunError(
                f"{run / POWER_LOG} cannot be written: {error.strerror or error}; make room"
            ) from error


def _refuse_folder(out: Path, run: Path) -> None:
    from drivelab.store import is_run

    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; a report is a folder, choose another --out")
    if out.resolve() != run.resolve() and is_run(out):
        raise UsageError(f"{out} is another run, and has its own report; choose another --out")


def _refuse_foreign(folder: Path, run: Path) -> None:
    from drivelab.report.saved import foreign_file

    name = None if folder.resolve() == run.resolve() else foreign_file(folder)
    if name is not None:
        raise UsageError(
            f"{folder} holds {name}, which no report made; choose a new or an empty folder"
        )


def _folder_of(run: Path, asked: Path, out: Path | None) -> Path:
    if out is None:
        return run
    return out if run == asked else out / run.name


def _write(run: Path, asked: Path, out: Path | None, chromium: str | None) -> dict[str, Any]:
    return write_report(run, _folder_of(run, asked, out), chromium)


def write_report(run: Path, folder: Path, chromium: str | None = None) -> dict[str, Any]:
    """Write the report of a run into a folder; give what ``pts report --json`` prints of it."""
    from drivelab.pts.report import build
    from drivelab.report.build_pts import write_test_report
    from drivelab.report.quantities import PROVENANCE

    report = build(run)
    kind = report.result["drive"]["kind"]
    paths = write_test_report(
        report, folder, statement=PROVENANCE[kind].statement, chromium=chromium
    )
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


def _text(written: Sequence[Mapping[str, Any]]) -> str:
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
