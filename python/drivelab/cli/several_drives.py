"""One command on several drives in parallel: which are allowed, how many, and the results."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import whole_number
from drivelab.errors import DrivelabError, RunError, UsageError
from drivelab.runs.stopping import how_to_go_on, told_when_stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Options for one kind of drive only, and their values if not given.
_OF_REAL_DRIVES: Final = {"size": None, "keep": False, "allow_destructive": None, "purge": None}
_OF_SIMULATED_DRIVES: Final = {
    "no_variability": False,
    **dict.fromkeys(("workers", "executor", "address", "on")),
}
_EXIT_MISTAKE: Final = 2


def separate(args: argparse.Namespace, name: str) -> argparse.Namespace:
    """Return the arguments for one drive, as if it were alone.

    Options for real drives do not reach simulated ones in the same command, and vice versa.
    """
    from drivelab.drives.naming import kind_of
    from drivelab.runs.workers.cluster import names_a_host

    one = argparse.Namespace(**{**vars(args), "drive": name})
    if len(args.drives) > 1 and len({kind_of(each) == "real" for each in args.drives}) > 1:
        foreign = _OF_SIMULATED_DRIVES if kind_of(name) == "real" else _OF_REAL_DRIVES
        for option, nothing in foreign.items():
            # A drive of another machine needs the list of machines.
            if option != "on" or not names_a_host(name):
                setattr(one, option, nothing)
    if len(args.drives) > 1 and args.out is not None:
        words = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
        one.out = args.out / (words or "drive")
    return one


def add_at_once(parser: argparse.ArgumentParser) -> None:
    """Add ``--at-once``."""
    parser.add_argument(
        "--at-once",
        type=whole_number(1, 1024),
        metavar="N",
        help="maximum number of drives at the same time [as many as cores and memory allow]",
    )


def add_allow_destructive(group: argparse._ArgumentGroup) -> None:
    """Add ``--allow-destructive``, which may name each of several drives."""
    group.add_argument(
        "--allow-destructive",
        metavar="PATH",
        action="append",
        help="overwrite this existing file or block device; PATH must be the same as DRIVE; "
        "repeat it for each of several drives",
    )


def allowed(args: argparse.Namespace) -> str | None:
    """Return what may be overwritten: the drive if it is named, else what is named instead."""
    named: list[str] = args.allow_destructive or []
    return args.drive if args.drive in named else next(iter(named), None)


def beside(args: argparse.Namespace) -> list[str]:
    """Return the real drives that are measured on this machine at the same time."""
    from drivelab.drives.naming import kind_of

    if args.at_once == 1:
        return []
    return [each for each in args.drives if each != args.drive and kind_of(each) == "real"]


def run_drives(
    args: argparse.Namespace,
    alone: Sequence[argparse.Namespace],
    work: Callable[[argparse.Namespace], list[dict[str, Any]]],
    machine_of: Callable[[str], str | None] = lambda _: None,
) -> tuple[list[dict[str, Any]], DrivelabError | None]:
    """Do the work for every drive.

    Parameters
    ----------
    args
        The command's arguments for all drives.
    alone
        The arguments of each drive, as if it were alone.
    work
        Does the work; returns what to print.
    machine_of
        As in `drivelab.cli.side_by_side.run_side_by_side`.

    Returns
    -------
    tuple
        What to print for all drives, and why the work failed on some of them.

    Raises
    ------
    UsageError
        For drives that may not run at the same time.
    KeyboardInterrupt, TerminatedError
        If the command is stopped; raised after every drive printed how far it came.
    """
    if len(alone) == 1:
        return work(alone[0]), None
    by_name = {one.drive: one for one in alone}
    _refuse_alike(args, alone)
    here = [name for name in args.drives if machine_of(name) is None]
    at_once = args.at_once or (_most_at_once(here) if here else 1)
    if at_once > 1:
        _refuse_shared(here)
    from drivelab.cli.main import guarded
    from drivelab.cli.side_by_side import run_side_by_side, said_of

    with told_when_stopped(lambda: f"; {how_to_go_on(args.command)}"):
        finished = run_side_by_side(
            args.drives,
            lambda name: work(by_name[name]),
            guarded,
            at_once=at_once,
            machine_of=machine_of,
        )
    answers = [each for one in finished for each in one.answers]
    failed = [one for one in finished if one.code]
    if not failed:
        return answers, None
    message = "; ".join(said_of(one.name, one.complaint or "ended") for one in failed)
    is_mistake = all(one.code == _EXIT_MISTAKE for one in failed) and not answers
    return answers, UsageError(message) if is_mistake else RunError(message)


def _refuse_alike(args: argparse.Namespace, alone: Sequence[argparse.Namespace]) -> None:
    twice = next((name for name in args.drives if args.drives.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is named twice; name each drive once")
    folders = [one.out for one in alone if one.out is not None]
    if len(set(folders)) < len(folders):
        raise UsageError(
            "two drives would have the same folder below --out, because their names differ only in "
            "punctuation; run them one by one with --out"
        )


def _refuse_shared(names: Sequence[str]) -> None:
    """Refuse drives that would disturb each other; warn that real ones share the machine."""
    from drivelab.drives.naming import kind_of
    from drivelab.drives.real.shared_device import sharing_pair

    pair = sharing_pair(names)
    if pair is not None:
        one, other, shared = pair
        raise UsageError(
            f"{one} and {other} are on the same drive ({shared}) and would disturb each other; "
            "--at-once 1 measures one after the other"
        )
    if sum(kind_of(name) == "real" for name in names) > 1:
        print(
            "drivelab: several real drives at the same time share this machine's processors and "
            "links; --at-once 1 measures one after the other",
            file=sys.stderr,
        )


def _most_at_once(names: Sequence[str]) -> int:
    """Return how many drives run at the same time: at most one per core, within the memory."""
    from drivelab._core import available_cores
    from drivelab.drives.naming import kind_of, open_simulated
    from drivelab.memory import available_bytes

    most = min(available_cores(), len(names))
    available = available_bytes()
    needed = sorted(
        (open_simulated(name).session_bytes for name in names if kind_of(name) == "simulated"),
        reverse=True,
    )
    while available is not None and most > 1 and sum(needed[:most]) > available:
        most -= 1
    return most
