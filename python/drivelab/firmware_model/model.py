"""A model of what a firmware costs: of which firmware, on which processor, how good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from drivelab.firmware_model.costs import Costs

#: The victim rule of somebody's own firmware.
OWN_VICTIM: Final = "own"
# Of a source's hash: enough to tell two sources apart.
_LETTERS: Final = 16


def own_mapping(source_sha256: str) -> str:
    """Name the mapping of somebody's own firmware, which its source alone knows."""
    return f"own {source_sha256[:_LETTERS]}"


@dataclass(frozen=True)
class TrainedFirmware:
    """Which firmware a model was trained with; it knows no other.

    Attributes
    ----------
    name
        ``page-map``: the firmware program of the package.
    mapping
        ``page``: every page has an entry of the map. Of one's own firmware `own_mapping`.
    page_bytes
        Of a page of the map and of the flash.
    map_bytes
        Of the map. It decides how often a look-up misses caches.
    victim
        Which block is collected: ``greedy``, or `OWN_VICTIM`.
    has_map_on_flash, has_slc, has_compression
        Whether the map lies on the flash, flash has a region with one bit a cell, pages are
        compressed.
    workers
        Cores that the firmware uses.
    depth
        Requests outstanding.
    geometry
        Channels, ways, dies a way, blocks a die and pages a block: ``4x4x2x5120x512``.
    record_requests
        Requests of a record, whose times the record model predicts.
    """

    name: str
    mapping: str
    page_bytes: int
    map_bytes: int
    victim: str
    workers: int
    depth: int
    geometry: str
    record_requests: int = 1000
    has_map_on_flash: bool = False
    has_slc: bool = False
    has_compression: bool = False

    @property
    def is_own(self) -> bool:
        """It is somebody's own, not the package's."""
        return self.victim == OWN_VICTIM


@dataclass(frozen=True)
class TrainedTarget:
    """The processor whose time a model knows.

    Attributes
    ----------
    name
        ``a53-like``.
    clock_mhz, cores
        Of it.
    parameters
        All that was said of it.
    """

    name: str
    clock_mhz: float
    cores: int
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LeftOutAccuracy:
    """How far answers are off for a workload that was left out.

    Attributes
    ----------
    error_ratio
        |mean predicted - mean measured| / mean measured, mean over the workloads.
    worst, worst_error_ratio
        The workload that is furthest off, and how far.
    p99_error_ratio
        The same as `error_ratio` of the 99th percentile across records; ``None`` where no workload
        has enough records.
    """

    error_ratio: float
    worst: str
    worst_error_ratio: float
    p99_error_ratio: float | None = None


@dataclass(frozen=True)
class FirmwareModel:
    """What a firmware costs on a processor.

    Attributes
    ----------
    firmware, target
        Of which.
    learned
        Time of one core in counts, fitted to what was measured.
    static
        The same by counting instructions alone, as simulators do that learn nothing.
    record_model
        What predicts a record's elapsed time from events of the host, as plain values;
        `drivelab.firmware` reads it.
    accuracy
        By ``learned``, ``static`` (both: time that cores work in a record) and ``records`` (elapsed
        time of a record): each workload unseen.
    workloads, records
        What it was trained on.
    """

    firmware: TrainedFirmware
    target: TrainedTarget
    learned: Costs
    static: Costs
    record_model: Mapping[str, Any]
    accuracy: Mapping[str, LeftOutAccuracy]
    workloads: tuple[str, ...]
    records: int

    def costs(self, kind: str) -> Costs:
        """Return the costs of a kind: ``learned`` or ``static``."""
        return {"learned": self.learned, "static": self.static}[kind]
