"""The runs behind Coughlin et al. 2010: tests on many drives, in parallel and stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drivelab.drives.sessions import open_session
from drivelab.pts.every_test import test_named
from drivelab.pts.run import finished, run_test
from drivelab.pts.settings import Settings
from drivelab.reproduce.processes import in_processes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Job:
    """One test on one drive.

    Attributes
    ----------
    test
        ``wsat`` or ``blocks``.
    preset
        The simulated drive.
    content
        Kind of the written data.
    scale
        Factor for times and capacities.
    """

    test: str
    preset: str
    content: str = "random"
    scale: float = 1.0

    @property
    def name(self) -> str:
        """Return the name of its run's folder."""
        content = "" if self.content == "random" else f"-{self.content}"
        return f"{self.test}-{self.preset}{content}"

    @property
    def settings(self) -> Settings:
        """Return the settings: the whole drive, write cache on, queue depth 32.

        Write saturation is judged by the paper's own rule; block sizes by the specification's rule,
        at 35 % writes.
        """
        rule, ratio = ("white-paper", 1.0) if self.test == "wsat" else ("pts", 0.35)
        return Settings.of_edition(
            "client",
            active_range_ratio=1.0,
            threads=1,
            queue_depth=32,
            content=self.content,
            rule=rule,
            scale=self.scale,
            write_ratio=ratio,
        )


def results_of(jobs: Sequence[Job], folder: Path) -> dict[Job, dict[str, Any]]:
    """Run every job that `folder` lacks, one per core at the same time.

    Results do not depend on the number of cores.

    Raises
    ------
    RunError
        If a test did not finish.
    """
    found = in_processes(
        _kept_in,
        [(job, folder / job.name) for job in jobs],
        what="tests",
        name=lambda each: each[0].name,
    )
    return {job: json.loads(text) for job, text in zip(jobs, found, strict=True)}


def _kept_in(each: tuple[Job, Path]) -> str:
    return result_of(*each)


def result_of(job: Job, path: Path) -> str:
    """Run one job, or read it; return its result as JSON, which can pass between processes."""
    test, settings, drive = test_named(job.test), job.settings, f"sim:{job.preset}"
    outcome = finished(test, drive, settings, path)
    if outcome is None:
        with open_session(drive, seed=settings.seed, write_cache="on") as session:
            outcome = run_test(test, session, settings, path, shown=False)
    if outcome.problem is not None:
        raise outcome.problem
    return json.dumps(outcome.result)
