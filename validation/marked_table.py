"""Tables that commands write into documents, each between two marks."""

from __future__ import annotations


def replaced(text: str, what: str, marks: tuple[str, str], table: str) -> str:
    """Return a document with what stands between two marks replaced.

    Parameters
    ----------
    text
        The document.
    what
        Name of the table, for the error.
    marks
        The lines before and after it.
    table
        The new table.

    Raises
    ------
    ValueError
        If a mark is missing.
    """
    begin, end = marks
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        raise ValueError(f"no {what} in the text; it belongs between {begin}{end}")
    return f"{before}{begin}\n{table}\n{end}{after}"


def row(*cells: str) -> str:
    """Return a row of a table in Markdown."""
    return "| " + " | ".join(cells) + " |"
