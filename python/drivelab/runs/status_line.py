"""One line on standard error that is written again and again."""

from __future__ import annotations

import os
import sys

from drivelab.plain_text import escaped, write_controls


class StatusLine:
    """On a terminal a line that is overwritten, elsewhere a new line each time.

    Parameters
    ----------
    shown
        False shows nothing.
    """

    def __init__(self, *, shown: bool = True) -> None:
        self.is_terminal = shown and sys.stderr.isatty()
        self.is_told = shown and not self.is_terminal
        self._drawn = ""

    @property
    def columns(self) -> int:
        """Columns of the terminal."""
        # A terminal that does not know its width, such as a serial line, says 0.
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80

    def show(self, text: str) -> None:
        """Write `text`, as much of it as a terminal has room for."""
        if self.is_told:
            print(f"drivelab: {escaped(text)}", file=sys.stderr, flush=True)  # noqa: T201
        elif self.is_terminal:
            line = escaped(text)[: self.columns - 1]
            # Overwrite the last one completely.
            write_controls(f"\r{line:<{len(self._drawn)}}")
            self._drawn = line

    def clear(self) -> None:
        """Leave the terminal's line empty."""
        if self._drawn:
            write_controls(f"\r{'':<{len(self._drawn)}}\r")
            self._drawn = ""

    def end(self) -> None:
        """Leave the line on the terminal, if there is one, and continue below it."""
        if self._drawn:
            write_controls("\n")
