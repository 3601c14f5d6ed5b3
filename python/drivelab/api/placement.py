"""Placing several workloads on a pool of drives: which drives to use, and what goes where."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.api.html_tables import rows_html
from drivelab.api.path_text import path_text
from drivelab.api.saved import write_page
from drivelab.api.spelled import spelled_in_python
from drivelab.core_panic import panic_errors
from drivelab.errors import UsageError
from drivelab.workloads.given import is_number, is_whole, shown

if TYPE_CHECKING:
    from drivelab.place import placing

_MOST_ROUNDS = 1000
_LONGEST_SECONDS = 366 * 86_400
#: Name of a plan that a program made.
_IN_MEMORY = "the plan"


def place_workloads(
    plan: str | os.PathLike[str] | Mapping[str, Any],
    *,
    seconds: float | None = None,
    rounds: int = 20,
    time_limit: float | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: bool = True,
) -> Placement:
    """Place the workloads of a plan on its drives at the least cost, latency or power.

    Parameters
    ----------
    plan
        A plan file, or the same content as a mapping: ``{"workload": [{...}], "drive": [{...}],
        ...}``. docs/place.md lists all keys. Relative file names in a mapping start at the current
        folder.
    seconds
        Simulated time of each measurement. By default long enough for 2,000 requests of the
        slowest workload.
    rounds
        Most rounds of solving. A group of workloads that breaks a bound in the simulation is
        forbidden in the next round.
    time_limit
        Time limit of the solver in seconds.
    seed
        Key of all random numbers.
    workers
        Threads; results do not depend on the number.
    progress
        Whether to show progress on standard error.

    Raises
    ------
    DrivelabError
        When the plan is not valid, or a measurement or the solver fails. A plan without a possible
        placement is not an error: see `Placement.holds`.

    Examples
    --------
    >>> import drivelab as dl
    >>> web = {"name": "web", "size": "1GB", "rate_iops": 1000, "latency_ms_mean_at_most": 2}
    >>> pool = [{"name": "sim:x25m", "price": 40}, {"name": "sim:low-latency", "price": 420}]
    >>> plan = {"workload": [web], "drive": pool}
    >>> placement = dl.place_workloads(plan, seconds=0.5, progress=False)
    >>> placement
    <Placement of 1 workload on sim:x25m: every limit is met>
    """
    from drivelab.drives.naming import open_simulated
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.place.measured import Bench
    from drivelab.place.placing import place
    from drivelab.place.plan_file import plan_of, read_plan
    from drivelab.place.window import refuse_window, window_for

    _check_numbers(seconds, rounds, time_limit)
    if isinstance(plan, Mapping):
        name, read = _IN_MEMORY, plan_of(plan, _IN_MEMORY, Path())
    else:
        path = Path(path_text(plan, "a plan", "plan.toml"))
        name, read = path.name, read_plan(path)
    how = MeasurementPlan(seed=seed, warmup_requests=0, writes="sustained", workers=workers)
    window = window_for(read.demands, seconds)
    refuse_window(read.demands, window)
    with panic_errors(), spelled_in_python(), ExitStack() as stack:
        benches = []
        for each in read.offers:
            drive = stack.enter_context(open_simulated(each.drive, varies=False))
            bench = Bench(drive, read.demands, window, how, progress=progress)
            benches.append(stack.enter_context(bench))
        found = place(read, benches, rounds=rounds, time_limit=time_limit)
        shortest = min(each.window.seconds for each in benches)
    return Placement(found, name, seed, shortest)


@dataclasses.dataclass(frozen=True, repr=False)
class Placement:
    """The result of a plan; made by `drivelab.place_workloads`."""

    _found: placing.Placement
    _name: str
    _seed: int
    _seconds: float

    @property
    def holds(self) -> bool:
        """Whether there is a placement, and every bound holds in the simulation."""
        return self._found.holds

    @property
    def headline(self) -> str:
        """The result in a sentence."""
        return str(self.to_json()["headline"])

    @property
    def workloads(self) -> list[dict[str, Any]]:
        """One row per workload: its drive, predicted and simulated values, and its bounds.

        For ``pandas.DataFrame(placement.workloads)``; docs/json-place.md lists all keys.
        """
        return list(self.to_json()["workloads"])

    @property
    def drives(self) -> list[dict[str, Any]]:
        """One row per drive that is used."""
        return list(self.to_json()["drives"])

    @property
    def obstacles(self) -> list[dict[str, Any]]:
        """The bounds that prevent a placement; empty if there is one."""
        return list(self.to_json()["obstacles"])

    def to_json(self) -> dict[str, Any]:
        """Return all results, as ``drivelab place --json`` prints them."""
        from drivelab.place.answer import answer_of

        return answer_of(self._found, self._name, self._seed, self._seconds)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report page, its tables and the result into a folder.

        Returns
        -------
        Path
            Path of the page, ``report.html``.

        Raises
        ------
        DrivelabError
            When the folder holds other files, or cannot be written.
        """
        from drivelab.place.exhibits import placement_report

        report = placement_report(self._found, self._name, self._seed, self._seconds)
        return write_page(report, path, f"the placement of {self._name}, in Python")

    def __repr__(self) -> str:
        from drivelab.exhibits.quantities import listed

        count = len(self._found.plan.demands)
        of = f"{count} workload{'' if count == 1 else 's'}"
        if not self._found.drives:
            return f"<Placement of {of}: there is none>"
        names = listed([str(row["drive"]) for row in self.drives])
        held = "every limit is met" if self.holds else "a limit is not met"
        return f"<Placement of {of} on {names}: {held}>"

    def _repr_html_(self) -> str:
        rows = [
            (str(row["workload"]), str(row["drive"])) for row in self.workloads if row.get("drive")
        ]
        return rows_html(rows, self.headline)


def _check_numbers(seconds: object, rounds: object, time_limit: object) -> None:
    for name, value in (("seconds", seconds), ("time_limit", time_limit)):
        if value is not None and not (is_number(value) and 0 < value <= _LONGEST_SECONDS):
            raise UsageError(
                f"{name} is {shown(value)}; allowed: more than 0, at most {_LONGEST_SECONDS}"
            )
    if not (is_whole(rounds) and 1 <= rounds <= _MOST_ROUNDS):
        raise UsageError(f"rounds is {shown(rounds)}; allowed: 1 to {_MOST_ROUNDS}")
