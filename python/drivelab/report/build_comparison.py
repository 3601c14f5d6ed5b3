"""From several run folders to a page that compares them, in a folder of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError
from drivelab.report.build import write_report
from drivelab.store import is_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.report.comparison import Digest

#: What a comparison leaves in its folder, and all that it replaces there.
_OURS: Final = {"report.html", "data"}
_LONGEST_NAME: Final = 100


def default_folder(paths: Sequence[Path]) -> Path:
    """Name the folder of a comparison, the same for the same runs in the same order."""
    names = (re.sub(r"[^A-Za-z0-9]+", "-", path.resolve().name).strip("-") for path in paths)
    return Path("runs") / f"compare-{'-'.join(name or 'run' for name in names)}"[:_LONGEST_NAME]


def refuse_folder(out: Path) -> None:
    """Raise `UsageError` when a folder holds something that is no comparison."""
    if is_run(out):
        raise UsageError(f"{out} is a run, and has its own report; choose another --out")
    if out.is_dir():
        others = sorted(entry.name for entry in out.iterdir() if entry.name not in _OURS)
        if others:
            raise UsageError(
                f"{out} holds {others[0]}, which no report made; choose a new or an empty folder"
            )
    elif out.exists():
        raise UsageError(f"{out} is a file; a comparison is a folder, choose another --out")


def build_comparison(digests: Sequence[Digest], out: Path) -> Path:
    """Write the page that compares runs, and its tables.

    Parameters
    ----------
    digests
        Of two runs or more.
    out
        The folder, made when it does not exist; an older comparison there is replaced.

    Returns
    -------
    Path
        The page, ``report.html``.

    Raises
    ------
    UsageError
        When the folder holds something else.
    RunError
        When it cannot be written.
    """
    from drivelab.report.comparison_html import render_comparison

    refuse_folder(out)
    return write_report(render_comparison(digests), out)
