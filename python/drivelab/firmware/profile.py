"""Profile firmware: each workload once on the host and once on the target, record by record.

::

    workload ─> list of requests ─┬─> firmware on the host    ─> events, counts
                snapshot ─────────┼─> firmware on the target  ─> times, counts
                                  └─  counts of both must agree

A profile is a run whose steps are workloads: each is saved when it is done, and a stopped profile
resumes with the next. Every workload begins from the same snapshot of a full drive. If a model
predicts the target, only the host is run.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.errors import RunError, UsageError
from drivelab.firmware.counters import observe_counters
from drivelab.firmware.kind import FIRMWARE_PROFILE, observed_of
from drivelab.firmware.made_with import PROGRAMS, made_with, refuse_other_programs
from drivelab.firmware.own import identity
from drivelab.firmware.placed import placed
from drivelab.firmware.profiled import Observed, Profiled
from drivelab.firmware.record_logs import RecordLog, read_counted, read_observed
from drivelab.firmware.requests import RECORD_REQUESTS, request_chunks, write_requests
from drivelab.firmware.running import check_contract, run_together
from drivelab.runs.header import this_processor, this_start
from drivelab.runs.progress import Progress
from drivelab.runs.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.firmware.board_runs import Board
    from drivelab.firmware.own import OwnFirmware
    from drivelab.firmware.programs import Observer
    from drivelab.firmware.requests import RequestPlan
    from drivelab.workloads.workload import Workload

#: Time on the machine that emulates: no part of a result.
_WALL: Final = "wall_ns"
_PAGE_BYTES: Final = 1 << 14


@dataclass(frozen=True)
class FirmwareSettings:
    """How the firmware is run.

    Attributes
    ----------
    geometry
        Channels, ways, dies a way, blocks a die and pages a block: ``4x4x2x5120x512``.
    workers
        Cores that the firmware has.
    depth
        Requests outstanding.
    seed
        Seed of the snapshot, and of the order in which workers take turns.
    record_requests
        Requests of a record. With one of them, and one outstanding, a record is a request.
    """

    geometry: str = "4x4x2x5120x512"
    workers: int = 4
    depth: int = 64
    seed: int = 1
    record_requests: int = RECORD_REQUESTS

    def to_json(self) -> dict[str, Any]:
        """Return the content of a header; the default length of records is left out."""
        values = asdict(self)
        if self.record_requests == RECORD_REQUESTS:
            del values["record_requests"]
        return values

    @property
    def dies(self) -> int:
        """Of the drive."""
        channels, ways, dies, _, _ = map(int, self.geometry.split("x"))
        return channels * ways * dies

    @property
    def capacity_bytes(self) -> int:
        """Return the capacity that the host sees: four fifths of each plane's pages of 16 KiB."""
        *_, blocks, pages = map(int, self.geometry.split("x"))
        return self.dies * (blocks * pages * 4 // 5) * _PAGE_BYTES


@dataclass(frozen=True)
class Bench:
    """What a profile runs, and where.

    Attributes
    ----------
    host, target
        The processors; without a target the host is run alone.
    native
        The firmware for this machine, which makes the snapshot, or is checked.
    settings
        How the firmware is run.
    requests
        How many of a workload's requests, and the seed.
    target_parameters
        A file of other parameters of the target than the package's.
    own
        A firmware of one's own in the place of the page map. It has no snapshot: every run makes
        its drive anew.
    board
        What takes the place of the target.
    has_counters
        Host events come from the processor's own counters.
    """

    host: Observer
    target: Observer | None
    native: Path
    settings: FirmwareSettings
    requests: RequestPlan
    target_parameters: Path | None = None
    own: OwnFirmware | None = None
    board: Board | None = None
    has_counters: bool = False

    @property
    def drive(self) -> tuple[str, dict[str, str]]:
        """Of the drive the name, and what makes it the same."""
        if self.own is None:
            return "firmware:page-map", {}
        return f"firmware:{self.own.name}", identity(self.own)

    @property
    def programs(self) -> dict[str, Path]:
        """All that runs: by a word for each, its file."""
        emulated = {} if self.has_counters else {"host": self.host}
        if self.target is not None:
            emulated["target"] = self.target
        found = {"native": self.native, **{name: each.program for name, each in emulated.items()}}
        if emulated:
            found["plugin"] = self.host.plugin
        if self.board is not None:
            found["board"] = self.board.program
        return found


def profile_firmware(
    workloads: Mapping[str, Workload],
    bench: Bench,
    path: Path | None,
    *,
    command: str | None = None,
    progress: bool = True,
) -> list[Profiled]:
    """Profile workloads on host and target; see `observe_firmware`."""
    found = observe_firmware(workloads, bench, path, command=command, progress=progress)
    return [each for each in found if isinstance(each, Profiled)]


def observe_firmware(
    workloads: Mapping[str, Workload],
    bench: Bench,
    path: Path | None,
    *,
    command: str | None = None,
    progress: bool = True,
) -> list[Observed]:
    """Run the workloads that `path` lacks; return all, in order.

    Parameters
    ----------
    workloads
        By label.
    bench
        What to run, and how.
    path
        The run's folder; ``None`` keeps nothing.
    command
        The command line that resumes it, printed when it stops.
    progress
        Show progress on standard error.

    Raises
    ------
    UsageError
        If `path` contains something else.
    RunError
        When a program fails, or host and target counted differently.
    """
    origin = this_start(command)
    name, same = bench.drive
    header = {
        "kind": FIRMWARE_PROFILE.command,
        "drive": {
            "name": name,
            "kind": "simulated",
            "capacity_bytes": bench.settings.capacity_bytes,
            "identity": same,
        },
        "asked": {
            "workloads": [
                {"label": label, "workload": each.to_json()} for label, each in workloads.items()
            ]
        },
        "plan": {
            "requests": asdict(bench.requests),
            "firmware": bench.settings.to_json(),
            **_observed_by(bench),
            PROGRAMS: made_with(bench.programs),
        },
        "origin": origin,
    }
    refuse_other_programs(path, header)
    found: list[Observed] = []
    with Run(
        FIRMWARE_PROFILE,
        path,
        header,
        is_real=False,
        start=origin,
        command=command,
        total=len(workloads),
    ) as run:

        def every_workload(run: Run) -> None:
            bar = Progress(
                len(workloads),
                min(run.stored, len(workloads)),
                "workloads profiled",
                shown=progress,
                paused_seconds=lambda: run.paused_seconds,
            )
            with bar, tempfile.TemporaryDirectory(prefix="drivelab-firmware-") as folder:
                for position, (label, workload) in enumerate(workloads.items()):
                    is_new = position >= run.stored
                    step = _Step(label, workload, bench, Path(folder))
                    found.append(observed_of(run.step(position, step.is_same, step.take)))
                    if is_new:
                        bar.advance()

        run.carry_out(every_workload)
    return found


@dataclass(frozen=True)
class _Step:
    """A workload as a step of a run."""

    label: str
    workload: Workload
    bench: Bench
    folder: Path

    def is_same(self, entry: Mapping[str, Any]) -> bool:
        return entry.get("label") == self.label

    def take(self) -> dict[str, Any]:
        return _entry(observe(self.label, self.workload, self.bench, self.folder))


def observe(label: str, workload: Workload, bench: Bench, folder: Path) -> Observed:
    """Run one workload on all processors at once; a `Profiled` where the target is among them.

    Parameters
    ----------
    label, workload
        Which.
    bench
        What to run, and how.
    folder
        For files that only this takes; it keeps the snapshot for the next workload.

    Raises
    ------
    UsageError
        If it has too few requests, or they are not within the drive.
    RunError
        When a program fails, or host and target counted differently.
    """
    asked = folder / "requests"
    count = write_requests(asked, request_chunks(workload, bench.requests))
    needed = bench.settings.record_requests
    if count < needed:
        raise UsageError(
            f"{label} has {count:,} requests here, and a record has {needed:,}: run more of it "
            "with --part 1, or another workload"
        )
    # Names in the folder: a program keeps its words, and longer paths would move what it has.
    words = ["--requests", asked.name, *_drive_words(bench, folder), *_run_words(bench)]
    if bench.own is not None:
        check_contract(label, bench.own.name, [_native(bench), *words, "--check"], folder)
    outs: dict[str, tuple[Path, Path]] = {}
    commands = {}
    emulated = [(bench.target, bench.target_parameters)]
    if not bench.has_counters:
        emulated.insert(0, (bench.host, None))
    for observer, parameters in emulated:
        if observer is None:
            continue
        observed, counted = folder / f"{observer.name}.jsonl", folder / f"{observer.name}-own.jsonl"
        for file in (observed, counted):
            file.unlink(missing_ok=True)
        outs[observer.name] = observed, counted
        recorded = [*words, "--records", counted.name]
        moved = replace(observer, program=placed(observer.program, observer.name, folder))
        commands[observer.name] = moved.command(observed, parameters, recorded)
    run_together(list(commands.values()), folder)
    counts = {name: read_counted(own) for name, (_, own) in outs.items()}
    host = _host(bench, words, folder, outs)
    if bench.board is not None:
        there = ["--snapshot", "snapshot"] if bench.own is None else _drive_words(bench, folder)
        times = bench.board.observe(asked, [*there, *_run_words(bench)], folder)
        return Profiled(label, *host, times)
    if bench.target is None:
        return Observed(label, *host)
    _check_same(label, host[0], counts["target"])
    return Profiled(label, *host, read_observed(outs["target"][0]))


def _host(
    bench: Bench, words: Sequence[str], folder: Path, outs: Mapping[str, tuple[Path, Path]]
) -> tuple[RecordLog, RecordLog]:
    """Return the firmware's own counts on the host, and the host's events."""
    if not bench.has_counters:
        observed, counted = outs["host"]
        return read_counted(counted), read_observed(observed)

    def run(words: Sequence[str]) -> None:
        run_together([[_native(bench), *words]], folder)

    return observe_counters(run, words, folder)


def _observed_by(bench: Bench) -> dict[str, Any]:
    """Return what a run's plan says of who takes the emulated target's place."""
    events: dict[str, Any] = {}
    if bench.has_counters:
        events = {"events": "pmu", "processor": this_processor()}
    if bench.board is not None:
        return {"board": bench.board.described(), **events}
    if bench.target_parameters is not None:
        events["target_sha256"] = hashlib.sha256(bench.target_parameters.read_bytes()).hexdigest()
    return events if bench.target is not None else {"observed": [bench.host.name], **events}


def _run_words(bench: Bench) -> list[str]:
    settings = bench.settings
    return [
        *("--workers", str(settings.workers), "--depth", str(settings.depth)),
        *("--seed", str(settings.seed), "--record-requests", str(settings.record_requests)),
    ]


def _drive_words(bench: Bench, folder: Path) -> list[str]:
    """Return how the program is told its drive; make the snapshot unless it is there."""
    if bench.own is not None:
        return ["--geometry", bench.settings.geometry]
    snapshot = folder / "snapshot"
    if not snapshot.exists():
        _make_snapshot(bench, snapshot)
    return ["--snapshot", snapshot.name]


def _make_snapshot(bench: Bench, snapshot: Path) -> None:
    command = [
        *(_native(bench), "snapshot", "--out", snapshot.name),
        *("--geometry", bench.settings.geometry, "--seed", str(bench.settings.seed)),
    ]
    run_together([command], snapshot.parent)


def _native(bench: Bench) -> str:
    return str(bench.native.absolute())


def _check_same(label: str, host: RecordLog, target: RecordLog) -> None:
    """Refuse records of two processors on which the firmware did not do the same."""
    kept = [place for place, column in enumerate(host.columns) if column.name != _WALL]
    if host.columns != target.columns or not np.array_equal(
        host.values[:, kept], target.values[:, kept]
    ):
        raise RunError(
            f"the firmware counted differently on host and target under {label}: build both again "
            "from the same source (`make firmware`)"
        )


def _entry(observed: Observed) -> dict[str, Any]:
    """Return what the journal keeps of a workload."""
    logs = {"counted": observed.counted, "host": observed.host}
    if isinstance(observed, Profiled):
        logs["target"] = observed.target
    return {"label": observed.label, **{name: _log_json(log) for name, log in logs.items()}}


def _log_json(log: RecordLog) -> dict[str, Any]:
    return {
        "columns": [asdict(column) for column in log.columns],
        "values": [[int(value) for value in row] for row in log.values],
        "parameters": log.parameters,
    }
