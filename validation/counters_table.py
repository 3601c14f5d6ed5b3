"""The counters of simulated drives in docs/json-measure.md: a table between two marks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from drivelab import _core
from validation.marked_table import replaced

TARGET: Final = Path(__file__).parent.parent / "docs" / "json-measure.md"
_BEGIN: Final = "<!-- counters: written by `.venv/bin/python -m validation.counters_table` -->\n"
_END: Final = "<!-- end of the counters -->\n"
_COLUMNS: Final = ("key", "what it is", "unit", "of an array", "in `extra` of a measurement")


def table_text() -> str:
    """Write the table of counters."""
    lines = [_row(*_COLUMNS), "|---|---|---|---|---|"]
    for counter in _core.counters():
        measured = counter["measured"]
        lines.append(
            _row(
                f"`{counter['key']}`",
                str(counter["meaning"]),
                str(counter["unit"]),
                str(counter["of_array"]),
                f"`{measured}`" if measured else "",
            )
        )
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    """Return a document with its table of counters as they are now."""
    return replaced(text, "table of counters", (_BEGIN, _END), table_text())


def write() -> None:
    """Write the table into docs/json-measure.md."""
    TARGET.write_text(with_table(TARGET.read_text(encoding="utf-8")), encoding="utf-8")


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    write()
