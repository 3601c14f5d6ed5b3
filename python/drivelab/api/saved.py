"""Reports of what a program found, written where it says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from drivelab.api.path_text import path_text

if TYPE_CHECKING:
    from drivelab.exhibits import Report


def write_page(report: Report, path: str | os.PathLike[str], of: str) -> Path:
    """Write a report into a folder, and give the path of its page.

    Parameters
    ----------
    report
        What is shown.
    path
        The folder, made when it does not exist.
    of
        What it is of: a report of the same is replaced, nothing else.

    Raises
    ------
    DrivelabError
        When the folder holds anything else, or cannot be written.
    """
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder
    from drivelab.report.written import write_report

    folder = OutputFolder(Path(path_text(path, "the folder of a report", "found")), of)
    refuse_folder(folder)
    return write_report(report, folder)["report"]
