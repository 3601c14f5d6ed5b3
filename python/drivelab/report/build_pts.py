"""From what a performance test made of its results to files: the page, tables, JSON, PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.errors import RunError
from drivelab.report.saved import (
    DATA,
    PAGE,
    PAGE_KIND,
    PDF,
    PDF_KIND,
    RESULT,
    RESULT_KIND,
    TABLE_KIND,
    begin_tables,
)
from drivelab.report.table import Table
from drivelab.sealed_json import sealed_json

if TYPE_CHECKING:
    from pathlib import Path

    from drivelab.outputs import OutputFolder
    from drivelab.pts.exhibits import Report


def write_test_report(
    report: Report, folder: OutputFolder, *, statement: str = "", chromium: str | None = None
) -> dict[str, Path]:
    """Write the report of a test, each file whole or not at all.

    Parameters
    ----------
    report
        Its header, pages and result.
    folder
        Where to, made when it does not exist.
    statement
        Where the numbers come from, in a sentence or two.
    chromium
        Prints the PDF where one is wanted.

    Returns
    -------
    dict
        Paths of the ``report``, the folder of ``tables``, the ``result`` where the report has
        one and the ``pdf`` where it was asked for.

    Raises
    ------
    UsageError
        When a file that is there is none of this report's.
    RunError
        When the disk is full, the folder cannot be written, or the browser fails. What was
        measured and an older page stay.
    """
    from drivelab.report.pts_page import render_test

    rendered = render_test(report, statement)
    page = folder.path / PAGE
    paths = {"report": page}
    try:
        tables = [
            *rendered.tables,
            *(Table(each.name, each.columns, each.rows) for each in report.tables),
        ]
        paths["tables"] = begin_tables(folder, (f"{table.name}.csv" for table in tables))
        for table in tables:
            folder.write(f"{DATA}/{table.name}.csv", TABLE_KIND, table.csv())
        if report.result:
            text = sealed_json(report.result, indent=1)
            paths["result"] = folder.write(RESULT, RESULT_KIND, text)
        if not page.is_file() or page.read_bytes() != rendered.html.encode():
            # An older one would show what the page no longer says.
            folder.remove(PDF, PDF_KIND)
        folder.write(PAGE, PAGE_KIND, rendered.html)
        if chromium is not None:
            from drivelab.report.pdf import printed

            paths["pdf"] = folder.write(PDF, PDF_KIND, printed(page, chromium))
    except OSError as error:
        name = error.filename2 or error.filename or folder.path
        raise RunError(
            f"cannot write {name}: {error.strerror or error}; what was measured is kept: make "
            "room or check the permissions, then write the report again"
        ) from error
    return paths
