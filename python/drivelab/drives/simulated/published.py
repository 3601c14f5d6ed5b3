"""Published figures of a drive, compared with its preset under the same condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.passes import ratios_by_size
from drivelab.workloads.characteristics import Characteristics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.simulated.drive import SimulatedDrive

#: The quantities that are published: the unit for people, its factor to the stored unit,
#: and decimals.
UNITS: Final = {
    "latency_ns": ("us", 1e3, 0),
    "throughput_iops": ("IOPS", 1.0, 0),
    "bandwidth_bytes_per_second": ("MB/s", 1e6, 0),
    "rotational_latency_ns": ("ms", 1e6, 1),
    "sequential_to_random_ratio": ("", 1.0, 2),
}
_ROTATION_READS: Final = 20_000
# Writes are measured after the range was overwritten this many times: by then the write
# amplification of a range of 8 GiB changes by less than 1 % from one overwrite to the next.
_OVERWRITES: Final = 3
# Number of single writes into an empty buffer, each from the prepared state.
_SINGLE_WRITES: Final = 100


@dataclass(frozen=True)
class Compared:
    """A published figure and the simulated one.

    Attributes
    ----------
    quantity
        ``latency_ns``, ``throughput_iops``, ``bandwidth_bytes_per_second``,
        ``rotational_latency_ns`` or ``sequential_to_random_ratio``.
    published, simulated
        Both in the unit of the quantity's name.
    tolerance_ratio
        Relative difference that counts as agreement.
    """

    quantity: str
    published: float
    simulated: float
    tolerance_ratio: float

    @property
    def difference_ratio(self) -> float:
        """Return how much larger the simulated figure is, relative to the published one."""
        return self.simulated / self.published - 1

    @property
    def holds(self) -> bool:
        """Return whether the two agree."""
        return abs(self.difference_ratio) <= self.tolerance_ratio


def figure_text(quantity: str, value: float) -> str:
    """Return a figure in the unit for people; ratios have none."""
    unit, scale, decimals = UNITS[quantity]
    return f"{value / scale:,.{decimals}f} {unit}".rstrip()


def percent_text(ratio: float) -> str:
    """Return a difference with its sign, in tenths of a per cent; a rounded zero has a plus."""
    return f"{round(100 * ratio, 1) + 0.0:+.1f} %"


def compare(drive: SimulatedDrive, figure: Mapping[str, Any]) -> Compared:
    """Measure `drive` under the condition of a published figure.

    Parameters
    ----------
    drive
        The preset's drive, without its variability.
    figure
        An entry of the preset's ``published``.
    """
    quantity = next(name for name in UNITS if name in figure)
    if quantity == "sequential_to_random_ratio":
        ratios = ratios_by_size(drive, figure["direction"], figure["range_bytes"])
        mean = sum(ratios) / len(ratios)
        return Compared(quantity, figure[quantity], mean, figure["tolerance_ratio"])
    if quantity == "rotational_latency_ns":
        wait_ns = rotational_latency_ns(drive)
        return Compared(quantity, figure[quantity], wait_ns, figure["tolerance_ratio"])
    is_write = figure["direction"] == "write"
    size = figure["size_bytes"]
    workload = Characteristics(
        write_ratio=1.0 if is_write else 0.0,
        queue_depth=figure["queue_depth"],
        read_size=size,
        write_size=size,
        read_random=figure["random_ratio"],
        write_random=figure["random_ratio"],
    )
    single = quantity == "latency_ns" and is_write and workload.queue_depth == 1
    results = _measure(drive, workload, single=single, range_bytes=figure.get("range_bytes"))
    simulated = {
        "latency_ns": sum(result.latency_ns_mean for result in results) / len(results),
        "throughput_iops": results[0].iops,
        "bandwidth_bytes_per_second": results[0].bandwidth_bytes_per_second,
    }
    return Compared(quantity, figure[quantity], simulated[quantity], figure["tolerance_ratio"])


def rotational_latency_ns(disk: SimulatedDrive) -> float:
    """Return how long single random reads of a hard disk wait for the rotation, mean.

    For 20,000 reads four standard errors are 1.6 % of it.
    """
    found = disk.simulate(
        Characteristics(),
        warmup_requests=0,
        requests=_ROTATION_READS,
    )
    parts = found.values["streams"][0]["operations"]["read"]["latency_parts"]
    return float(parts["rotation"]["latency_ns_mean"])


def _measure(
    drive: SimulatedDrive, workload: Characteristics, *, single: bool, range_bytes: int | None
) -> list[Measurement]:
    if single:
        plan = MeasurementPlan(warmup_requests=0, requests=1)
        work = [(index, workload) for index in range(_SINGLE_WRITES)]
    else:
        warmup = 2_000
        if workload.write_ratio > 0 and range_bytes is not None:
            warmup = _OVERWRITES * range_bytes // workload.write_size
        elif workload.write_ratio > 0:
            warmup = 20_000
        plan = MeasurementPlan(warmup_requests=warmup, requests=max(20_000, warmup // 6))
        work = [(0, workload)]
    return list(drive.measure(work, plan, range_bytes=range_bytes))
