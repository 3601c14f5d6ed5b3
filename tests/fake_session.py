"""A toy drive with a memory: writes slow it down to a minimum speed, and a purge restores it.

Every answer is arithmetic on the bytes written since the purge and on the step's number, so that
what a test must find can be computed by hand, and a step that is left out or done twice shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from drivelab._core import histogram_bin
from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.open_drive import DriveKind
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.session import Purge, StepPlan, step_measurement
from drivelab.drives.stream_result import streams_of_reads_and_writes
from drivelab.errors import CannotAnswerError, RunError
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus
from drivelab.workloads.workload import Workload

MIB = 2**20
#: Of idle time: what was written counts as never written.
RECOVERED_BYTES_PER_SECOND = 4 * MIB


class FakeSession(ClosedOnExit):
    """Its speed falls from 1 + `drop` times the floor to the floor as `settles_bytes` are written.

    Parameters
    ----------
    kind
        ``simulated`` has states; ``real`` keeps its own.
    fails
        Asked before every stimulus with its step; an error that it gives is raised.
    wobble
        Share by which even and odd rounds of steps differ: above 0.2 nothing is ever steady.
    bytes_per_second
        Of the floor, for writes of 1 MiB and above; a request costs 64 KiB more than it is long.
    """

    def __init__(
        self,
        kind: DriveKind = "simulated",
        *,
        capacity_bytes: int = 256 * MIB,
        block_bytes: int = 512,
        identity: dict[str, Any] | None = None,
        fails: Callable[[int], Exception | None] = lambda _: None,
        wobble: Callable[[int], float] = lambda _: 0.0,
        drop: float = 4.0,
        settles_bytes: int = 2048 * MIB,
        bytes_per_second: float = 100.0 * MIB,
        is_whole_device: bool = True,
        purge: Purge | None = None,
    ) -> None:
        self.name = f"fake:{kind}"
        self.kind = kind
        self.capacity_bytes = capacity_bytes
        self.block_bytes = block_bytes
        self.is_whole_device = is_whole_device
        self.written_bytes = 0
        self.steps: list[int] = []
        self.idled_seconds = 0.0
        self.loads = 0
        self._identity = identity or {"model": "fake", "volatile": {"free": 1}}
        self._fails = fails
        self._wobble = wobble
        self._drop = drop
        self._settles_bytes = settles_bytes
        self._bytes_per_second = bytes_per_second
        self._purge = purge or Purge("done", "a fresh state")

    def identity(self) -> dict[str, Any]:
        return json.loads(json.dumps(self._identity))

    def header(self) -> dict[str, str]:
        return {"vendor": "Fake", "model": "Toy", "interface": "none"}

    def purge(self) -> Purge:
        if self._purge.outcome == "done":
            self.written_bytes = 0
        return self._purge

    def iops(self, stimulus: Stimulus, step: int) -> float:
        """Answer how many requests a second the drive serves right now."""
        cost = sum(share * (size + 64 * 1024) for size, share in stimulus.sizes)
        left = max(0.0, 1 - self.written_bytes / self._settles_bytes)
        speed = self._bytes_per_second * (1 + self._drop * left)
        depth = min(stimulus.outstanding, 32) / 32
        return speed * depth * (1 + self._wobble(step)) / cost

    def check(self, work: Workload) -> None:
        assert isinstance(work, Stimuli)
        if sum(stimulus.outstanding for stimulus in work.stimuli) > 4096:
            raise CannotAnswerError("the toy drive ends at 4096 requests outstanding")

    def run(self, work: Workload, plan: StepPlan, step: int) -> Measurement:
        """Several stimuli share the drive: each has an equal part of its time.

        Where shares are held, all wait for the one that has the least for its share.
        """
        assert isinstance(work, Stimuli)
        streams = work.streams()
        plan.check(work, streams)
        stimuli, shares = work.stimuli, work.shares
        seconds, total_bytes = plan.seconds, plan.total_bytes
        error = self._fails(step)
        if error is not None:
            raise error
        self.steps.append(step)
        rates = [self.iops(stimulus, step) / len(stimuli) for stimulus in stimuli]
        if shares:
            all_iops = min(iops / share for iops, share in zip(rates, shares, strict=True))
            rates = [all_iops * share for share in shares]
        if total_bytes is not None:
            most = total_bytes / _mean_size(stimuli[0]) / rates[0]
            seconds = most if seconds is None else min(seconds, most)
        assert seconds is not None
        done = [
            self._answer(stimulus, iops, seconds)
            for stimulus, iops in zip(stimuli, rates, strict=True)
        ]
        duration_ns = max(int(seconds * 1e9), 1)
        return step_measurement(
            step,
            work,
            streams,
            duration_ns,
            streams_of_reads_and_writes(streams, duration_ns, done),
            plan=plan,
            extra={"energy_joules": 2.0 * seconds},
        )

    def _answer(
        self, stimulus: Stimulus, iops: float, seconds: float
    ) -> tuple[OperationResult | None, OperationResult | None]:
        size = _mean_size(stimulus)
        requests = int(iops * seconds)
        reads = round(requests * stimulus.read_ratio)
        latency_ns = int(1e9 * stimulus.outstanding / iops)
        self.written_bytes += int((requests - reads) * size)
        return (
            _operation(reads, size, latency_ns),
            _operation(requests - reads, size, latency_ns),
        )

    def idle(self, seconds: float) -> None:
        self.idled_seconds += seconds
        worn = min(self.written_bytes, self._settles_bytes)
        self.written_bytes = max(0, worn - int(seconds * RECOVERED_BYTES_PER_SECOND))

    def save_state(self) -> bytes | None:
        return str(self.written_bytes).encode() if self.kind == "simulated" else None

    def load_state(self, state: bytes) -> None:
        if self.kind != "simulated":
            raise RunError("a real drive keeps its state itself")
        self.written_bytes = int(state)
        self.loads += 1

    def leave(self, *, only_found: bool = False) -> Path | None:
        return Path("made.bin") if self.kind == "real" and not only_found else None

    def close(self) -> None:
        pass


def _mean_size(stimulus: Stimulus) -> float:
    return sum(share * each for each, share in stimulus.sizes)


def _operation(requests: int, size: float, latency_ns: int) -> OperationResult | None:
    """Half of the requests take half as long, and one in a thousand ten times as long."""
    if not requests:
        return None
    slow = requests // 1000
    fast = requests // 2
    counts = {
        latency_ns // 2: fast,
        latency_ns: requests - fast - slow,
        latency_ns * 10: slow,
    }
    counts = {latency: count for latency, count in counts.items() if count}
    histogram: dict[int, int] = {}
    for latency, count in counts.items():
        number = histogram_bin(latency)
        histogram[number] = histogram.get(number, 0) + count
    return OperationResult(
        requests,
        int(requests * size),
        sum(latency * count for latency, count in counts.items()) / requests,
        min(counts),
        max(counts),
        histogram,
    )
