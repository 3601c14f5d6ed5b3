"""Options that say who measures on simulated drives: threads here, processes, or other machines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from drivelab.drives.protocol import Drive
    from drivelab.runs.executor import Executor
    from drivelab.runs.workers.place import Place

#: Makes the executor of a drive; ``None`` is the threads of this process.
Executors: TypeAlias = "Callable[[Drive], Executor | None]"
_THREADS: Final = "threads"


def add_executor_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `executor_of` reads."""
    group = parser.add_argument_group(
        "who measures", "results are the same to the byte, whoever does"
    )
    group.add_argument(
        "--executor",
        choices=(_THREADS, *_PLACES),
        help="simulated drives are measured by threads of this process, by --workers processes, or "
        f"on the machines of --on over ssh [{_THREADS}; with --on ssh]",
    )
    group.add_argument(
        "--on",
        type=Path,
        metavar="FILE.toml",
        help='machines for --executor ssh: for each a [[host]] with name = "USER@HOST"',
    )


def check_executor(args: argparse.Namespace) -> Executors:
    """Read who is to measure, before anything is done; return what makes it of an open drive.

    Raises
    ------
    UsageError
        When an option has no effect, or the machines cannot be read.
    """
    from drivelab.drives.naming import kind_of

    chosen = args.executor or ("ssh" if args.on is not None else _THREADS)
    if chosen != "ssh" and args.on is not None:
        raise UsageError(f"--on is for --executor ssh, and not for {chosen}: leave one of them out")
    if chosen == _THREADS:
        return lambda _: None
    if kind_of(args.drive) == "real":
        raise UsageError(
            f"--executor {chosen} is for simulated drives, and {args.drive} is a real one, which "
            "one process measures: leave it out"
        )
    places = _PLACES[chosen](args)

    def made(drive: Drive) -> Executor:
        from drivelab.runs.workers.pool import WorkersExecutor

        return WorkersExecutor(drive, places)

    return made


def _processes(args: argparse.Namespace) -> Sequence[Place]:
    from drivelab._core import available_cores
    from drivelab.runs.workers.place import ProcessPlace

    return [ProcessPlace(number + 1) for number in range(args.workers or available_cores())]


def _over_ssh(args: argparse.Namespace) -> Sequence[Place]:
    from drivelab.runs.workers.cluster import read_cluster

    if args.on is None:
        raise UsageError(
            "for --executor ssh name a file of machines with --on: for each a [[host]] with name = "
            '"USER@HOST"'
        )
    if args.workers is not None:
        raise UsageError(
            f"--workers is for this machine: say threads = {args.workers} of each [[host]] in "
            f"{args.on}"
        )
    return read_cluster(args.on)


_PLACES: Final = {"processes": _processes, "ssh": _over_ssh}
