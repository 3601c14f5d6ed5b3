"""Small HTML tables for notebooks, which style them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivelab.exhibits import Table


def rows_html(rows: Sequence[tuple[str, str]], note: str = "") -> str:
    """Write rows of a label and a text, with a note below."""
    cells = (f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in rows)
    return f"<table><tbody>{''.join(cells)}</tbody></table>{_note(note)}"


def table_html(table: Table, note: str = "") -> str:
    """Write a table of texts with a note below; marked cells get a star."""
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape(str(cell))}{' *' if (row, column) in table.marked else ''}</td>"
            for column, cell in enumerate(cells)
        )
        + "</tr>"
        for row, cells in enumerate(table.rows)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{_note(note)}"


def _note(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""
