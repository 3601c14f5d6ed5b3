"""Tests of the performance test specification on the toy drive of `fake_session`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fake_session import MIB, FakeSession

from drivelab.pts.every_test import TESTS
from drivelab.pts.run import Outcome, run_test
from drivelab.pts.settings import Settings

ORIGIN = {
    "started_at": "2026-01-02T03:04:05+00:00",
    "command": None,
    "host": "there",
    "system": "Linux",
    "processor": None,
    "processors": 1,
    "drivelab_version": "0",
}
#: The drive settles while it is preconditioned: two fills of 256 MiB.
SETTLED: dict[str, Any] = {"settles_bytes": 512 * MIB}


def run_fake(path: Path, name: str, session: FakeSession | None = None, **asked: Any) -> Outcome:
    """Run a test into `path`; what is asked for goes before the client's settings, seed 3."""
    values = {"edition": "client", "seed": 3, **asked}
    settings = Settings.of_edition(values.pop("edition"), **values)
    session = session or FakeSession(**SETTLED)
    return run_test(TESTS[name], session, settings, path, origin=ORIGIN, shown=False)
