"""A workload's records, from every observer side by side, and many of them as one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from drivelab.firmware.record_logs import RecordLog

#: The events of Lee et al. 2021, table 5, in its order, and the host's processing time.
EVENTS: Final = (
    *("cpu_cycles", "instructions", "micro_operations", "branches", "branch_misses"),
    *("bus_cycles", "l1d_loads", "l1d_stores", "llc_references", "llc_misses"),
    *("stalled_cycles", "time_ns"),
)
#: The firmware's own counts that say how much of what it did; they exist on every machine.
COUNTS: Final = (
    *("reads", "writes", "trims", "commands", "pages", "copied_bytes", "read_hits", "write_hits"),
    *("fill_reads", "map_lookups", "flash_reads", "flash_programs", "flash_erases"),
    *("pages_moved", "lock_acquisitions", "lock_waits", "hand_offs"),
)
#: By name what a model is given of a record.
INPUTS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "events": tuple(("host", name) for name in EVENTS),
    "counts": tuple(("counted", name) for name in COUNTS),
    "both": (
        *(("host", name) for name in EVENTS),
        *(("counted", name) for name in COUNTS),
    ),
}


@dataclass(frozen=True)
class Observed:
    """The records of one workload on the host alone.

    Attributes
    ----------
    label
        The workload's.
    counted
        The firmware's own counts.
    host
        Events of the host, where the model runs.

    Raises
    ------
    RunError
        When one has fewer records than another.
    """

    label: str
    counted: RecordLog
    host: RecordLog

    def __post_init__(self) -> None:
        lengths = self._lengths()
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{who} {count:,}" for who, count in lengths.items())
            raise RunError(f"records of {self.label} differ in number: {counts}; profile it again")

    def __len__(self) -> int:
        return len(self.counted)

    @property
    def requests(self) -> float:
        """Requests of all records."""
        return float(self.counted.column("requests").sum())

    def _lengths(self) -> dict[str, int]:
        return {"the firmware": len(self.counted), "the host": len(self.host)}

    def inputs(self, names: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return inputs by observer and name, shape (records, inputs)."""
        logs = {"host": self.host, "counted": self.counted}
        return np.column_stack([logs[log].column(name) for log, name in names])


@dataclass(frozen=True)
class Profiled(Observed):
    """The records of one workload on host and target.

    Attributes
    ----------
    target
        Times of the target, which are to be predicted.
    """

    target: RecordLog

    @property
    def board(self) -> Mapping[str, Any] | None:
        """The board that was the target; ``None`` of an emulated one."""
        return self.target.parameters.get("board")

    def _lengths(self) -> dict[str, int]:
        return {**super()._lengths(), "the target": len(self.target)}


@dataclass(frozen=True)
class Dataset:
    """Records of several workloads.

    Attributes
    ----------
    workloads
        Labels, in order.
    groups
        The place of its workload in that order for each record, shape (n,).
    inputs
        By name (`INPUTS`) what models may be given, each of shape (n, inputs).
    target_ns
        Processing times of records on the target, shape (n,).
    """

    workloads: tuple[str, ...]
    groups: NDArray[np.int64]
    inputs: dict[str, NDArray[np.float64]]
    target_ns: NDArray[np.float64]

    @classmethod
    def of(cls, profiled: Sequence[Profiled]) -> Dataset:
        """Put the records of workloads below each other."""
        sizes = [len(each.target) for each in profiled]
        return cls(
            tuple(each.label for each in profiled),
            np.repeat(np.arange(len(profiled)), sizes),
            {
                kind: np.vstack([each.inputs(names) for each in profiled])
                for kind, names in INPUTS.items()
            },
            np.concatenate([each.target.column("time_ns") for each in profiled]),
        )
