"""What fio wrote with --output-format=json as a table: a job a row, options and results as columns.

Options become the eight workload characteristics where they say them; results have the names that
Drivelab's own measurements have. A job that cannot be read so is left out, and why is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from drivelab.models.own.table import OwnTable


def read_fio(paths: Sequence[Path], table: OwnTable) -> None:
    """Put the jobs of fio's results below the rows of a table."""
    raise NotImplementedError
