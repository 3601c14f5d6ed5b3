"""Writing the files of a report: page, tables, JSON result and PDF."""

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
    """Render the page for a folder, and write the what-if page next to it if it is linked."""
    from drivelab.report.page import render
    from drivelab.report.what_if_page import write_what_if

    # Written first: a link to nothing would be worse than none.
    has_page = report.what_if is not None and write_what_if(folder, force=force)
    return render(report, has_what_if=has_page)


def write_report(
    report: Report, folder: OutputFolder, *, chromium: str | None = None
) -> dict[str, Path]:
    """Write a report, each file whole or not at all.

    Parameters
    ----------
    report
        The report.
    folder
        The folder; created if it does not exist.
    chromium
        Prints the PDF; None for no PDF.

    Returns
    -------
    dict
        Paths by name: ``report``, ``tables`` (a folder), ``result`` if the report has one, and
        ``pdf`` if it was requested.

    Raises
    ------
    UsageError
        When an existing file is not an output of this report.
    RunError
        When the disk is full, the folder cannot be written, or the browser fails. Measurements and
        an older page are kept.
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
            # An older PDF would show what the page no longer says.
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
