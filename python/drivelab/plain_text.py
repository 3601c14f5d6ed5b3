r"""Text for people: no character in it controls the terminal or is invisible.

Names of files, drives, models and streams come from outside. Printed raw, they could clear the
screen, reverse the reading direction, or look like another name::

    "evil\x1b[2J"  ──PlainStream──►  evil\x1b[2J        four characters instead of one control code

Standard output and standard error are a `PlainStream`, so nothing escapes this check. It keeps
the line ends that Drivelab writes. A name inside a table or a line goes through `escaped`, which
also escapes line ends. Progress lines that overwrite themselves use `write_controls`.
"""

from __future__ import annotations

import io
import re
import sys
from typing import Final, TextIO

# C0 except the line feed, DEL and C1; marks without width; line and paragraph separators;
# overrides and isolates of direction; the byte order mark; lone surrogates, which stand for bytes
# of file names that are not UTF-8.
_ACTING: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def escaped(text: str) -> str:
    """Return a name on one line; unprintable characters are escaped as in Python and shells."""
    return escaped_lines(text).replace("\n", "\\x0a")


def escaped_lines(text: str) -> str:
    """Escape everything except line ends; escaping twice gives the same text."""
    return _ACTING.sub(_written, text)


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    # JSON does not escape DEL in strings and has no \x; both kinds of reader understand this form.
    return f"\\x{code:02x}" if code < 0x100 and code != 0x7F else f"\\u{code:04x}"


class PlainStream(io.TextIOWrapper):
    """A text stream that escapes every control character."""

    def write(self, text: str, /) -> int:
        """Write lines, escaped; return the number of characters in `text`."""
        super().write(escaped_lines(text))
        return len(text)

    def write_controls(self, text: str) -> None:
        """Write terminal control codes; the caller has escaped every name in the text."""
        super().write(text)

    @classmethod
    def instead_of(cls, stream: io.TextIOWrapper) -> PlainStream:
        """Return a stream that takes over the file of `stream`, which can no longer be used."""
        encoding, is_lines, is_through = (
            stream.encoding,
            stream.line_buffering,
            stream.write_through,
        )
        return cls(
            stream.detach(),
            encoding=encoding,
            # Escapes a character that the encoding does not have.
            errors="backslashreplace",
            line_buffering=is_lines,
            write_through=is_through,
        )


def write_controls(text: str, stream: TextIO | None = None) -> None:
    """Write terminal control codes to standard error, or to `stream`."""
    stream = sys.stderr if stream is None else stream
    if isinstance(stream, PlainStream):
        stream.write_controls(text)
    else:
        stream.write(text)
    stream.flush()
