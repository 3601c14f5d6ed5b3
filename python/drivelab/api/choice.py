"""Choosing a drive for a workload: measure it on each drive, rank them, say how sure that is."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from drivelab.api.drive import Drive
from drivelab.api.html_tables import table_html
from drivelab.api.path_text import path_text
from drivelab.api.saved import write_page
from drivelab.api.spelled import spelled_in_python
from drivelab.core_panic import panic_errors
from drivelab.drives.asked import plan_for, refuse_without_effect, usual_writes
from drivelab.drives.naming import kind_of, open_drive, preview_real_drive
from drivelab.drives.write_pattern import BURST, write_pattern
from drivelab.errors import UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.given import is_whole, shown
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.trace import Trace

if TYPE_CHECKING:
    from drivelab.choose import ranking
    from drivelab.choose.costs import Cost
    from drivelab.choose.settings import Asked
    from drivelab.drives import protocol
    from drivelab.drives.plan import MeasurementPlan

    Asking: TypeAlias = Characteristics | Scenario | Trace

_BY = ("latency", "p99", "bandwidth", "throughput")
_MOST_REPETITIONS = 1000
_EXAMPLE = "['sim:x25m', 'sim:low-latency']"


def choose_drive(
    workload: Characteristics | Trace | str | os.PathLike[str],
    drives: Iterable[Drive | str],
    *,
    by: Literal["latency", "p99", "bandwidth", "throughput"] = "latency",
    repetitions: int | None = None,
    prices: str | os.PathLike[str] | None = None,
    rate: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    requests: int | None = None,
    half_width_ratio: float | None = None,
    max_requests: int | None = None,
    warmup_seconds: float | None = None,
    warmup_requests: int | None = None,
    workers: int | None = None,
    content: str | None = None,
    writes: str | None = None,
    progress: bool = True,
) -> Choice:
    """Run one workload on several drives, rank them, and say how sure the ranking is.

    Parameters
    ----------
    workload
        `Characteristics`, a trace (`drivelab.trace`), or a scenario: its name, such as ``"tpc-c"``,
        or its TOML file.
    drives
        Two or more: drives, or names of drives that `drivelab.drive` opens without options.
    by
        The quality that ranks the drives; ``"latency"`` is the mean.
    repetitions
        Measurements of each drive, with the same random numbers on all: 5 by default; for a trace,
        1 on drives that do not vary.
    prices
        A CSV table of costs, with the columns drive, price, watts and optionally capacity.
    rate
        With `prices`: also return what it costs to serve this many requests per second.
    seed
        Key of all random numbers.
    seconds, requests, half_width_ratio, max_requests
    warmup_seconds, warmup_requests, workers, content
        Length of each measurement, as in `Drive.measure`.
    writes
        State in which writes find the drive: ``"sustained"`` or ``"burst"``. On simulated drives
        ``"sustained"`` by default.
    progress
        Whether to show progress on standard error.

    Raises
    ------
    DrivelabError
        When a drive cannot run the workload (found before any drive is measured), when options
        contradict each other, or when a drive fails.

    Examples
    --------
    >>> import drivelab as dl
    >>> asked = dl.Characteristics(queue_depth=4, read_size="16KiB")
    >>> drives = ["sim:x25m", "sim:low-latency"]
    >>> choice = dl.choose_drive(asked, drives, requests=500, progress=False)
    >>> choice
    <Choice for 16 KiB random reads, queue depth 4: sim:low-latency, sim:x25m>
    >>> choice.statements[0]["is_carried"]
    True
    """
    from drivelab.choose.asking import asked_of, candidate_of, refuse_rates
    from drivelab.choose.candidate import QUALITIES
    from drivelab.choose.costs import costs
    from drivelab.choose.ranking import choose
    from drivelab.prices import read_prices

    drives = _several(drives)
    names = _names(drives)
    asking, called = _workload_of(workload)
    if by not in _BY:
        raise UsageError(f"by is {shown(by)}; allowed: {', '.join(_BY)}")
    if repetitions is not None and not (
        is_whole(repetitions) and 2 <= repetitions <= _MOST_REPETITIONS
    ):
        raise UsageError(f"repetitions is {shown(repetitions)}; allowed: 2 to {_MOST_REPETITIONS}")
    if rate is not None and not (is_whole(rate) and rate >= 1):
        raise UsageError(f"rate is {shown(rate)}; allowed: a whole number from 1 on")
    if rate is not None and prices is None:
        raise UsageError("rate is for prices: name a table of prices with prices='FILE.csv'")
    refuse_rates(asking, by, has_rate=rate is not None)
    table = None
    if prices is not None:
        table = read_prices(Path(path_text(prices, "a table of prices", "prices.csv")), names)
    options = {
        "seconds": seconds,
        "requests": requests,
        "half_width_ratio": half_width_ratio,
        "max_requests": max_requests,
        "warmup_seconds": warmup_seconds,
        "warmup_requests": warmup_requests,
        "workers": workers,
        "content": content,
        "writes": writes,
    }
    _refuse_said_twice(asking, options)
    plans = {name: _plan(name, asking, seed, options) for name in names}
    with panic_errors(), spelled_in_python():
        varying = tuple(
            name for name, each in zip(names, drives, strict=True) if _varies(each, asking)
        )
        asked = asked_of(
            asking,
            called,
            seed=seed,
            repetitions=repetitions,
            varying=varying,
            writes=[_writes(name, asking, writes) for name in names],
        )
        candidates = []
        for name, each in zip(names, drives, strict=True):
            with _opened(each, asking) as opened:
                candidates.append(
                    candidate_of(opened, asking, plans[name], asked, progress=progress)
                )
    found = choose(candidates, QUALITIES[by])
    priced = () if table is None else costs(found.candidates, table, rate)
    return Choice(found, asked, priced)


@dataclasses.dataclass(frozen=True, repr=False)
class Choice:
    """Drives under one workload, the best first; made by `drivelab.choose_drive`."""

    _found: ranking.Choice
    _asked: Asked
    _costs: tuple[Cost, ...] = ()

    @property
    def workload(self) -> str:
        """Name of the workload for people."""
        return self._asked.name

    @property
    def headline(self) -> str:
        """A sentence that says which drive is ahead."""
        return str(self.to_json()["headline"])

    @property
    def cautions(self) -> list[str]:
        """A sentence for each drive that cannot keep up or sent a small part of a trace late."""
        return list(self.to_json()["cautions"])

    @property
    def drives(self) -> list[dict[str, Any]]:
        """One row per drive, the best first, for ``pandas.DataFrame(choice.drives)``.

        Keys: ``rank``, ``drive``, ``keeps_up``, and each quality with the ends of its 95 %
        interval, such as ``latency_ns_mean_low``. docs/json-choose.md lists all keys.
        """
        return list(self.to_json()["drives"])

    @property
    def statements(self) -> list[dict[str, Any]]:
        """One row per quality and pair of drives: the ratio, and whether it is significant."""
        return list(self.to_json()["statements"])

    @property
    def streams(self) -> list[dict[str, Any]]:
        """One row per stream, kind of request and drive."""
        return list(self.to_json()["streams"])

    @property
    def costs(self) -> list[dict[str, Any]]:
        """One row per drive with its costs; empty without prices."""
        return list(self.to_json()["costs"])

    def to_json(self) -> dict[str, Any]:
        """Return all results, as ``drivelab choose --json`` prints them."""
        from drivelab.choose.answer import answer_of

        return answer_of(self._found, self._asked, self._costs)

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
        from drivelab.choose.exhibits import choice_report

        names = ", ".join(sorted(one.drive for one in self._found.candidates))
        return write_page(
            choice_report(self._found, self._asked, self._costs),
            path,
            f"the choice between {names} for {self.workload}, in Python",
        )

    def __repr__(self) -> str:
        names = ", ".join(one.drive for one in self._found.candidates)
        return f"<Choice for {self.workload}: {names}>"

    def _repr_html_(self) -> str:
        from drivelab.choose.exhibits import ranking_table

        return table_html(ranking_table(self._found, self._asked), self.headline)


def _several(drives: object) -> list[Drive | str]:
    """Return the drives as a list; an iterator can be read only once."""
    if isinstance(drives, str | os.PathLike | Drive):
        raise UsageError("drives is one drive, and there is nothing to choose; give a list of them")
    if not isinstance(drives, Iterable):
        raise UsageError(f"drives is {shown(drives)}; give a list such as {_EXAMPLE}")
    return list(drives)


def _names(drives: Sequence[Drive | str]) -> list[str]:
    names = [
        each.name if isinstance(each, Drive) else path_text(each, "a drive", "sim:x25m")
        for each in drives
    ]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is named twice; name each drive once")
    if len(names) < 2:
        raise UsageError("there is nothing to choose; name two drives or more")
    return names


def _workload_of(workload: object) -> tuple[Asking, str]:
    """Return the workload, and its name for people."""
    from drivelab.choose.asking import name_of
    from drivelab.drives.simulated.scenarios import read_scenario

    if isinstance(workload, Characteristics):
        workload.validate()
        return workload, name_of(workload)
    if isinstance(workload, Trace):
        return workload, name_of(workload)
    reference = path_text(workload, "a scenario", "tpc-c")
    if_trace = f"read it with drivelab.trace({reference!r})"
    return read_scenario(reference, if_trace=if_trace), re.sub(r"\.toml$", "", Path(reference).name)


def _refuse_said_twice(workload: Asking, options: dict[str, Any]) -> None:
    """Refuse options that the workload already determines."""
    if isinstance(workload, Characteristics):
        return
    if isinstance(workload, Scenario):
        for name in ("content", "writes"):
            if options[name] is not None:
                raise UsageError(f"a scenario already sets what is sent: leave out {name}")
        return
    for name in ("warmup_seconds", "warmup_requests"):
        if options[name] is not None:
            raise UsageError(
                f"{name} has no effect on a trace, which is counted from its first request on"
            )
    if options["writes"] not in (None, BURST):
        raise UsageError(
            f"writes={options['writes']!r} has no effect on a trace: its writes find the drive "
            "as found"
        )


def _writes(name: str, workload: Asking, writes: str | None) -> str | None:
    if writes is None and write_pattern(workload) is not None:
        return usual_writes(name)
    return writes


def _plan(name: str, workload: Asking, seed: int, options: dict[str, Any]) -> MeasurementPlan:
    asked = options | {"writes": _writes(name, workload, options["writes"])}
    refuse_without_effect(name, asked)
    return plan_for(name, seed=seed, asked=asked)


def _varies(drive: Drive | str, workload: Asking) -> bool:
    """Refuse a workload that the drive cannot run; return whether the drive varies."""
    from drivelab.choose.asking import varies

    if not isinstance(drive, Drive) and kind_of(drive) == "real":
        preview = preview_real_drive(drive, allow_destructive=None, size_bytes=None, keep=False)
        preview.check(workload)
        return True
    with _opened(drive, workload) as opened:
        opened.check(workload)
        return varies(opened)


def _opened(drive: Drive | str, workload: Asking) -> AbstractContextManager[protocol.Drive]:
    """Open a drive that is given by name; leave a given open drive to its owner."""
    if isinstance(drive, Drive):
        return nullcontext(drive.opened)
    intended = [workload] if isinstance(workload, Characteristics) else []
    return open_drive(path_text(drive, "a drive", "sim:x25m"), intended=intended)
