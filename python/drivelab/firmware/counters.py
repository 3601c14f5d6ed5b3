"""Host events from the processor's own counters: the firmware is run once a group of events.

::

    drivelab-firmware --events cycles    ─> cpu_cycles, instructions, bus_cycles ─┐
    drivelab-firmware --events branches  ─> branches, branch_misses              ─┼─> a record
    ...                                                                          ─┘

Where several want counters, the kernel gives groups turns. A count is then multiplied by the time
in which the group was to count, over that in which it did; how much that was is kept. A group that
never had its turn has counted nothing, and is refused.
"""

from __future__ import annotations

import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.errors import RunError, UsageError
from drivelab.firmware.profiled import EVENTS
from drivelab.firmware.programs import why_failed
from drivelab.firmware.record_logs import RecordColumn, RecordLog, read_with_events
from drivelab.firmware.running import run_together

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

#: Groups of events, as `drivelab-firmware --events` calls them.
GROUPS: Final = ("cycles", "stalls", "branches", "last-cache", "first-cache", "micro-operations")
#: Where the kernel lists what can count; the processor's counters are one of these.
_SOURCES: Final = Path("/sys/bus/event_source/devices")
_PROCESSORS: Final = ("cpu", "cpu_core", "armv8")
#: What the firmware says of an event that it cannot count.
_NOT_COUNTED: Final = " cannot be counted: "
_SEE: Final = "; see drivelab-firmware"
_SMALL_DRIVE: Final = "1x1x1x64x64"
_TIME: Final = "time_ns"
_WALL: Final = "wall_ns"


def check_counters(sources: Path = _SOURCES) -> None:
    """Refuse a machine whose processor has no counters, or hides them.

    Raises
    ------
    UsageError
        When there are none.
    """
    names = [each.name for each in sources.iterdir()] if sources.is_dir() else []
    if not any(name.startswith(_PROCESSORS) for name in names):
        raise UsageError(
            "the processor of this machine shows no counters (many virtual machines hide them): "
            "leave --events pmu out, and the events come from qemu"
        )


def check_groups(native: Path) -> None:
    """Have the firmware open each group of events, before anything is run.

    Parameters
    ----------
    native
        The package's firmware for this machine.

    Raises
    ------
    UsageError
        When this processor does not count all of them, as many virtual machines do not.
    """
    reasons: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="drivelab-firmware-") as folder:
        here = Path(folder)
        # One read of the first page.
        (here / "requests").write_bytes(struct.pack("<QII", 0, 32, 0))
        run_together(
            [[str(native), "snapshot", "--out", "snapshot", "--geometry", _SMALL_DRIVE]], here
        )
        for group in GROUPS:
            words = ["--requests", "requests", "--snapshot", "snapshot", "--events", group]
            done = subprocess.run(
                [str(native), *words],
                cwd=here,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            if done.returncode != 0:
                said = why_failed(done.returncode, done.stderr).partition(_SEE)[0]
                event, _, reason = said.rpartition("--events: ")[2].partition(_NOT_COUNTED)
                reasons[event] = reason
    if reasons:
        why = next(iter(reasons.values()))
        raise UsageError(
            f"{', '.join(reasons)} cannot be counted{f': {why}' if why else ''}; leave --events "
            "pmu out, and the events come from qemu"
        )


def check_same_processor(header: Mapping[str, Any], processor: str | None) -> None:
    """Refuse to resume a run whose events were counted on another processor.

    Raises
    ------
    UsageError
        With both.
    """
    plan = header.get("plan") or {}
    before = plan.get("processor")
    if plan.get("events") == "pmu" and before != processor:
        raise UsageError(
            f"the run counted events on {before or 'a processor without a name'}, and this "
            f"machine has {processor or 'one without a name'}: resume there, or choose another "
            "--out"
        )


@dataclass(frozen=True)
class Corrected:
    """A group's events, corrected for the turns that it had.

    Attributes
    ----------
    values
        By event, a number a record.
    shares
        Of each record the part of the time in which the group counted.
    """

    values: dict[str, NDArray[np.float64]]
    shares: NDArray[np.float64]


def corrected(group: str, readings: Sequence[Mapping[str, Any]]) -> Corrected:
    """Correct raw readings, one a record.

    Raises
    ------
    RunError
        When the group never counted in a record, or a reading is none.
    """
    try:
        if any(each["group"] != group for each in readings):
            raise ValueError(group)
        enabled, running = (
            np.array([each[f"{name}_ns"] for each in readings], dtype=np.float64)
            for name in ("enabled", "running")
        )
        names = [name for name in readings[0] if name not in ("group", "enabled_ns", "running_ns")]
        raw = {name: np.array([each[name] for each in readings], dtype=float) for name in names}
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"the firmware reported no events {group}; build it again") from error
    never = np.flatnonzero((running <= 0) & (enabled > 0))
    if never.size:
        raise RunError(
            f"the events {group} were never counted in record {never[0]}: other programs use "
            "the counters; end them (perf, a watchdog), or leave --events pmu out"
        )
    shares = np.where(enabled > 0, running / np.maximum(enabled, 1), 1.0)
    return Corrected({name: counts / shares for name, counts in raw.items()}, shares)


def observe_counters(
    run: Callable[[Sequence[str]], None], words: Sequence[str], folder: Path
) -> tuple[RecordLog, RecordLog]:
    """Run the firmware once a group; return its own counts and the events.

    Parameters
    ----------
    run
        Runs the firmware with words, in the folder.
    words
        How it is run.
    folder
        For files that only this takes.

    Raises
    ------
    RunError
        When it fails, or does not do the same each time.
    """
    values: dict[str, NDArray[np.float64]] = {}
    shares: dict[str, float] = {}
    first: RecordLog | None = None
    for group in GROUPS:
        path = folder / f"events-{group}.jsonl"
        path.unlink(missing_ok=True)
        run([*words, "--events", group, "--records", path.name])
        counted, readings = read_with_events(path)
        found = corrected(group, readings)
        values |= found.values
        shares[group] = float(found.shares.min())
        first = counted if first is None else first
        if len(counted) != len(first):
            raise RunError("the firmware did not do the same in every run; build it again")
        # Of several runs the one that was least disturbed.
        wall = counted.column(_WALL)
        values[_TIME] = np.minimum(values.get(_TIME, wall), wall)
    if first is None or any(name not in values for name in EVENTS):
        raise RunError("the firmware did not report all events; build it again")
    columns = tuple(_column(name) for name in EVENTS)
    table = np.rint(np.column_stack([values[name] for name in EVENTS]))
    return first, RecordLog(columns, table, {"name": "counters", "counted_ratio": shares})


def told_shares(parameters: Mapping[str, Any]) -> str | None:
    """Say which groups had to share counters; ``None`` where none had."""
    shares = parameters.get("counted_ratio", {})
    shared = [f"{group} {100 * share:.0f} %" for group, share in shares.items() if share < 1]
    if not shared:
        return None
    return f"counters were shared; counted, at least, and scaled up: {', '.join(shared)}"


def _column(name: str) -> RecordColumn:
    if name == _TIME:
        return RecordColumn(name, "ns", "measured", "least time of the record, of a run a group")
    return RecordColumn(name, "count", "counted", "by the processor, the host's part too")
