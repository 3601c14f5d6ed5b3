"""The common part of the result of tests whose rounds go over cells until they settle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drivelab.pts.cells import cell_results
from drivelab.pts.convergence import windows_json
from drivelab.pts.test import Section, settled_verdict

if TYPE_CHECKING:
    from drivelab.pts.journal import Record
    from drivelab.pts.rounds import Settled


def cells_section(record: Record, settled: Settled, name: str = "", **more: Any) -> Section:
    """Return windows and cells of settled rounds; `more` are values of that test alone."""
    cells = cell_results(settled.window_rounds)
    values = {
        "windows": windows_json(settled),
        "cells": [cell.to_json() for cell in cells],
        **more,
    }
    verdict = settled_verdict(settled.is_steady, record.is_complete)
    return Section(name, verdict, len(settled.rounds), values)
