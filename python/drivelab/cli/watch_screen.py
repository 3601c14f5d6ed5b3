"""The whole window of a terminal, redrawn every second, and restored at the end."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from drivelab.cli.watch_text import screen
from drivelab.plain_text import escaped, write_controls

# Another page of the terminal, without a cursor; and back.
_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"
_LEAVE: Final = "\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST = "\x1b[H", "\x1b[K", "\x1b[J"
_FOOT: Final = "q ends it"
_HISTORY: Final = 600


def show_all(states: Iterator[dict[str, Any] | None]) -> None:
    """Draw each state until there are no more, or somebody types q.

    Parameters
    ----------
    states
        States of the drive; None, a few times a second, if the last state is still the newest.
    """
    rows: deque[dict[str, Any]] = deque(maxlen=_HISTORY)
    state: dict[str, Any] | None = None
    drawn: os.terminal_size | None = None
    with _keys() as typed, _window():
        for news in states:
            if typed() in ("q", "Q", "\x1b"):
                return
            if news is not None:
                state = news
                rows.append(state["row"])
            size = shutil.get_terminal_size()
            if state is not None and (news is not None or size != drawn):
                _draw(screen(state, list(rows), size.columns, size.lines - 1), size)
                drawn = size


def _draw(lines: list[str], size: os.terminal_size) -> None:
    text = "".join(f"{escaped(line)}{_REST_OF_LINE}\r\n" for line in lines)
    foot = f"\x1b[{size.lines};1H{_FOOT[: size.columns - 1]}{_REST_OF_LINE}"
    write_controls(f"{_HOME}{text}{_REST}{foot}", sys.stdout)


@contextlib.contextmanager
def _window() -> Iterator[None]:
    write_controls(_ENTER, sys.stdout)
    try:
        yield
    finally:
        write_controls(_LEAVE, sys.stdout)


@contextlib.contextmanager
def _keys() -> Iterator[Any]:
    """Read keys one by one, if somebody can type."""
    if not sys.stdin.isatty():
        yield lambda: ""
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)

    def typed() -> str:
        ready, _, _ = select.select([descriptor], [], [], 0)
        return os.read(descriptor, 1).decode("ascii", "replace") if ready else ""

    try:
        yield typed
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
