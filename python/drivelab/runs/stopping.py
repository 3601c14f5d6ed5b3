"""How a run that is stopped says what is kept, and how it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from drivelab.errors import TerminatedError


def how_to_go_on(command: str | None) -> str:
    """Say how; by the command line where it is known."""
    return "run the same command again to go on" if command is None else f"go on with: {command}"


@contextmanager
def told_when_stopped(kept: Callable[[], str]) -> Iterator[None]:
    """Say behind Ctrl-C, SIGTERM and SIGHUP what is kept; what was said further inside stays.

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
