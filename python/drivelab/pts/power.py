"""Power that a user measured during a test, matched to its steps by time: IOPS/W of real drives.

::

    time,watts          log      .-----.        .------.
    12:00:00,3.1        steps  |--1--|--2--|  |--3--|        each: the log integrated from its
    12:00:01,4.9                                             beginning to its end, in joules

Power is assumed to change linearly between two readings. A step that the log does not cover, or
where it pauses for longer than `MOST_GAP_SECONDS`, has no energy instead of a guess.
"""

from __future__ import annotations

import bisect
import csv
import hashlib
import io
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import DamagedError, UsageError
from drivelab.exhibits import Page, Table
from drivelab.named_file import read_file, read_text_file
from drivelab.store import check_inside
from drivelab.whole_file import write_whole
from drivelab.workloads.given import shown

if TYPE_CHECKING:
    from drivelab.pts.journal import Record, Step
    from drivelab.pts.test import Section

#: The file of a run with the log that its report was made with.
POWER_LOG: Final = "power.csv"
#: Keys that only some drives report: when a step began, and its energy.
BEGAN: Final = "began_unix_seconds"
ENERGY: Final = "energy_joules"
COLUMNS: Final = ("time", "watts")
_WHAT: Final = "a power log"
_INSTEAD: Final = "name a CSV of time,watts"
MOST_GAP_SECONDS: Final = 10.0
_MOST_BYTES: Final = 2**30
_MOST_WATTS: Final = 1e6


@dataclass(frozen=True)
class PowerLog:
    """Readings of a drive's power.

    Attributes
    ----------
    times
        Seconds since 1970 UTC, rising.
    watts
        Power at these times.
    """

    times: tuple[float, ...]
    watts: tuple[float, ...]

    def joules(self, begin: float, end: float) -> float | None:
        """Return the energy between two times; ``None`` if the log has a gap."""
        times = self.times
        if not times[0] <= begin < end <= times[-1]:
            return None
        first = bisect.bisect_right(times, begin)
        last = bisect.bisect_left(times, end)
        around = times[first - 1 : last + 1]
        gaps = (later - earlier for earlier, later in itertools.pairwise(around))
        if max(gaps, default=0.0) > MOST_GAP_SECONDS:
            return None
        points = [(begin, self._at(begin))]
        points += zip(times[first:last], self.watts[first:last], strict=True)
        points.append((end, self._at(end)))
        return math.fsum(
            (later - earlier) * (low + high) / 2
            for (earlier, low), (later, high) in itertools.pairwise(points)
        )

    def _at(self, time: float) -> float:
        place = bisect.bisect_left(self.times, time)
        if self.times[place] == time:
            return self.watts[place]
        earlier, later = self.times[place - 1], self.times[place]
        share = (time - earlier) / (later - earlier)
        return self.watts[place - 1] * (1 - share) + self.watts[place] * share


def read_power_log(path: Path) -> PowerLog:
    """Read a log: CSV with the columns ``time`` and ``watts``.

    Times are ISO 8601 with a zone (``2026-11-22T12:00:00+01:00``, ``...Z``) or seconds since 1970.

    Raises
    ------
    UsageError
        Names the line, what is wrong with it and what is allowed.
    """
    return _parsed(read_text_file(path, _WHAT, _MOST_BYTES, _INSTEAD), path)


def keep_power_log(run: Path, path: Path) -> None:
    """Copy a log into a run, with its checksum as the last line.

    Raises
    ------
    UsageError
        If it cannot be read.
    OSError
        If the copy cannot be written.
    """
    text = read_text_file(path, _WHAT, _MOST_BYTES, _INSTEAD)
    body = f"{text.rstrip()}\n".encode()
    check_inside(run, run / POWER_LOG)
    write_whole(run / POWER_LOG, body + _sum_of(body))


def read_kept_power_log(run: Path) -> PowerLog:
    """Read the log that a run contains.

    Raises
    ------
    DamagedError
        If it is not what `keep_power_log` wrote.
    """
    path = run / POWER_LOG
    data = read_file(path, _WHAT, 2 * _MOST_BYTES, _INSTEAD)
    body = data[: data.rfind(b"\n", 0, -1) + 1]
    if data != body + _sum_of(body):
        raise DamagedError(
            f"{path} is damaged, or of an older Drivelab: its last line is not its checksum; give "
            f"the log again: drivelab pts report {run} --power-log FILE.csv"
        )
    return _parsed(body.decode(), path)


def _sum_of(body: bytes) -> bytes:
    return f"# sha256 {hashlib.sha256(body).hexdigest()}\n".encode()


def _parsed(text: str, path: Path) -> PowerLog:
    try:
        return _read_rows(csv.reader(io.StringIO(text)), path)
    except csv.Error as error:
        raise UsageError(f"{path} is not a CSV of time,watts: {error}") from error


def _read_rows(rows: Any, path: Path) -> PowerLog:
    header = [name.strip().lower() for name in next(rows, [])]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise UsageError(
            f"{path} has no column {missing[0]!r}; a power log is a CSV that begins with the "
            f"line {','.join(COLUMNS)}"
        )
    time_column, watts_column = (header.index(name) for name in COLUMNS)
    times: list[float] = []
    watts: list[float] = []
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        where = f"{path}, line {rows.line_num}"
        if len(row) <= max(time_column, watts_column):
            raise UsageError(f"{where} has {len(row)} cells; allowed: {len(header)}")
        time = _time(row[time_column].strip(), where)
        if times and time <= times[-1]:
            raise UsageError(f"{where} is not later than the reading before; allowed: rising times")
        times.append(time)
        watts.append(_watts(row[watts_column].strip(), where))
    if len(times) < 2:
        raise UsageError(f"{path} has {len(times)} readings; allowed: at least 2")
    return PowerLog(tuple(times), tuple(watts))


def with_energy(record: Record, log: PowerLog) -> Record:
    """Return each step of a real drive its energy, if the log covers it.

    Raises
    ------
    UsageError
        If the log covers no step, or the steps do not say when they began.
    """
    if record.header["drive"]["kind"] == "simulated":
        raise UsageError(
            "a simulated drive has no power that could be measured; its energy is its preset's, "
            "[energy]"
        )
    spans = [_span(step) for step in record.steps]
    if any(span is None for span in spans):
        raise UsageError(
            "the test's steps do not say when they began: it was run by an earlier version"
        )
    steps = []
    for step, span in zip(record.steps, spans, strict=True):
        joules = None if span is None else log.joules(*span)
        if joules is not None:
            extra = {**step.result.extra, ENERGY: joules}
            steps.append(replace(step, result=replace(step.result, extra=extra)))
        else:
            steps.append(step)
    if record.steps and not any(ENERGY in step.result.extra for step in steps):
        ends = [span for span in spans if span is not None]
        raise UsageError(
            f"the power log does not cover the test: it goes from {_shown(log.times[0])} to "
            f"{_shown(log.times[-1])}, the test from {_shown(ends[0][0])} to "
            f"{_shown(ends[-1][1])}; readings must come at least every {MOST_GAP_SECONDS:g} s"
        )
    # Grouped again, from the steps with energy.
    return replace(record, steps=tuple(steps), _by_phase={})


def refuse_useless(sections: Sequence[Section]) -> None:
    """Raise `UsageError` if no stimulus of a record with a log's energy has IOPS/W.

    Sections without any stimulus, as in a test that was stopped early, do not count.
    """
    covered, total = _coverage(sections)
    if total and not covered:
        raise UsageError(
            f"the power log gives IOPS/W of none of the {total} stimuli: it has to cover every "
            f"step of a stimulus in the measurement window, with readings at least every "
            f"{MOST_GAP_SECONDS:g} s and a power above 0"
        )


def coverage_cautions(record: Record, sections: Sequence[Section]) -> list[str]:
    """Return whether a real drive's power log leaves stimuli without IOPS/W."""
    if record.is_simulated or not any(ENERGY in step.result.extra for step in record.steps):
        return []
    covered, total = _coverage(sections)
    if covered == total:
        return []
    return [
        f"{covered} of {total} stimuli are covered by the power log; the others have no IOPS/W."
    ]


def _coverage(sections: Sequence[Section]) -> tuple[int, int]:
    """Count the stimuli that have IOPS/W, and all that could have."""
    known = [cell["iops_per_watt"] is not None for _, cell in _stimuli(sections)]
    return sum(known), len(known)


def _stimuli(sections: Sequence[Section]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what may have IOPS/W, each with its name; streams at the same time are one."""
    for section in sections:
        total = section.values.get("total")
        cells = section.values.get("cells", ()) if total is None else ()
        before = f"{section.name}: " if section.name else ""
        for cell in cells:
            yield f"{before}{_stimulus_text(cell)}", cell
        if total is not None:
            yield f"{before}all streams", total
        for state in section.values.get("wait_states", ()):
            yield f"{before}between idle times, wait state {state['wait_ratio']}", state


def efficiency_page(sections: Sequence[Section], *, is_simulated: bool) -> Page | None:
    """Show IOPS/W of every stimulus whose energy is known; ``None`` if there is none."""
    rows = []
    for name, cell in _stimuli(sections):
        efficiency = cell["iops_per_watt"]
        if efficiency:
            iops = cell["iops_mean"]
            rows.append((name, iops, iops / efficiency, efficiency))
    if not rows:
        return None
    source = "the drive's energy model" if is_simulated else "the given power log"
    table = Table(
        "efficiency",
        ("stimulus", "IOPS", "power (W)", "IOPS/W"),
        tuple(rows),
        title="IOPS/W: the measurement window",
        note=f"Requests over the joules of {source}.",
    )
    return Page("Power efficiency", (table,))


def _stimulus_text(cell: dict[str, Any]) -> str:
    if "part" in cell:
        return str(cell["part"])
    size = "composite" if cell["block_bytes"] is None else f"{cell['block_bytes'] / 1024:g} KiB"
    read = round(100 * cell["read_ratio"])
    order = "random" if cell["is_random"] else "sequential"
    demand = f"{cell['threads']} x {cell['queue_depth']}"
    return f"{size} {order} R/W {read}/{100 - read}, {demand}"


def _span(step: Step) -> tuple[float, float] | None:
    began = step.result.extra.get(BEGAN)
    return None if began is None else (began, began + step.result.duration_ns / 1e9)


def _time(text: str, where: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        pass
    else:
        if math.isfinite(seconds):
            return seconds
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise UsageError(
            f"{where}: the time is {shown(text)}; allowed: seconds since 1970, or ISO 8601 with "
            "its zone, as 2026-11-22T12:00:00Z"
        )
    return time.timestamp()


def _watts(text: str, where: str) -> float:
    try:
        watts = float(text)
    except ValueError:
        watts = math.nan
    if not 0 <= watts <= _MOST_WATTS:
        raise UsageError(
            f"{where}: the power is {shown(text)}; allowed: a number of watts from 0 on"
        )
    return watts


def _shown(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, ValueError, OSError):
        return f"{seconds:g} s"
