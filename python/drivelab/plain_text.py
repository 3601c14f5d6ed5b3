r"""Text for people that only says something: no character in it acts on a terminal or hides.

Names of files, drives, models and streams come from anywhere. Raw, they could clear the screen,
turn the order of what is read around, or look like another name::

    "evil\x1b[2J"  ──PlainStream──►  evil\x1b[2J        four characters instead of one that acts

`PlainStream` is what standard output and standard error are, so nothing can be forgotten. Lines
that Drivelab ends itself stay lines; whoever puts a name into a table or a line asks `escaped`
for it, which knows no line ends. A line that is drawn over itself goes by `write_controls`.
"""

from __future__ import annotations

import io
import re
import sys
from typing import Final, TextIO

# C0 without the line feed, DEL and C1; marks without width; line and paragraph separators;
# overrides and isolates of direction; the mark of byte order; halves of pairs, as which bytes
# of names come that are no UTF-8.
_ACTING: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def escaped(text: str) -> str:
    """Return a name in one line, with what does not print as Python and shells write it."""
    return escaped_lines(text).replace("\n", "\\x0a")


def escaped_lines(text: str) -> str:
    """Return lines with everything escaped but their ends; twice gives the same as once."""
    return _ACTING.sub(_written, text)


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    # JSON leaves DEL alone in its strings, and knows no \x: both read this.
    return f"\\x{code:02x}" if code < 0x100 and code != 0x7F else f"\\u{code:04x}"


class PlainStream(io.TextIOWrapper):
    """A stream of text on which no name acts."""

    def write(self, text: str, /) -> int:
        """Write lines, escaped; gives how many characters were asked for."""
        super().write(escaped_lines(text))
        return len(text)

    def write_controls(self, text: str) -> None:
        """Write what acts on the terminal, of which every name is escaped already."""
        super().write(text)

    @classmethod
    def instead_of(cls, stream: io.TextIOWrapper) -> PlainStream:
        """Take a stream's place: that one is closed to everybody else."""
        encoding, is_lines, is_through = (
            stream.encoding,
            stream.line_buffering,
            stream.write_through,
        )
        return cls(
            stream.detach(),
            encoding=encoding,
            # A character that the encoding lacks.
            errors="backslashreplace",
            line_buffering=is_lines,
            write_through=is_through,
        )


def write_controls(text: str, stream: TextIO | None = None) -> None:
    """Write to standard error what acts on the terminal, and see it there."""
    stream = sys.stderr if stream is None else stream
    if isinstance(stream, PlainStream):
        stream.write_controls(text)
    else:
        stream.write(text)
    stream.flush()
