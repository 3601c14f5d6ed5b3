"""Writing reports into a folder that the program names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from drivelab.api.path_text import path_text

if TYPE_CHECKING:
    from drivelab.exhibits import Report


def write_page(report: Report, path: str | os.PathLike[str], of: str) -> Path:
    """Write a report into a folder, and return the path of its page.

    Parameters
    ----------
    report
        The report.
    path
        The folder; created if it does not exist.
    of
        Its subject. A report on the same subject is replaced, any other file is not.

    Raises
    ------
    DrivelabError
        When the folder holds other files, or cannot be written.
    """
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder
    from drivelab.report.written import write_report

    folder = OutputFolder(Path(path_text(path, "the folder of a report", "found")), of)
    refuse_folder(folder)
    return write_report(report, folder)["report"]
