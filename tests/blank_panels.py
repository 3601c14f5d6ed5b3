"""Reports without drawings, for tests of files, words and exit codes that look at no figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

from drivelab.report.drawing import bars, columns, heat, histogram, lines, scatter

if TYPE_CHECKING:
    from collections.abc import Callable

_DRAWING: Final = (bars, columns, heat, histogram, lines, scatter)


def blank_panels(change: Callable[[Any, str, Any], None]) -> None:
    """Leave every panel empty; titles, tables, notes and saved data stay as they are.

    Drawing takes half the time of a small run's report. `change` sets a name of a module.
    """
    for module in _DRAWING:
        change(module, "panel", _blank)


def _blank(_draw: object, *, identifier: str, label: str, **_size: object) -> str:
    return f'<svg id="{identifier}" role="img" aria-label={quoteattr(label)}></svg>'
