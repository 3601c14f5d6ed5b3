"""Simulated drives: a preset of the package or of a file, measured in simulated time."""

from __future__ import annotations

import copy
import json
import sys
import time
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from drivelab import _core
from drivelab._core import SECTOR_BYTES, available_cores
from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.measurement import Measurement
from drivelab.drives.presets.firmware_costs import refuse_unknown_source
from drivelab.drives.presets.source import read_preset
from drivelab.drives.simulated.asked import (
    asked_window,
    nanoseconds,
    own_interval_ns,
    planned_window,
    refuse_writes_anywhere,
    settled_by,
    streams_of,
)
from drivelab.drives.simulated.filled import filled_words
from drivelab.drives.simulated.namespaces import namespaces_json
from drivelab.drives.simulated.session import SimulatedSession
from drivelab.drives.simulated.simulation import (
    Simulation,
    operations,
    series_json,
    stream_json,
    stream_results,
    submitted_requests,
)
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.memory import available_bytes, lacking, peak_bytes
from drivelab.named_file import check_file, read_file
from drivelab.units import format_size
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.content import USUAL
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.side_by_side import SideBySide
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.trace import Trace
from drivelab.workloads.trace_length import refuse_long
from drivelab.workloads.whole_pass import WholePass
from drivelab.workloads.workload import ends_by_itself, told_by_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from drivelab.drives.plan import MeasurementPlan, StoppedBy
    from drivelab.drives.presets.firmware_costs import OwnSource
    from drivelab.drives.presets.source import PresetSource
    from drivelab.drives.stream_result import StreamResult
    from drivelab.workloads.scenario import Occupancy
    from drivelab.workloads.workload import Workload

PREFIX = "sim:"
# A change of state takes 5 bytes of a file and more than 4 of memory; a frame is small.
_LEAST_STATE_BYTES = 1 << 20
_MOST_LIBRARY_BYTES = 1 << 28


class SimulatedDrive(ClosedOnExit):
    """A drive that exists as a preset.

    Parameters
    ----------
    name
        ``sim:`` followed by a preset's name or the path of a TOML file.
    source
        The preset's text, and those of the presets in its folder that it starts from.
    varies
        Whether runs differ as the preset's ``[variability]`` says; without it every run takes the
        preset's own times.
    like
        A drive that has measured something. If this drive differs from it only in times, the host's
        side and buffers, it reuses that drive's initial state.

    Attributes
    ----------
    variability
        ``none`` if the preset has none, ``on``, or ``off`` if it was turned off.
    """

    kind: ClassVar[Literal["simulated"]] = "simulated"
    block_bytes: ClassVar[int] = SECTOR_BYTES

    def __init__(
        self,
        name: str,
        source: PresetSource,
        *,
        varies: bool = True,
        like: SimulatedDrive | None = None,
    ) -> None:
        self.name = name
        #: The preset that it is made from.
        self.source = source
        with source.named():
            self._core: _core.SimulatedDrive = _core.SimulatedDrive(
                source.toml_text,
                source.base_texts,
                varies=varies,
                like=None if like is None else like._core,
            )
        self.variability = self._core.variability
        self.capacity_bytes = self._core.capacity_bytes
        self.preset: dict[str, Any] = json.loads(self._core.resolved_json())
        #: The state before the first request; a hard disk has none.
        self.condition: str | None = self.preset.get("condition")
        self._most_workers: int | None = None
        # The same drive, filled as scenarios say.
        self._occupancy: Occupancy | None = None
        self._occupied: dict[Occupancy, SimulatedDrive] = {}

    @classmethod
    def open(
        cls, name: str, *, varies: bool = True, own_firmware: OwnSource | None = None
    ) -> SimulatedDrive:
        """Open ``sim:NAME`` or ``sim:FILE.toml``, with or without its variability.

        With the source of the user's own firmware only `simulate`, with its library, is possible.

        Raises
        ------
        UsageError
            If there is no such preset or file, or its values are impossible.
        """
        return cls(name, read_preset(name.removeprefix(PREFIX), own_firmware), varies=varies)

    def identity(self) -> dict[str, Any]:
        """Return what determines how the drive behaves."""
        switched = {"variability": self.variability} if self.variability == "off" else {}
        return {
            "name": self.name,
            "kind": self.kind,
            **switched,
            "config_hash": self._core.config_hash,
            "preset": self.preset,
        }

    def variability_factors(
        self, indices: Sequence[int], *, seed: int, seconds: float
    ) -> list[float]:
        """Return the factor by which each measurement takes longer than the preset says.

        Parameters
        ----------
        indices
            Indices of the measurements.
        seed
            Key of all random numbers.
        seconds
            Duration of each without variability.
        """
        return self._core.variability_factors(list(indices), seed, round(seconds * 1e9))

    def prepare(self) -> None:
        """Bring the drive into its condition, as the first run would."""
        self._core.prepare()

    def _filled_for(self, workload: Workload) -> SimulatedDrive:
        """Return the drive as a scenario wants it filled; itself if the preset decides."""
        wanted = workload.occupancy if isinstance(workload, Scenario) else None
        if wanted in (None, self._occupancy):
            return self
        if wanted not in self._occupied:
            filled = copy.copy(self)
            filled._core = self._core.filled(*wanted)
            filled.preset = json.loads(filled._core.resolved_json())
            filled._occupancy, filled._most_workers = wanted, None
            # A state takes memory, so only that of the last scenario is kept.
            self._occupied = {wanted: filled}
        return self._occupied[wanted]

    def check(self, workload: Workload) -> None:
        """Raise if the drive cannot answer for `workload`."""
        self._filled_for(workload)
        if isinstance(workload, Characteristics):
            workload.validate(self.capacity_bytes)
        if isinstance(workload, Trace):
            self._check_trace(workload)
        end = workload.footprint_bytes
        if end is not None and end > self.capacity_bytes:
            raise UsageError(
                f"{self.name} is asked for what ends at {end} bytes ({workload.describe()}); "
                f"allowed: at most the drive's {self.capacity_bytes}"
            )
        if self.condition == "fresh" and _only_finds_what_was_there(workload):
            raise CannotAnswerError(
                f"{self.name} is fresh and has no data to read: measure writes only "
                "(--write-ratio 1, a profile's --op write), or a drive whose condition is "
                "filled or preconditioned"
            )

    def _check_trace(self, trace: Trace) -> None:
        refuse_long(trace, "a simulated run")
        end = trace.footprint_bytes
        if end is not None and end > self.capacity_bytes:
            others = {"keep": "--fit wrap or --fit scale", "scale": "--fit wrap"}[trace.fit]
            raise UsageError(
                f"the trace on {self.name} ends at {end} bytes ({format_size(end)}); allowed: at "
                f"most the drive's {self.capacity_bytes} ({format_size(self.capacity_bytes)}); fit "
                f"it to the drive with {others}, or choose one device"
            )

    def measure(
        self,
        work: Sequence[tuple[int, Workload]],
        plan: MeasurementPlan,
        *,
        range_bytes: int | None = None,
    ) -> Iterator[Measurement]:
        """Measure every workload in order, from the preset's condition or after sustained writes.

        Random numbers are keyed by the plan's seed and the workload's index, so results depend
        neither on the other workloads nor on the number of threads. Requests of characteristics go
        to the drive's first `range_bytes`, or anywhere.
        """
        for _, workload in work:
            self.check(workload)
        for drive, alike in groupby(work, key=lambda each: self._filled_for(each[1])):
            yield from drive._measured(list(alike), plan, range_bytes)

    def _measured(
        self, work: Sequence[tuple[int, Workload]], plan: MeasurementPlan, range_bytes: int | None
    ) -> Iterator[Measurement]:
        asked, by_stream = [], []
        for index, workload in work:
            streams = streams_of(workload, plan.content, range_bytes)
            refuse_writes_anywhere(self.name, self.preset, streams)
            holding = plan.holding(ends_by_itself=ends_by_itself(workload, streams))
            window = planned_window(workload, streams, holding, self.capacity_bytes)
            asked.append((index, streams, window, settled_by(workload, plan)))
            by_stream.append(told_by_stream(workload, streams))
        measuring = self._core.measure(
            asked,
            seed=plan.seed,
            workers=self._workers(plan.workers),
            range_bytes=range_bytes,
        )
        try:
            for (index, workload), has_streams in zip(work, by_stream, strict=True):
                result = next(measuring, None)
                if result is None:
                    raise RunError(f"{self.name} gave no result for measurement {index}")
                found = stream_results(result, may_be_late=_may_be_late(workload))
                yield _measurement(index, workload, result, found if has_streams else ())
        finally:
            # Threads measure ahead; results that are not taken are dropped.
            measuring.close()

    def simulate(
        self,
        workload: Workload,
        *,
        content: str = USUAL,
        seed: int = 0,
        warmup_requests: int | None = None,
        requests: int | None = None,
        seconds: float | None = None,
        interval_seconds: float | None = None,
        firmware: Path | None = None,
        log_requests: int | None = None,
        from_state: Path | None = None,
        keeps_state: bool = False,
        progress: Callable[[float, int, int, int, bool], None] | None = None,
    ) -> Simulation:
        """Run a workload from the preset's condition; return all results (docs/json-measure.md).

        Parameters
        ----------
        workload
            The streams, and their default duration.
        content
            Kind of the written data of characteristics.
        seed
            Key of all random numbers.
        warmup_requests
            Requests that complete before the window opens.
        requests, seconds
            The window closes at this many requests or this much simulated time, whichever comes
            first.
        interval_seconds
            Length of the intervals of the time series, in simulated time.
        firmware
            A shared library that replaces the drive's firmware
            (crates/ftl/include/drivelab_firmware.h).
        log_requests
            Number of requests of the window that are recorded one by one, from the first.
        from_state
            A file with the state from which the run starts instead, saved by an earlier run.
        keeps_state
            Whether to return the final state.
        progress
            Called a few times per second with the share of the window that is over, requests
            completed, simulated ns, requests outstanding and whether they drain.

        Raises
        ------
        UsageError
            If the drive cannot be asked for this, or the state is from another drive or damaged.
        RunError
            If the run fails, or loses a request.
        """
        drive = self._filled_for(workload)
        drive._workers(1)
        if firmware is not None:
            # The native core reads the whole file, and would wait for a pipe.
            check_file(firmware, "a firmware library", _MOST_LIBRARY_BYTES, "name FILE.so")
            if drive.source.own_firmware is None:
                refuse_unknown_source(drive.source.modelled_time, firmware)
        state = drive._state(from_state)
        started = time.perf_counter()
        if firmware is None:
            drive.prepare()
        prepared = time.perf_counter()
        streams = streams_of(workload, content)
        reported = drive._core.simulate(
            streams,
            asked_window(
                workload,
                warmup_requests=warmup_requests,
                requests=requests,
                duration_ns=nanoseconds(seconds),
            ),
            seed=seed,
            interval_ns=nanoseconds(interval_seconds) or own_interval_ns(workload),
            firmware=firmware,
            log_requests=log_requests,
            from_state=state,
            keeps_state=keeps_state,
            progress=progress,
        )
        log = reported.get("log", {"requests": None, "dropped": None, "parquet": None})
        asked = [each.described() for each in streams]
        described = drive._described(reported, asked)
        if not _may_be_late(workload):
            for each in described["streams"]:
                each.pop("lateness", None)
        values = {
            "drive": self.name,
            "kind": self.kind,
            "condition": self.condition,
            "occupancy": filled_words(drive._core.filled_words(), drive.preset),
            "from_state": None if from_state is None else str(from_state),
            "capacity_bytes": self.capacity_bytes,
            "config_hash": drive._core.config_hash,
            "seed": seed,
            "requests": submitted_requests(reported),
            "loop_wall_seconds": reported["loop_wall_seconds"],
            "page_programs": reported.get("page_programs"),
            "peak_memory_bytes": peak_bytes(),
            "preparation_wall_seconds": prepared - started,
            **described,
            "logged_requests": log["requests"],
            "dropped_requests": log["dropped"],
        }
        return Simulation(values, asked, log["parquet"], reported.get("state"))

    def _state(self, path: Path | None) -> tuple[Path, bytes] | None:
        """Read a saved state; return it with its file's name for messages."""
        if path is None:
            return None
        most_bytes = 2 * self._core.state_bytes + _LEAST_STATE_BYTES
        return path, read_file(path, "a state", most_bytes, "name the state of a drive")

    def serve(self, asked: _core.LiveAsked, *, from_state: Path | None = None) -> _core.LiveServer:
        """Serve the drive to programs, in its condition or a saved state.

        Raises
        ------
        UsageError
            If it cannot be served like this, or the state is from another drive or damaged.
        """
        if "zones" in self.preset:
            raise UsageError(
                "a drive with zones cannot be served, as programs would have to reset them; "
                "allowed: a drive without [zones]"
            )
        self._workers(1)
        return self._core.serve(asked, from_state=self._state(from_state))

    def _described(self, reported: dict[str, Any], asked: list[dict[str, Any]]) -> dict[str, Any]:
        duration_ns = reported["duration_ns"]
        series = reported.get("series")
        is_flash = reported["flash"] is not None
        # In an array, channels and units belong to its members.
        is_one = not reported["members"]
        return {
            "duration_ns": duration_ns,
            "stopped_by": reported["stopped_by"],
            "warmup_requests": reported["warmup_requests"],
            "counted_requests": reported["counted_requests"],
            "streams": [
                stream_json(plan, stream, duration_ns)
                for plan, stream in zip(asked, reported["streams"], strict=True)
            ],
            "flash": reported["flash"],
            "disk": reported["disk"],
            # Only with the user's own firmware.
            **(
                {"firmware_counts": reported["firmware_counts"]}
                if reported["firmware_counts"]
                else {}
            ),
            # Only for a drive with placement handles.
            **({} if reported["placement"] is None else {"placement": reported["placement"]}),
            # Only for an array with copies or parity.
            **({"array": reported["array"]} if reported.get("array") else {}),
            # Only for a drive with namespaces.
            **self._namespaces(reported, asked),
            # Only for a drive with zones.
            **({} if reported["zones"] is None else {"zones": reported["zones"]}),
            "energy": reported["energy"],
            "variability": self.variability,
            "variability_factor": reported["variability_factor"],
            "members": reported["members"],
            "unit": self._unit() if is_flash else None,
            "channel_utilisation_ratio": reported.get("channel_utilisation_ratio")
            if is_one
            else None,
            "unit_utilisation_ratio": reported.get("unit_utilisation_ratio") if is_one else None,
            "series": None if series is None else series_json(series, duration_ns),
        }

    def _namespaces(self, reported: dict[str, Any], asked: list[dict[str, Any]]) -> dict[str, Any]:
        if reported["namespaces"] is None:
            return {}
        streams = [
            (plan["namespace"], stream["result"])
            for plan, stream in zip(asked, reported["streams"], strict=True)
        ]
        counters, duration_ns = reported["namespaces"], reported["duration_ns"]
        return {"namespaces": namespaces_json(counters, self.preset, streams, duration_ns)}

    def _unit(self) -> str:
        preset = self.preset.get("member_preset", self.preset)
        if preset["scheduling"].get("unit") == "chip":
            return "chip"
        return "plane" if preset["geometry"]["plane_mode"] else "die"

    def timeline(
        self, direction: str, record_bytes: int
    ) -> tuple[list[dict[str, Any]], list[_core.CoreWork]]:
        """Return the flash operations of one request on the idle drive, and the work of cores.

        If the drive's firmware is free, no core works. Each piece of work has its core, whether it
        is for the host, and its start and end in ns.
        """
        self._workers(1)
        return self._core.record_timeline(direction, record_bytes)

    def timeline_of_run(
        self,
        workload: Workload,
        *,
        content: str = USUAL,
        seed: int,
        from_ns: int,
        to_ns: int,
        most: int,
    ) -> tuple[list[dict[str, Any]], list[_core.CoreWork]]:
        """Return the flash operations in a span of a run, and the work of cores.

        Each list has at most `most` entries and one more.

        Parameters
        ----------
        workload
            The workload, which starts in the preset's condition.
        content
            Kind of the written data of characteristics.
        seed
            Key of all random numbers.
        from_ns, to_ns
            The span, in ns from the beginning of the run.
        most
            Limit on the entries; one more means that there are more.
        """
        drive = self._filled_for(workload)
        drive._workers(1)
        return drive._core.record_span(
            streams_of(workload, content),
            asked_window(workload, warmup_requests=0, requests=None, duration_ns=to_ns),
            seed=seed,
            from_ns=from_ns,
            to_ns=to_ns,
            most=most,
        )

    def _workers(self, wanted: int | None) -> int:
        """Return how many threads to use: at most as many states as fit into memory."""
        if self._most_workers is None:
            self._most_workers = _workers_that_fit(self.name, self._core.state_bytes)
        return min(wanted or available_cores(), self._most_workers)

    @property
    def session_bytes(self) -> int:
        """Return the memory of a session: its initial state, and what is done to it."""
        return _needed_bytes(self._core.state_bytes)

    @property
    def file(self) -> None:
        """Return None: it is no file of this machine."""

    def leave(self, *, only_found: bool = False) -> None:
        """Do nothing: no file is made."""

    def take_up(self) -> None:
        """Do nothing: no file was left."""

    def session(self, *, seed: int = 0) -> SimulatedSession:
        """Start a session in the preset's condition; `RunError` if memory is too small."""
        self._workers(1)
        return SimulatedSession(self, self.preset, self._core.session(seed=seed))

    def close(self) -> None:
        """Nothing to release."""


def _workers_that_fit(name: str, state_bytes: int) -> int:
    available = available_bytes()
    if available is None:
        return sys.maxsize
    # The prepared state, and one state per worker with space for what its run needs.
    fitting = (available - state_bytes) * 8 // (state_bytes * 9)
    if fitting < 1:
        raise lacking(name, _needed_bytes(state_bytes), "use a drive with fewer pages")
    return fitting


def _needed_bytes(state_bytes: int) -> int:
    return state_bytes * 17 // 8


def _only_finds_what_was_there(workload: Workload) -> bool:
    """Return whether its reads, if any, find only data from before."""
    if isinstance(workload, SideBySide):
        return any(_only_finds_what_was_there(each.workload) for each in workload.parts)
    if isinstance(workload, Characteristics):
        return workload.write_ratio < 1.0
    if isinstance(workload, Stimuli):
        return any(each.read_ratio > 0 for each in workload.stimuli)
    return isinstance(workload, WholePass) and workload.direction == "read"


def _may_be_late(workload: Workload) -> bool:
    return not isinstance(workload, Trace) or workload.has_times


def _measurement(
    index: int, workload: Workload, result: dict[str, Any], streams: tuple[StreamResult, ...]
) -> Measurement:
    batches = result["batches"]
    duration_ns = result["duration_ns"]
    # A pass is over with its last request.
    stopped_by: StoppedBy = result["stopped_by"] or "requests"
    read, write = operations(result)
    return Measurement(
        index=index,
        workload=workload,
        duration_ns=duration_ns,
        read=read,
        write=write,
        extra=result["extra"],
        batches=None if batches is None else LatencyBatches.from_json(batches),
        stopped_by=stopped_by,
        streams=streams,
    )
