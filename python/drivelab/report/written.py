"""From a report to files: the page, tables, and where there is one the result as JSON, and PDF."""

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
from drivelab.sealed_json import sealed_json

if TYPE_CHECKING:
    from pathlib import Path

    from drivelab.exhibits import Report
    from drivelab.outputs import OutputFolder
    from drivelab.report.page import RenderedPage


def rendered_into(folder: Path, report: Report, *, force: bool = False) -> RenderedPage:
    """Draw a page that lies in a folder, and write the page that it leads to next to it."""
    from drivelab.report.page import render
    from drivelab.report.what_if_page import write_what_if

    # First: a link to nothing would be worse than none.
    has_page = report.what_if is not None and write_what_if(folder, force=force)
    return render(report, has_what_if=has_page)


def write_report(
    report: Report, folder: OutputFolder, *, chromium: str | None = None
) -> dict[str, Path]:
    """Write a report, each file whole or not at all.

    Parameters
    ----------
    report
        What is to be shown.
    folder
        Where to, made when it does not exist.
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
    rendered = rendered_into(folder.path, report, force=folder.force)
    page = folder.path / PAGE
    paths = {"report": page}
    try:
        tables = [*rendered.tables, *report.tables]
        files: dict[str, str | bytes] = {f"{name}.txt": text for name, text in report.texts}
        files |= {f"{table.name}.csv": table.csv() for table in tables}
        paths["tables"] = begin_tables(folder, files)
        for file, content in files.items():
            folder.write(f"{DATA}/{file}", TABLE_KIND, content)
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
