"""Which files of a run folder its report made, so that they can be told from anybody's own.

``data/index.txt`` names every table beside it, one a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from drivelab.whole_file import write_whole

PAGE: Final = "report.html"
DATA: Final = "data"
#: Of a performance test: the page on paper, and what its result is for programs.
PDF: Final = "report.pdf"
RESULT: Final = "result.json"
_INDEX: Final = "index.txt"


def begin_tables(run_path: Path, names: Iterable[str]) -> Path:
    """Get the folder of tables ready for files of these names; give it.

    Tables of an older report that are none of them go away.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    data = run_path / DATA
    data.mkdir(exist_ok=True)
    wanted = sorted(names)
    for name in _listed(data) - set(wanted):
        (data / name).unlink(missing_ok=True)
    # Before the tables: whatever happens, there is none that it does not name.
    write_whole(data / _INDEX, "".join(f"{name}\n" for name in wanted))
    return data


def report_files(run_path: Path) -> set[str]:
    """Give the names, relative to a run folder, of what its report made there."""
    data = run_path / DATA
    return {PAGE, PDF, RESULT, f"{DATA}/{_INDEX}", *(f"{DATA}/{name}" for name in _listed(data))}


def foreign_file(folder: Path) -> str | None:
    """Name a file that a report of a test would replace, where no report was written before."""
    if (folder / DATA / _INDEX).is_file():
        return None
    return next((name for name in (PAGE, RESULT, PDF) if (folder / name).exists()), None)


def _listed(data: Path) -> set[str]:
    try:
        text = (data / _INDEX).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return set()
    # Nothing outside the folder, whatever the file says.
    return {name for name in text.splitlines() if name not in ("", ".", "..") and "/" not in name}
