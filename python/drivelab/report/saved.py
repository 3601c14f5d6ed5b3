"""The files in a folder that belong to a report, as opposed to the user's own.

``data/index.txt`` lists the tables in its folder, one name per line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from drivelab.errors import UsageError
from drivelab.outputs import OutputFolder
from drivelab.store import is_run

PAGE: Final = "report.html"
DATA: Final = "data"
#: Files of a performance test's report: the printed page, and the result for programs.
PDF: Final = "report.pdf"
RESULT: Final = "result.json"
#: The what-if page, and the subject of every copy, because all copies are equal.
WHAT_IF: Final = "what-if.html"
WHAT_IF_OF: Final = "drivelab"
#: Kinds of these outputs.
PAGE_KIND: Final = "report"
PDF_KIND: Final = "report on paper"
RESULT_KIND: Final = "result"
TABLE_KIND: Final = "table"
WHAT_IF_KIND: Final = "what-if page"
_INDEX: Final = "index.txt"
# All files that a report may leave in its folder.
_OURS: Final = {PAGE, PDF, RESULT, DATA, WHAT_IF}


def begin_tables(folder: OutputFolder, names: Iterable[str]) -> Path:
    """Prepare the folder of tables for files with these names; return the folder.

    Tables of an older report that are not among them are removed.

    Raises
    ------
    UsageError
        When an existing file is not an output of this report.
    OSError
        When it cannot be written.
    """
    data = folder.path / DATA
    wanted = sorted(names)
    for name in _listed(data) - set(wanted):
        folder.remove(f"{DATA}/{name}", TABLE_KIND)
    # Written before the tables, so that no table is ever missing from the index.
    folder.write(f"{DATA}/{_INDEX}", "list of tables", "".join(f"{name}\n" for name in wanted))
    return data


def refuse_folder(
    folder: OutputFolder,
    *,
    beside: Mapping[str, str] | None = None,
    folders: Collection[str] = (),
    inputs: Collection[Path] = (),
) -> None:
    """Refuse a folder that a report must not be written into.

    Parameters
    ----------
    folder
        The folder to write into.
    beside
        Names and kinds of further files that the caller writes there.
    folders
        Names of folders that may be in it, with any content.
    inputs
        Files that the command reads; none of them is replaced.

    Raises
    ------
    UsageError
        When the folder is another run, is a file, holds files of something else, or cannot be made.
    """
    path = folder.path
    own = beside or {}
    if folder.own_run is not None:
        _check_files(folder, own, inputs)
        return
    if is_run(path):
        raise UsageError(f"{path} is a run, and has its own report; choose another folder")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file; a report is a folder; choose another one")
    found = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    others = sorted(found - {*_OURS, *own, *folders})
    if others:
        raise UsageError(
            f"{path} holds {others[0]}, which no report made; choose a new or an empty folder"
        )
    _check_files(folder, own, inputs)
    folder.check_can_be_made()


def _check_files(folder: OutputFolder, beside: Mapping[str, str], inputs: Collection[Path]) -> None:
    data = folder.path / DATA
    entries = sorted(data.iterdir()) if data.is_dir() else []
    tables = [entry.name for entry in entries if not entry.is_dir()]
    kinds = {PAGE: PAGE_KIND, PDF: PDF_KIND, RESULT: RESULT_KIND, **beside}
    kinds |= {f"{DATA}/{name}": TABLE_KIND for name in tables if name != _INDEX}
    there = {name: kind for name, kind in kinds.items() if (folder.path / name).exists()}
    folder.check(there, inputs=inputs)


def report_files(run_path: Path) -> set[str]:
    """Return the names of the report's files in a run folder, relative to the folder."""
    data = run_path / DATA
    return {PAGE, PDF, RESULT, f"{DATA}/{_INDEX}", *(f"{DATA}/{name}" for name in _listed(data))}


def _listed(data: Path) -> set[str]:
    try:
        text = (data / _INDEX).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return set()
    # Only names inside the folder, whatever the index says.
    return {name for name in text.splitlines() if name not in ("", ".", "..") and "/" not in name}
