"""Simulated drives: a preset of the package or of a file, measured in simulated time."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from drivelab import _core
from drivelab._core import MOST_SIMULATED_NS, SECTOR_BYTES, available_cores
from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.measurement import Measurement
from drivelab.drives.named_file import check_file, read_file
from drivelab.drives.presets.firmware_costs import refuse_unknown_source
from drivelab.drives.presets.source import read_preset
from drivelab.drives.simulated.asked import (
    asked_window,
    nanoseconds,
    own_interval_ns,
    planned_window,
    settled_by,
    streams_of,
)
from drivelab.drives.simulated.session import SimulatedSession
from drivelab.drives.simulated.simulation import (
    Simulation,
    operations,
    series_json,
    stream_json,
    streams_told,
    submitted_requests,
)
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.memory import available_bytes, lacking, peak_bytes
from drivelab.units import format_duration_ns, format_size
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.content import USUAL
from drivelab.workloads.side_by_side import SideBySide
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.trace import Trace
from drivelab.workloads.whole_pass import WholePass
from drivelab.workloads.workload import ends_by_itself, told_by_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from drivelab.drives.plan import MeasurementPlan, StoppedBy
    from drivelab.drives.presets.firmware_costs import OwnSource
    from drivelab.drives.presets.source import PresetSource
    from drivelab.drives.stream_result import StreamResult
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
        Whether runs differ as the preset's ``[variability]`` says; without it every run takes
        the preset's own times.
    like
        A drive that has measured something. Where this one differs from it in times, the host's
        side and buffers alone, it begins in the same state without making that anew.

    Attributes
    ----------
    variability
        ``none`` where the preset has none, ``on``, or ``off`` where it was left out.
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
        #: The preset that it is made of.
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

    @classmethod
    def open(
        cls, name: str, *, varies: bool = True, own_firmware: OwnSource | None = None
    ) -> SimulatedDrive:
        """Open ``sim:NAME`` or ``sim:FILE.toml``, with or without its variability.

        With the source of a firmware of one's own, only `simulate` is for it, with its library.

        Raises
        ------
        UsageError
            When there is no such preset or file, or its values are impossible.
        """
        return cls(name, read_preset(name.removeprefix(PREFIX), own_firmware), varies=varies)

    def identity(self) -> dict[str, Any]:
        """Return what decides how the drive behaves."""
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
        """Return by how much measurements take longer than the preset says.

        Parameters
        ----------
        indices
            The measurements.
        seed
            Key of all random numbers.
        seconds
            How long each is, without variability.
        """
        return self._core.variability_factors(list(indices), seed, round(seconds * 1e9))

    def prepare(self) -> None:
        """Bring the drive into its condition, as the first run would."""
        self._core.prepare()

    def check(self, workload: Workload) -> None:
        """Raise when the drive cannot answer for `workload`."""
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
        lasting_ns, end = trace.lasting_ns, trace.footprint_bytes
        if lasting_ns is not None and lasting_ns > MOST_SIMULATED_NS:
            raise UsageError(
                f"the trace lasts {format_duration_ns(lasting_ns)} at this speed, and a "
                f"simulated run at most {format_duration_ns(MOST_SIMULATED_NS)}; replay it "
                "faster (--speed 2x or more) or as fast as the drive answers (--speed max)"
            )
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
        """Measure every workload from the preset's condition, or what its writes lead to, in order.

        Random numbers are keyed by the plan's seed and the workload's index: results depend
        neither on the other workloads nor on the number of threads. Requests of characteristics
        fall into the drive's first `range_bytes`, or anywhere.
        """
        for _, workload in work:
            self.check(workload)
        asked, told_apart = [], []
        for index, workload in work:
            streams = streams_of(workload, plan.content, range_bytes)
            holding = plan.holding(ends_by_itself=ends_by_itself(workload, streams))
            window = planned_window(workload, streams, holding)
            asked.append((index, streams, window, settled_by(workload, plan)))
            told_apart.append(told_by_stream(workload, streams))
        measuring = self._core.measure(
            asked,
            seed=plan.seed,
            workers=self._workers(plan.workers),
            range_bytes=range_bytes,
        )
        try:
            for (index, workload), is_told in zip(work, told_apart, strict=True):
                result = next(measuring, None)
                if result is None:
                    raise RunError(f"{self.name} gave no result for measurement {index}")
                yield _measurement(index, workload, result, streams_told(result) if is_told else ())
        finally:
            # Threads measure ahead: what is not taken is given up.
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
        """Run a workload from the preset's condition; give everything (docs/json-measure.md).

        Parameters
        ----------
        workload
            The streams, and how long they run unless something else is asked for.
        content
            What the written data of characteristics looks like.
        seed
            Key of all random numbers.
        warmup_requests
            Completed before the window opens.
        requests, seconds
            The window closes at so many requests or so much simulated time, whichever is
            first.
        interval_seconds
            Length of the intervals of the time series, in simulated time.
        firmware
            A shared library that takes the place of the drive's firmware
            (crates/ftl/include/drivelab_firmware.h).
        log_requests
            The first requests of the window are recorded one by one, up to this many.
        from_state
            A file with the state from which the run starts instead, as an earlier run kept it.
        keeps_state
            Whether the state that the run leaves is wanted.
        progress
            Called some times a second with the share of the way to the end of the window,
            requests completed, simulated ns, requests outstanding and whether they drain.

        Raises
        ------
        UsageError
            When the drive cannot be asked for this, or the state is of another drive or damaged.
        RunError
            When the run fails, or loses a request.
        """
        self._workers(1)
        if firmware is not None and firmware.exists():
            # The native core reads it whole, and a pipe would be waited for.
            check_file(firmware, "a firmware library", _MOST_LIBRARY_BYTES, "name FILE.so")
            if self.source.own_firmware is None:
                refuse_unknown_source(self.source.modelled_time, firmware)
        state = self._state(from_state)
        started = time.perf_counter()
        if firmware is None:
            self.prepare()
        prepared = time.perf_counter()
        streams = streams_of(workload, content)
        told = self._core.simulate(
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
        log = told.get("log", {"requests": None, "dropped": None, "parquet": None})
        asked = [each.described() for each in streams]
        described = self._described(told, asked)
        values = {
            "drive": self.name,
            "kind": self.kind,
            "condition": self.condition,
            "occupancy": self._core.filled_words(),
            "from_state": None if from_state is None else str(from_state),
            "capacity_bytes": self.capacity_bytes,
            "config_hash": self._core.config_hash,
            "seed": seed,
            "requests": submitted_requests(told),
            "loop_wall_seconds": told["loop_wall_seconds"],
            "page_programs": told.get("page_programs"),
            "peak_memory_bytes": peak_bytes(),
            "preparation_wall_seconds": prepared - started,
            **described,
            "logged_requests": log["requests"],
            "dropped_requests": log["dropped"],
        }
        return Simulation(values, asked, log["parquet"], told.get("state"))

    def _state(self, path: Path | None) -> tuple[Path, bytes] | None:
        """Read a saved state, with the name of its file for messages."""
        if path is None:
            return None
        most_bytes = 2 * self._core.state_bytes + _LEAST_STATE_BYTES
        return path, read_file(path, "a state", most_bytes, "name the state of a drive")

    def serve(self, asked: _core.LiveAsked, *, from_state: Path | None = None) -> _core.LiveServer:
        """Serve the drive to programs, in its condition or a saved state.

        Raises
        ------
        UsageError
            When it cannot be served so, or the state is of another drive or damaged.
        """
        if "zones" in self.preset:
            raise UsageError(
                "a drive with zones cannot be served, as programs would have to reset them; "
                "allowed: a drive without [zones]"
            )
        self._workers(1)
        return self._core.serve(asked, from_state=self._state(from_state))

    def _described(self, told: dict[str, Any], asked: list[dict[str, Any]]) -> dict[str, Any]:
        duration_ns = told["duration_ns"]
        series = told.get("series")
        is_flash = told["flash"] is not None
        # The channels and units of an array are its members'.
        is_one = not told["members"]
        return {
            "duration_ns": duration_ns,
            "stopped_by": told["stopped_by"],
            "warmup_requests": told["warmup_requests"],
            "counted_requests": told["counted_requests"],
            "streams": [
                stream_json(plan, stream, duration_ns)
                for plan, stream in zip(asked, told["streams"], strict=True)
            ],
            "flash": told["flash"],
            "disk": told["disk"],
            # Of a firmware of one's own alone.
            **({"firmware_counts": told["firmware_counts"]} if told["firmware_counts"] else {}),
            # Of a drive with placement handles alone.
            **({} if told["placement"] is None else {"placement": told["placement"]}),
            # Of an array with copies or parity alone.
            **({"array": told["array"]} if told.get("array") else {}),
            # Of one with zones.
            **({} if told["zones"] is None else {"zones": told["zones"]}),
            "energy": told["energy"],
            "variability": self.variability,
            "variability_factor": told["variability_factor"],
            "members": told["members"],
            "unit": self._unit() if is_flash else None,
            "channel_utilisation_ratio": told.get("channel_utilisation_ratio") if is_one else None,
            "unit_utilisation_ratio": told.get("unit_utilisation_ratio") if is_one else None,
            "series": None if series is None else series_json(series, duration_ns),
        }

    def _unit(self) -> str:
        preset = self.preset.get("member_preset", self.preset)
        if preset["scheduling"].get("unit") == "chip":
            return "chip"
        return "plane" if preset["geometry"]["plane_mode"] else "die"

    def timeline(
        self, direction: str, record_bytes: int
    ) -> tuple[list[dict[str, Any]], list[_core.CoreWork]]:
        """Return the flash operations of one request on the idle drive, and the work of cores.

        Of a drive whose firmware is free no core works. Each piece of work has its core, whether
        it is for the host, and from when to when it lasts, in ns.
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

        Of each there are at most `most` and one more.

        Parameters
        ----------
        workload
            What runs, from the preset's condition.
        content
            What the written data of characteristics looks like.
        seed
            Key of all random numbers.
        from_ns, to_ns
            The span, in ns from the beginning of the run.
        most
            So many are wanted; one more says that there are more.
        """
        self._workers(1)
        return self._core.record_span(
            streams_of(workload, content),
            asked_window(workload, warmup_requests=0, requests=None, duration_ns=to_ns),
            seed=seed,
            from_ns=from_ns,
            to_ns=to_ns,
            most=most,
        )

    def _workers(self, wanted: int | None) -> int:
        """Return how many threads to use: no more than memory has room for their states."""
        if self._most_workers is None:
            self._most_workers = _workers_that_fit(self.name, self._core.state_bytes)
        return min(wanted or available_cores(), self._most_workers)

    @property
    def session_bytes(self) -> int:
        """Memory that a session takes: the state it begins with, and what is done to it."""
        return _needed_bytes(self._core.state_bytes)

    @property
    def file(self) -> None:
        """No file of this machine."""

    def leave(self, *, only_found: bool = False) -> None:
        """Nothing is made."""

    def take_up(self) -> None:
        """Nothing was left."""

    def session(self, *, seed: int = 0) -> SimulatedSession:
        """Begin in the preset's condition, apart from measurements; `RunError` without memory."""
        self._workers(1)
        return SimulatedSession(self, self.preset, self._core.session(seed=seed))

    def close(self) -> None:
        """Nothing to release."""


def _workers_that_fit(name: str, state_bytes: int) -> int:
    available = available_bytes()
    if available is None:
        return sys.maxsize
    # The prepared state, and a state for every worker with room for what its run needs.
    fitting = (available - state_bytes) * 8 // (state_bytes * 9)
    if fitting < 1:
        raise lacking(name, _needed_bytes(state_bytes), "use a drive with fewer pages")
    return fitting


def _needed_bytes(state_bytes: int) -> int:
    return state_bytes * 17 // 8


def _only_finds_what_was_there(workload: Workload) -> bool:
    """Tell whether reads of it, if it has any, find what was there before."""
    if isinstance(workload, SideBySide):
        return any(_only_finds_what_was_there(each.workload) for each in workload.parts)
    if isinstance(workload, Characteristics):
        return workload.write_ratio < 1.0
    if isinstance(workload, Stimuli):
        return any(each.read_ratio > 0 for each in workload.stimuli)
    return isinstance(workload, WholePass) and workload.direction == "read"


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
