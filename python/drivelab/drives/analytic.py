"""The closed form of an SSD as a drive: one kind of operation at queue depth 1.

Every request has the same latency, that of Yoo et al. 2014, equations 6 and 7; the equations
know no other requests, no collection and no host link. Whatever they do not know is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab._core import ClosedForm, histogram_bin
from drivelab.drives.measurement import Measurement, MeasurementPlan, OperationResult
from drivelab.drives.presets import PresetSource, read_preset
from drivelab.errors import CannotAnswerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from drivelab.workloads.characteristics import Characteristics

PREFIX: Final = "analytic:"


class AnalyticDrive:
    """A drive that answers by equation.

    Parameters
    ----------
    source
        The preset, as `drivelab.drives.presets.read_preset` gives it.

    Raises
    ------
    CannotAnswerError
        When the preset is outside the closed form's condition; lists every part that fails.
    UsageError
        When the preset is not valid.
    """

    kind: Final[Literal["closed_form"]] = "closed_form"

    def __init__(self, source: PresetSource) -> None:
        self.name = f"{PREFIX}{source.reference}"
        with source.named():
            self.closed_form = ClosedForm(source.toml_text, source.base_texts)
        self.capacity_bytes = self.closed_form.capacity_bytes
        self._preset, self._config_hash = source.resolved()
        self._holds_no_data = self._preset["condition"] == "fresh"

    @classmethod
    def open(cls, name: str) -> AnalyticDrive:
        """Open ``analytic:NAME`` or ``analytic:FILE.toml``; the prefix may be left out."""
        return cls(read_preset(name.removeprefix(PREFIX)))

    def identity(self) -> dict[str, Any]:
        """Return what decides the drive's answers."""
        return {
            "kind": self.kind,
            "name": self.name,
            "preset": self._preset,
            "config_hash": self._config_hash,
        }

    def check(self, workload: Characteristics) -> None:
        """Refuse what the equations do not describe.

        Raises
        ------
        CannotAnswerError
            For mixed reads and writes, more than one request at a time, parts of pages.
        UsageError
            For characteristics that no drive of this capacity can be asked for.
        """
        workload.validate(self.capacity_bytes)
        self._record_of(workload)

    def measure(
        self, work: Sequence[tuple[int, Characteristics]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Answer each workload in order, as if `plan.requests` requests had been measured."""
        for index, workload in work:
            self.check(workload)
            direction, record_bytes = self._record_of(workload)
            latency_ns = self.closed_form.record(direction, record_bytes)["record_ns"]
            result = OperationResult(
                requests=plan.requests,
                bytes=plan.requests * record_bytes,
                latency_ns_mean=float(latency_ns),
                latency_ns_min=latency_ns,
                latency_ns_max=latency_ns,
                histogram={histogram_bin(latency_ns): plan.requests},
            )
            yield Measurement(
                index=index,
                characteristics=workload,
                duration_ns=plan.requests * latency_ns,
                read=result if direction == "read" else None,
                write=result if direction == "write" else None,
            )

    def close(self) -> None:
        """Do nothing: equations hold nothing open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

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
            reasons.append("the drive is fresh and holds no data to read")
        if reasons:
            raise CannotAnswerError(
                f"{self.name} answers one kind of operation on whole pages at queue depth 1; here "
                + "; ".join(reasons)
            )
        if workload.write_ratio == 1:
            return "write", workload.write_size
        return "read", workload.read_size
