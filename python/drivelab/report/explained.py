"""Explaining terms where a page first uses them, and preventing bad line breaks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from drivelab.exhibits.words import MEANINGS, TERM

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMAND: Final = re.compile(r"`([^`<>]+)`")
# An option of the command line: a browser would break the line after its dashes.
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
# A name with hyphens and a digit, such as sas-15k: a browser would break the line after a hyphen.
_NAME: Final = re.compile(
    r"(?<![\w:/.#&;-])(?:[a-z]+:)?(?=[a-z]*[\w.-]*\d)[A-Za-z]\w*(?:[.-]\w+)*-\w+(?:[.-]\w+)*(?![\w/-])"
)
#: Longer names would not fit on a phone.
_LONGEST_NAME: Final = 28
_NUMBER_AND_UNIT: Final = re.compile(r"(\d) (%|ns|µs|ms|s|MB/s|IOPS|B|[KMGT]iB)(?![\w])")
# Terms inside commands and elements are not explained.
_SET: Final = re.compile(r"(<code>.*?</code>|<[^>]+>)")


def kept_together(text: str) -> Markup:
    """Prevent line breaks between a number and its unit, in an option, and in a short name."""
    return Markup(_names_kept(_units_kept(text)))  # noqa: S704 - escaped there


def said(text: str) -> Markup:
    """Set text between back quotes as a command."""
    return Markup(_names_kept(_COMMAND.sub(r"<code>\1</code>", _units_kept(text))))  # noqa: S704


class Words:
    """Explains each term once per page, at its first use.

    A term inside a name, such as the path of a drive, is not explained.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._known: set[int] = set()
        escaped = sorted({str(escape(name)) for name in names if name}, key=len, reverse=True)
        self._names = re.compile(f"({'|'.join(map(re.escape, escaped))})") if escaped else None

    def __call__(self, text: str) -> Markup:
        """Set a text as `said` does, and explain the terms that it uses first."""
        parts = _SET.split(str(said(text)))
        return Markup("".join(map(self._part, parts)))  # noqa: S704 - made of escaped text

    def _part(self, part: str) -> str:
        if part.startswith("<") or (self._names is not None and self._names.search(part)):
            return part
        return TERM.sub(self._explained, part)

    def _explained(self, match: re.Match[str]) -> str:
        place = (match.lastindex or 1) - 1
        if place in self._known:
            return match[0]
        self._known.add(place)
        meaning = escape(MEANINGS[place])
        return f'<dfn class="word" tabindex="0" data-meaning="{meaning}">{match[0]}</dfn>'


def _units_kept(text: str) -> str:
    return str(escape(_NUMBER_AND_UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)))


def _names_kept(escaped: str) -> str:
    return _NAME.sub(_short_kept, _OPTION.sub(r'<span class="kept">\g<0></span>', escaped))


def _short_kept(name: re.Match[str]) -> str:
    return name[0] if len(name[0]) > _LONGEST_NAME else f'<span class="kept">{name[0]}</span>'
