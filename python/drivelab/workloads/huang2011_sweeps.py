"""The one-at-a-time sweeps behind figures 3 to 7 of Huang et al. 2011.

"We change one parameter each time while using the default values for the others" (section
III.A): read only or write only, queue depth 1, sizes of 256 KiB, 100 % random. Figures 6 and 7
change the size under each access pattern. The paper gives the ends of the axes but not the steps.
Here sizes and queue depths are powers of two, and the write ratio has steps of 10 %. The paper
gives no stride for figures 6 and 7 either. Of its values (1, 64, 128, 256 KiB) this design takes 64
KiB, the smallest that a drive with blocks of 4 KiB supports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.listed import ListedDesign

Panel = Literal["mixed", "reads", "writes"]

WRITE_RATIOS: Final = tuple(tenth / 10 for tenth in range(11))
QUEUE_DEPTHS: Final = tuple(2**power for power in range(7))
SIZES: Final = tuple(1024 * 2**power for power in range(9))
DEFAULT_SIZE: Final = 256 * 1024
STRIDE: Final = 64 * 1024
# (randomness, stride) of each access pattern.
PATTERNS: Final = {"sequential": (0.0, 0), "random": (1.0, 0), "stride": (0.0, STRIDE)}

# The write ratio of each direction, and the characteristic that is its size.
_PANELS: Final[tuple[tuple[Panel, float, str], ...]] = (
    ("reads", 0.0, "read_size"),
    ("writes", 1.0, "write_size"),
)
_ALL_METRICS: Final = ("latency_ns_mean", "bandwidth_bytes_per_second", "iops")
_POPULATION: Final = (
    "the sweeps behind figures 3 to 7 of Huang et al. 2011: chosen one by one, nothing is drawn"
)


@dataclass(frozen=True)
class Sweep:
    """One curve of a figure: workloads in which one characteristic changes.

    Attributes
    ----------
    figure
        Number in the paper, 3 to 7.
    panel
        Group of curves with common axes: ``mixed``, ``reads`` or ``writes``.
    characteristic
        The characteristic that changes, by its name in `Characteristics`; the x axis.
    series
        Name of the curve within its panel: the access pattern.
    metrics
        Properties of a measurement that the figure shows.
    workloads
        Workloads in the order of the axis. Measurements are found by `Characteristics.key`, because
        figures share some workloads.
    """

    figure: int
    panel: Panel
    characteristic: str
    series: str
    metrics: tuple[str, ...]
    workloads: tuple[Characteristics, ...]


def sweeps() -> tuple[Sweep, ...]:
    """Return every curve of figures 3 to 7, in the order of the figures."""
    ratios = tuple(_workload(ratio) for ratio in WRITE_RATIOS)
    found = [Sweep(3, "mixed", "write_ratio", "random", _ALL_METRICS, ratios)]
    for panel, write_ratio, _ in _PANELS:
        depths = tuple(_workload(write_ratio, depth) for depth in QUEUE_DEPTHS)
        found += [Sweep(4, panel, "queue_depth", "random", _ALL_METRICS, depths)]
    for figure, patterns, metrics in (
        (5, ("random",), _ALL_METRICS),
        (6, tuple(PATTERNS), ("latency_ns_mean",)),
        (7, tuple(PATTERNS), ("iops",)),
    ):
        for panel, write_ratio, axis in _PANELS:
            found += [
                Sweep(figure, panel, axis, pattern, metrics, _sizes(write_ratio, pattern))
                for pattern in patterns
            ]
    return tuple(found)


def sweep_workloads() -> tuple[Characteristics, ...]:
    """Return the distinct workloads of all sweeps."""
    distinct = {workload.key(): workload for sweep in sweeps() for workload in sweep.workloads}
    return tuple(distinct.values())


def huang2011_sweeps(name: str, count: int | None) -> ListedDesign:  # noqa: ARG001
    """Return the sweeps' workloads as a design; none of it is drawn at random."""
    return ListedDesign(name, sweep_workloads(), _POPULATION, calibrates=False)


def _workload(write_ratio: float, queue_depth: int = 1) -> Characteristics:
    """Return a workload with the paper's defaults: requests of 256 KiB, all random."""
    return Characteristics(
        write_ratio=write_ratio,
        queue_depth=queue_depth,
        read_size=DEFAULT_SIZE,
        write_size=DEFAULT_SIZE,
    ).without_ineffective()


def _sizes(write_ratio: float, pattern: str) -> tuple[Characteristics, ...]:
    """Return reads or writes of every size under an access pattern."""
    random, stride = PATTERNS[pattern]
    return tuple(
        Characteristics(
            write_ratio=write_ratio,
            read_size=size,
            write_size=size,
            read_random=random,
            write_random=random,
            read_stride=stride,
            write_stride=stride,
        ).without_ineffective()
        for size in SIZES
    )
