"""How a run that is stopped says what is saved, and how to resume it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from drivelab.drives.real.side_file import removing
from drivelab.errors import TerminatedError


def how_to_go_on(command: str | None) -> str:
    """Say how; by the command line where it is known."""
    return (
        "run the same command again to resume" if command is None else (f"resume with: {command}")
    )


def stays_until_complete(file: Path, what: str) -> str:
    """Say that a file that was made for a run stays until it is complete, and how to remove it.

    Parameters
    ----------
    file
        The file.
    what
        The run in a word: ``campaign``.
    """
    return f"{file} stays until the {what} is complete (to remove it: {removing(file)})"


@contextmanager
def found_file_stays(leave: Callable[..., Path | None]) -> Iterator[None]:
    """Let a file of a run that was stopped stay when this fails: another command may go on.

    Parameters
    ----------
    leave
        Of the drive or the session.
    """
    try:
        yield
    except BaseException:
        leave(only_found=True)
        raise


@contextmanager
def told_when_stopped(kept: Callable[[], str]) -> Iterator[None]:
    """Add to Ctrl-C, SIGTERM and SIGHUP what is saved; inner messages stay.

    Parameters
    ----------
    kept
        Gives what follows ``stopped`` or ``terminated``, from the first sign on.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if str(interrupt):
            raise
        raise KeyboardInterrupt(f"stopped{kept()}") from interrupt
    except TerminatedError as terminated:
        if str(terminated) != str(TerminatedError(terminated.number)):
            raise
        message = f"{terminated}{kept()}"
        raise TerminatedError(terminated.number, message) from terminated
