"""Options for who measures simulated drives: threads here, processes, or other machines."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from drivelab.drives.protocol import Drive
    from drivelab.runs.executor import Executors, TurningExecutor, TurningExecutors
    from drivelab.runs.workers.place import Place
    from drivelab.workloads.workload import Workload

_THREADS: Final = "threads"


def add_executor_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `check_executor` reads."""
    group = parser.add_argument_group(
        "who measures", "results are the same to the byte in every case"
    )
    group.add_argument(
        "--executor",
        choices=(_THREADS, *_PLACES),
        help="where simulated drives are measured: in threads of this process, in --workers "
        f"processes, over ssh on the machines of --on, or on a Ray cluster [{_THREADS}; with --on "
        "ssh]",
    )
    group.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="the Ray cluster for --executor ray [RAY_ADDRESS, or this machine's cluster]",
    )
    group.add_argument(
        "--on",
        type=Path,
        metavar="FILE.toml",
        help="machines for --executor ssh and for drives HOST:/PATH: a TOML file with one [[host]] "
        'per machine, each with name = "USER@HOST"',
    )


def check_executor(args: argparse.Namespace, workload: Workload | None = None) -> Executors:
    """Check who is to measure before anything is done; return what makes an executor for a drive.

    Parameters
    ----------
    args
        The command's arguments. ``hosts_of_drives``, if it exists, names the machines whose real
        drives the same command measures.
    workload
        The workload, if there is only one.

    Raises
    ------
    UsageError
        If an option has no effect, or the file of machines cannot be read.
    """
    from drivelab.drives.naming import kind_of
    from drivelab.runs.executor import nobody_else
    from drivelab.runs.workers.pool import refuse_files

    chosen = _chosen(args)
    typed = "--on" if args.executor is None else f"--executor {chosen}"
    hosts: frozenset[str] = getattr(args, "hosts_of_drives", frozenset())
    if hosts and kind_of(args.drive) == "real":
        # With several drives, the options are for the simulated ones.
        return nobody_else
    if kind_of(args.drive) == "real" and (args.executor is not None or chosen != _THREADS):
        raise UsageError(
            f"{args.drive} is a real drive, which one process measures: leave out {typed}"
        )
    if workload is not None and chosen != _THREADS:
        refuse_files(workload)
    return _executors(args, chosen, hosts)


def check_simulating(args: argparse.Namespace) -> TurningExecutors:
    """As `check_executor`, for who simulates drives that nobody has named: candidates of a fit.

    Raises
    ------
    UsageError
        As `check_executor`.
    """
    # A worker keeps the states of two kinds of candidates.
    return _executors(args, _chosen(args), frozenset(), states=2)


def _chosen(args: argparse.Namespace) -> str:
    chosen: str = args.executor or ("ssh" if args.on is not None else _THREADS)
    if chosen != "ssh" and args.on is not None:
        raise UsageError(f"--on is for --executor ssh, and not for {chosen}: leave one of them out")
    if args.address is not None and chosen != "ray":
        raise UsageError(f"--address is for --executor ray, and not for {chosen}: leave it out")
    return chosen


def _executors(
    args: argparse.Namespace, chosen: str, hosts: frozenset[str], states: int = 1
) -> TurningExecutors:
    from drivelab.runs.executor import nobody_else

    if chosen == _THREADS:
        return nobody_else
    # Whoever measures a real drive is left in peace.
    places = [place for place in _PLACES[chosen](args) if place.name not in hosts]
    if not places and chosen != "ray":
        return nobody_else

    def made(drive: Drive) -> AbstractContextManager[TurningExecutor | None]:
        from drivelab.runs.workers.pool import WorkersExecutor

        if chosen == "ray":
            return _on_cluster(args, drive, states)
        most = _most(drive, states) if chosen == "processes" else None
        return WorkersExecutor(drive, places[:most])

    return made


@contextmanager
def _on_cluster(args: argparse.Namespace, drive: Drive, states: int) -> Iterator[TurningExecutor]:
    """Measure on a Ray cluster for as long as a drive is open."""
    from drivelab.drives.simulated.drive import SimulatedDrive
    from drivelab.runs.workers.pool import WorkersExecutor
    from drivelab.runs.workers.ray_place import ray_places

    # A formula takes next to nothing.
    memory = states * drive.session_bytes if isinstance(drive, SimulatedDrive) else 0
    with (
        ray_places(args.address, args.workers, memory) as places,
        WorkersExecutor(drive, places) as executor,
    ):
        yield executor


def _most(drive: Drive, states: int) -> int | None:
    """Return how many processes this machine has memory for; each prepares its own drive."""
    from drivelab.drives.simulated.drive import SimulatedDrive
    from drivelab.memory import available_bytes

    available = available_bytes()
    if available is None or not isinstance(drive, SimulatedDrive):
        return None
    # With less than one there is nothing to share: whoever measures says what is lacking.
    return max(available // (states * drive.session_bytes), 1)


def _processes(args: argparse.Namespace) -> Sequence[Place]:
    from drivelab._core import available_cores
    from drivelab.runs.workers.place import ProcessPlace

    return [ProcessPlace(number + 1) for number in range(args.workers or available_cores())]


def _over_ssh(args: argparse.Namespace) -> Sequence[Place]:
    from drivelab.runs.workers.cluster import read_cluster

    if args.on is None:
        raise UsageError(
            "--executor ssh needs a file of machines, --on: each has a [[host]] with name = "
        )
    if args.workers is not None:
        raise UsageError(
            f"--workers is for this machine: say threads = {args.workers} of each [[host]] in "
            f"{args.on}"
        )
    return read_cluster(args.on)


def _on_ray(_: argparse.Namespace) -> Sequence[Place]:
    """Refuse if Ray is not installed; the cluster's size is known once it is connected."""
    from drivelab.runs.workers.ray_place import installed_ray

    installed_ray()
    return []


_PLACES: Final = {"processes": _processes, "ssh": _over_ssh, "ray": _on_ray}
