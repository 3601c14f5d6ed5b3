"""Work on several drives at the same time: one process per drive, a limited number at a time.

::

        this process ──fork──► one drive ── its messages ──► "drivelab: DRIVE: ..." here
                  ▲                     └─────── its answers ───► a list in the order of the drives
         └── SIGINT, SIGTERM and Ctrl-Z reach every drive

Processes share nothing, so a drive's result depends neither on the others nor on how many run at
the same time. Each has its own process group, so that a terminal's Ctrl-C reaches it once.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final

from drivelab.errors import TerminatedError
from drivelab.plain_text import escaped

_CHUNK_BYTES: Final = 65536


@dataclass
class Finished:
    """The result for one drive.

    Attributes
    ----------
    name
        Name of the drive.
    code
        Exit code of its process, the same as if the command named only this drive.
    answers
        What the work returned; empty if it failed.
    complaint
        Its last error line, without the program's name; empty if it failed without one.
    """

    name: str
    code: int = 0
    answers: list[dict[str, Any]] = field(default_factory=list)
    complaint: str = ""


@dataclass
class _Child:
    place: int
    name: str
    process: int
    #: Read ends of pipes: its messages, and its answers.
    said: int
    found: int
    line: bytes = b""
    result: bytes = b""
    open_ends: int = 2


def said_of(name: str, text: str) -> str:
    """Put a drive's name before its message, unless the message begins with it."""
    begins = text.startswith((f"{name} ", f"{name}: "))
    return text if begins else f"{name}: {text}"


def run_side_by_side(
    names: Sequence[str],
    work: Callable[[str], list[dict[str, Any]]],
    guarded: Callable[[Callable[[], int]], int],
    *,
    at_once: int,
    machine_of: Callable[[str], str | None] = lambda _: None,
) -> list[Finished]:
    """Do `work` for every drive, at most `at_once` at the same time.

    A drive of another machine uses nothing of this one, so it is not counted. But each other
    machine works on one drive at a time.

    Parameters
    ----------
    names
        Names of the drives, each once.
    work
        Returns what to print for a drive, as JSON values.
    guarded
        Runs something, prints its error as one line, and returns an exit code.
    at_once
        Largest number of processes, at least 1.
    machine_of
        Returns the machine of a drive that is measured on another one, else ``None``.

    Returns
    -------
    list of Finished
        Results in the order of the names.

    Raises
    ------
    KeyboardInterrupt, TerminatedError
        If this process is stopped: after every drive got the signal and has stopped.
    """
    waiting = list(enumerate(names))
    finished = [Finished(name) for name in names]
    running: list[_Child] = []
    stopped: BaseException | None = None
    selector = selectors.DefaultSelector()
    with _pausing(running):
        while waiting or running:
            try:
                while (following := _next(waiting, running, at_once, machine_of)) is not None:
                    waiting.remove(following)
                    running.append(_begin(*following, work, guarded, selector))
                for key, _ in selector.select():
                    _read(key.data, key.fd, selector, finished)
                for child in [child for child in running if not child.open_ends]:
                    running.remove(child)
                    _end(child, finished[child.place])
            except (KeyboardInterrupt, TerminatedError) as error:
                stopped = error
                waiting.clear()
                number = getattr(error, "number", signal.SIGINT)
                for child in running:
                    os.kill(child.process, number)
    selector.close()
    if stopped is not None:
        raise stopped
    return finished


def _next(
    waiting: Sequence[tuple[int, str]],
    running: Sequence[_Child],
    at_once: int,
    machine_of: Callable[[str], str | None],
) -> tuple[int, str] | None:
    """Return the first drive that may begin now."""
    machines = [machine_of(child.name) for child in running]
    is_full = machines.count(None) >= at_once
    for place, name in waiting:
        machine = machine_of(name)
        if (machine is None and not is_full) or (machine is not None and machine not in machines):
            return place, name
    return None


def _begin(
    place: int,
    name: str,
    work: Callable[[str], list[dict[str, Any]]],
    guarded: Callable[[Callable[[], int]], int],
    selector: selectors.BaseSelector,
) -> _Child:
    said, say = os.pipe()
    found, find = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        os.setpgid(0, 0)
        for descriptor in (said, found):
            os.close(descriptor)
        _work_and_leave(name, work, guarded, say, find)
    for descriptor in (say, find):
        os.close(descriptor)
    child = _Child(place, name, process, said, found)
    for descriptor in (said, found):
        selector.register(descriptor, selectors.EVENT_READ, child)
    return child


def _work_and_leave(
    name: str,
    work: Callable[[str], list[dict[str, Any]]],
    guarded: Callable[[Callable[[], int]], int],
    say: int,
    find: int,
) -> None:
    """Do the work in its own process, which ends here and runs nothing of its parent's."""
    code = 1
    try:
        os.dup2(say, 2)
        os.dup2(say, 1)
        for descriptor in (1, 2):
            os.set_inheritable(descriptor, True)
        sys.stderr = open(2, "w", buffering=1, closefd=False, errors="backslashreplace")  # noqa: SIM115
        sys.stdout = sys.stderr
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)

        def tell() -> int:
            answer = json.dumps(work(name)).encode()
            with open(find, "wb", closefd=False) as file:
                file.write(answer)
            return 0

        code = guarded(tell)
        sys.stderr.flush()
    finally:
        os._exit(code)


def _read(
    child: _Child, descriptor: int, selector: selectors.BaseSelector, finished: list[Finished]
) -> None:
    data = os.read(descriptor, _CHUNK_BYTES)
    if not data:
        selector.unregister(descriptor)
        os.close(descriptor)
        child.open_ends -= 1
    elif descriptor == child.found:
        child.result += data
    else:
        *lines, child.line = (child.line + data).split(b"\n")
        for line in lines:
            text = line.decode(errors="replace").removeprefix("drivelab: ")
            finished[child.place].complaint = text
            said = escaped(said_of(child.name, text))
            print(f"drivelab: {said}", file=sys.stderr, flush=True)


def _end(child: _Child, into: Finished) -> None:
    _, status = os.waitpid(child.process, 0)
    code = os.waitstatus_to_exitcode(status)
    # Killed by a signal: the code that a shell would report.
    into.code = code if code >= 0 else 128 - code
    into.answers = json.loads(child.result) if child.result else []


@contextmanager
def _pausing(running: list[_Child]) -> Iterator[None]:
    """Let Ctrl-Z stop every drive with this process, and `fg` continue them."""

    def pause(_number: int, _frame: FrameType | None) -> None:
        for child in running:
            os.kill(child.process, signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGSTOP)
        for child in running:
            os.kill(child.process, signal.SIGCONT)

    usual = signal.getsignal(signal.SIGTSTP)
    if usual is signal.SIG_DFL:
        signal.signal(signal.SIGTSTP, pause)
    try:
        yield
    finally:
        if usual is signal.SIG_DFL:
            signal.signal(signal.SIGTSTP, usual)
