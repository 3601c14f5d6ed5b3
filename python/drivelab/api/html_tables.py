"""Small tables in HTML, for notebooks, which set them in their own look."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def rows_html(rows: Sequence[tuple[str, str]], note: str = "") -> str:
    """Write a label and a text a row, and a note below."""
    cells = (f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in rows)
    return f"<table><tbody>{''.join(cells)}</tbody></table>{_note(note)}"


def table_html(rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Write a table whose first row has the titles, and a note below."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows[1:]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{_note(note)}"


def _note(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""
