"""The drives of `drivelab model`: several in parallel, and those of other machines.

Each drive has its own run. A drive ``HOST:/PATH`` is measured by a worker on its machine, one drive
per machine at a time. Simulated drives are measured on the remaining machines, or here.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.drive_options import open_named, refuse_options_without_effect
from drivelab.cli.executor_options import check_executor
from drivelab.cli.several_drives import allowed, run_drives, separate
from drivelab.cli.terminal import show
from drivelab.drives.naming import kind_of
from drivelab.errors import RunError, UsageError
from drivelab.notes import print_note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from drivelab.drives.protocol import Drive
    from drivelab.drives.real.preview import RealPreview
    from drivelab.runs.executor import Executor, Executors

# Options for real drives, if a command names both kinds.
_OF_REAL: Final = {"on_failure": None, "endurance": None}


def separated(args: argparse.Namespace) -> list[argparse.Namespace]:
    """Return the arguments for each drive alone, and find the machines of drives.

    Raises
    ------
    UsageError
        If a machine is not known, a drive is named twice, or options contradict each other.
    """
    is_mixed = len({kind_of(name) == "real" for name in args.drives}) > 1
    for name in args.allow_destructive or ():
        if len(args.drives) > 1 and name not in args.drives:
            raise UsageError(
                f"--allow-destructive={name} names no drive of this command; its drives are "
                f"{', '.join(args.drives)}"
            )
    alone = []
    for name in args.drives:
        one = separate(args, name)
        if is_mixed and kind_of(name) != "real":
            for option, nothing in _OF_REAL.items():
                setattr(one, option, nothing)
        if one.allow_destructive is not None:
            named = allowed(one)
            one.allow_destructive = named if len(args.drives) == 1 or named == name else None
        one.host = _host(one)
        alone.append(one)
    hosts = frozenset(one.host[0].name for one in alone if one.host is not None)
    for one in alone:
        one.hosts_of_drives = hosts
    return alone


def _host(args: argparse.Namespace) -> Any:
    """Return the machine of a drive and the path there; ``None`` for drives of this machine."""
    from drivelab.runs.workers.cluster import host_of, names_a_host, read_cluster

    name = args.drive
    if kind_of(name) != "real" or not names_a_host(name) or os.path.lexists(name):
        return None
    if args.on is None:
        raise UsageError(
            f"{name} is a drive of another machine: name a file of machines with --on; for each a "
            '[[host]] with name = "USER@HOST"'
        )
    host = host_of(name, read_cluster(args.on), args.on)
    if args.allow_destructive not in (None, name):
        raise UsageError(
            f"--allow-destructive={args.allow_destructive} does not name the drive; it must be "
            f"{name}"
        )
    return host


def open_anywhere(args: argparse.Namespace, run: Path) -> Drive:
    """Open the drive, here or on another machine.

    Parameters
    ----------
    args
        Arguments as `separated` returns them.
    run
        The folder of its run on this machine.
    """
    if args.host is None:
        return open_named(args)
    from drivelab.runs.workers.host_drive import HostDrive, stored_journal

    refuse_options_without_effect(args)
    host, path = args.host
    return HostDrive(
        args.drive,
        host,
        path,
        journal=stored_journal(run, path),
        size_bytes=args.size,
        keep=args.keep,
        allow_destructive=None if args.allow_destructive is None else path,
    )


def look_anywhere(args: argparse.Namespace) -> RealPreview:
    """Look at a real drive, wherever it is; nothing is made, written or locked."""
    refuse_options_without_effect(args)
    asked = {"size_bytes": args.size, "keep": args.keep}
    if args.host is None:
        from drivelab.drives.naming import preview_real_drive

        return preview_real_drive(args.drive, allow_destructive=args.allow_destructive, **asked)
    from drivelab.runs.workers.host_preview import preview_on_host

    host, path = args.host
    allowed_there = None if args.allow_destructive is None else path
    return preview_on_host(args.drive, host, path, allow_destructive=allowed_there, **asked)


def executors_of(args: argparse.Namespace) -> Executors:
    """Return who measures: for a drive of another machine its worker, which stores results."""
    if args.host is None:
        return check_executor(args)

    def made(drive: Drive) -> AbstractContextManager[Executor | None]:
        from contextlib import nullcontext

        from drivelab.runs.workers.host_drive import HostDrive

        return nullcontext(drive.kept() if isinstance(drive, HostDrive) else None)

    return made


def run_several(
    args: argparse.Namespace,
    alone: Sequence[argparse.Namespace],
    one_of: Callable[[argparse.Namespace, Path], tuple[dict[str, Any], str, str | None]],
) -> int:
    """Measure every drive into its own run, and compare them on one page.

    Parameters
    ----------
    args
        The command's arguments.
    alone
        Arguments of each drive, as `separated` returns them.
    one_of
        Measures one drive into a folder; returns the answer, its text, and what failed.

    Raises
    ------
    RunError
        If a drive failed; raised after the others are done and compared.
    """
    from drivelab.cli.report import compared, comparison_folder
    from drivelab.pages.several_runs import default_folder
    from drivelab.report.drawing.line_styles import MOST_LINES

    if args.endurance is not None:
        raise UsageError("--endurance has no effect without --dry-run: leave it out")
    paths = [one.out for one in alone]
    out = comparison_folder(
        paths, default_folder(paths) if args.out is None else args.out / "compared"
    )
    machines = {one.drive: one.host[0].name for one in alone if one.host is not None}

    def work(one: argparse.Namespace) -> list[dict[str, Any]]:
        answer, text, failed = one_of(one, one.out)
        return [{"answer": answer, "text": text, "failed": failed, "path": str(one.out)}]

    answers, failure = run_drives(args, alone, work, machines.get)
    runs = [Path(each["path"]) for each in answers]
    comparison, text = compared(runs, out) if 1 < len(runs) <= MOST_LINES else ({}, "")
    if len(runs) > MOST_LINES:
        print_note(
            f"{len(runs)} drives are not compared: `drivelab report` compares up to {MOST_LINES}"
        )
    if args.json:
        models = [each["answer"] for each in answers]
        print(
            json.dumps(
                {"report": None, "pdf": None, "runs": [], **comparison, "models": models}, indent=2
            )
        )
    else:
        show("\n\n".join([*(each["text"] for each in answers), *([text] if text else [])]))
    if failure is not None:
        raise failure
    failed = [each["failed"] for each in answers if each["failed"] is not None]
    if failed:
        raise RunError("; ".join(failed))
    return 0
