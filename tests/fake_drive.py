"""A drive that answers by arithmetic, for tests of the code around drives."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from drivelab._core import histogram_bin
from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.open_drive import DriveKind
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import CannotAnswerError
from drivelab.workloads.characteristics import Characteristics


class FakeDrive(ClosedOnExit):
    """Latency is a sum of the characteristics; `fail_at` names what goes wrong where."""

    def __init__(
        self,
        kind: DriveKind = "simulated",
        delay_seconds: float = 0.0,
        fail_at: dict[int, BaseException] | None = None,
        identity: dict[str, Any] | None = None,
    ) -> None:
        self.name = f"fake:{kind}"
        self.kind: DriveKind = kind
        self.capacity_bytes = 2**30
        self.block_bytes = 512
        self.measured: list[int] = []
        self.batches: list[int] = []
        self.closed_answers = 0
        self._delay_seconds = delay_seconds
        self._fail_at = fail_at or {}
        self._identity = identity or {"model": "fake"}

    def identity(self) -> dict[str, Any]:
        return self._identity

    def check(self, workload: Characteristics) -> None:
        if workload.queue_depth > 1000:
            raise CannotAnswerError("the fake drive ends at queue depth 1000")

    def measure(
        self, work: Sequence[tuple[int, Characteristics]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        self.batches.append(len(work))
        try:
            for index, workload in work:
                if index in self._fail_at:
                    raise self._fail_at[index]
                time.sleep(self._delay_seconds)
                self.measured.append(index)
                yield answer(index, workload, plan)
        finally:
            self.closed_answers += 1

    @property
    def file(self) -> None:
        return None

    def leave(self, *, only_found: bool = False) -> None:
        return None

    def take_up(self) -> None:
        pass

    def close(self) -> None:
        pass


def answer(index: int, workload: Characteristics, plan: MeasurementPlan) -> Measurement:
    latency_ns = 10_000 + 1000 * workload.queue_depth + workload.read_size // 3 + plan.seed + index
    requests = plan.requests or 100
    result = OperationResult(
        requests=requests,
        bytes=requests * workload.read_size,
        latency_ns_mean=float(latency_ns),
        latency_ns_min=latency_ns,
        latency_ns_max=latency_ns,
        histogram={histogram_bin(latency_ns): requests},
    )
    return Measurement(index, workload, requests * latency_ns, result, None, {"waf": 1.5})


def workloads(count: int) -> list[Characteristics]:
    return [
        Characteristics(queue_depth=1 + index % 32, read_size=512 * (1 + index % 9))
        for index in range(count)
    ]
