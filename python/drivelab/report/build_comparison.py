"""From several run folders to a page that compares them, in a folder of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.report.build import write_report
from drivelab.report.saved import refuse_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.outputs import OutputFolder
    from drivelab.report.comparison import Digest

_LONGEST_NAME: Final = 100


def default_folder(paths: Sequence[Path]) -> Path:
    """Name the folder of a comparison, the same for the same runs in the same order."""
    names = (re.sub(r"[^A-Za-z0-9]+", "-", path.resolve().name).strip("-") for path in paths)
    return Path("runs") / f"compare-{'-'.join(name or 'run' for name in names)}"[:_LONGEST_NAME]


def build_comparison(digests: Sequence[Digest], out: OutputFolder) -> Path:
    """Write the page that compares runs, and its tables.

    Parameters
    ----------
    digests
        Of two runs or more.
    out
        The folder, made when it does not exist.

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
