"""The closed form of an SSD as a drive: one kind of operation at queue depth 1.

Every request has the same latency, that of Yoo et al. 2014, equations 6 and 7. The equations cover
no other requests, no garbage collection and no host link; those are refused.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab._core import SECTOR_BYTES, ClosedForm, histogram_bin
from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.batches import LatencyBatches
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.presets.source import PresetSource, read_preset
from drivelab.errors import CannotAnswerError
from drivelab.workloads.characteristics import Characteristics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drivelab.drives.plan import MeasurementPlan, StoppedBy
    from drivelab.drives.session import DriveSession
    from drivelab.workloads.workload import Workload

PREFIX: Final = "analytic:"


class AnalyticDrive(ClosedOnExit):
    """A drive that answers by equation.

    Parameters
    ----------
    source
        The preset, as `drivelab.drives.presets.source.read_preset` gives it.

    Raises
    ------
    CannotAnswerError
        If the preset is outside the closed form's condition; lists every part that fails.
    UsageError
        When the preset is not valid.
    """

    kind: Final[Literal["closed_form"]] = "closed_form"
    block_bytes: Final[int] = SECTOR_BYTES

    def __init__(self, source: PresetSource) -> None:
        self.name = f"{PREFIX}{source.reference}"
        #: The preset that it is made from.
        self.source = source
        with source.named():
            self.closed_form = ClosedForm(source.toml_text, source.base_texts)
        self.capacity_bytes = self.closed_form.capacity_bytes
        self._preset, self._config_hash = source.resolved()
        self._holds_no_data = self._preset["condition"] == "fresh"

    @classmethod
    def open(cls, name: str, *, varies: bool = True) -> AnalyticDrive:  # noqa: ARG003
        """Open ``analytic:NAME`` or ``analytic:FILE.toml``; the prefix may be left out.

        The closed form has no variability: `varies` has no effect.
        """
        return cls(read_preset(name.removeprefix(PREFIX)))

    def identity(self) -> dict[str, Any]:
        """Return what determines the drive's answers."""
        return {
            "kind": self.kind,
            "name": self.name,
            "preset": self._preset,
            "config_hash": self._config_hash,
        }

    def check(self, workload: Workload) -> None:
        """Refuse what the equations do not describe.

        Raises
        ------
        CannotAnswerError
            For anything but characteristics; mixed reads and writes, more than one request at a
            time, parts of pages.
        UsageError
            For characteristics that no drive of this capacity can be asked for.
        """
        workload = self._known(workload)
        workload.validate(self.capacity_bytes)
        self._record_of(workload)

    def _known(self, workload: Workload) -> Characteristics:
        if not isinstance(workload, Characteristics):
            raise CannotAnswerError(
                f"{self.name} is a formula, and answers only workload characteristics: name "
                f"sim:{self.name.removeprefix(PREFIX)} for {workload.describe()}"
            )
        return workload

    def measure(
        self, work: Sequence[tuple[int, Workload]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Answer each workload in order, as if the planned number of requests had been measured.

        Every request takes the same time, so the half-width is 0 and reached immediately.
        """
        plan = plan.holding(ends_by_itself=False)
        for index, workload in work:
            self.check(workload)
            direction, record_bytes = self._record_of(self._known(workload))
            latency_ns = self.closed_form.record(direction, record_bytes)["record_ns"]
            requests, stopped_by = _requests_of(plan, latency_ns)
            result = OperationResult(
                requests=requests,
                bytes=requests * record_bytes,
                latency_ns_mean=float(latency_ns),
                latency_ns_min=latency_ns,
                latency_ns_max=latency_ns,
                histogram={histogram_bin(latency_ns): requests},
            )
            duration_ns = requests * latency_ns
            yield Measurement(
                index=index,
                workload=workload,
                duration_ns=duration_ns,
                read=result if direction == "read" else None,
                write=result if direction == "write" else None,
                batches=LatencyBatches(requests, (float(latency_ns),), (duration_ns,), 0.0, 0.0),
                stopped_by=stopped_by,
            )

    @property
    def file(self) -> None:
        """Return None: it is no file of this machine."""

    def leave(self, *, only_found: bool = False) -> None:
        """Do nothing: no file is made."""

    def take_up(self) -> None:
        """Do nothing: no file was left."""

    def session(self, *, seed: int = 0) -> DriveSession:  # noqa: ARG002
        """Refuse: the closed form has no state."""
        raise CannotAnswerError(
            f"{self.name} is a formula, and has no state that a step could change; name "
            f"sim:{self.name.removeprefix(PREFIX)}"
        )

    def close(self) -> None:
        """Do nothing: equations hold nothing open."""

    def _record_of(self, workload: Characteristics) -> tuple[Literal["read", "write"], int]:
        reasons = []
        if workload.write_ratio not in {0, 1}:
            reasons.append(f"write_ratio is {workload.write_ratio}, not 0 or 1")
        if workload.queue_depth != 1:
            reasons.append(f"queue_depth is {workload.queue_depth}, not 1")
        page_bytes = self.closed_form.page_size_bytes
        sizes = {"read_size": workload.read_size, "write_size": workload.write_size}
        if workload.write_ratio in {0, 1}:
            del sizes["read_size" if workload.write_ratio else "write_size"]
        reasons += [
            f"{name} is {size_bytes} bytes, not a multiple of the page size, {page_bytes}"
            for name, size_bytes in sizes.items()
            if size_bytes % page_bytes != 0
        ]
        if workload.write_ratio == 0 and self._holds_no_data:
            reasons.append("the drive is fresh and has no data to read")
        if reasons:
            raise CannotAnswerError(
                f"{self.name} answers one kind of operation on whole pages at queue depth 1; here "
                + "; ".join(reasons)
            )
        if workload.write_ratio == 1:
            return "write", workload.write_size
        return "read", workload.read_size


def _requests_of(plan: MeasurementPlan, latency_ns: int) -> tuple[int, StoppedBy]:
    """Return how many requests the plan's window holds, one after the other, and what ends it."""
    # The first completion at or after the end of the time closes the window. A preset whose times
    # are all 0 would never reach it.
    in_time = math.inf
    if plan.seconds is not None and latency_ns > 0:
        in_time = max(1, math.ceil(plan.seconds * 1e9 / latency_ns))
    stopped_by: StoppedBy = "requests" if plan.half_width_ratio is None else "half_width"
    asked = plan.requests or (math.inf if plan.half_width_ratio is None else 1)
    if in_time < asked:
        return int(in_time), "seconds"
    if asked == math.inf:
        raise CannotAnswerError(
            "requests take no time here, so --seconds would never end; give --requests"
        )
    return int(asked), stopped_by
