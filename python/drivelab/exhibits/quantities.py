"""Names and formats of metrics and workload characteristics for people.

Code uses nanoseconds and bytes; people see µs or ms, MB/s (decimal), IOPS and KiB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from drivelab.units import format_duration_ns, format_iops, format_rate, format_size
from drivelab.workloads.characteristics import Characteristics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.workloads.workload import Workload

#: Follows a factor, as in "1.5 times".
TIMES: Final = "\N{MULTIPLICATION SIGN}"
#: Stands in a table cell without a value.
NOTHING: Final = "\N{EN DASH}"


@dataclass(frozen=True)
class Metric:
    """A performance metric (Huang et al. 2011, equation 3)."""

    name: str
    label: str
    unit: str
    factor: float
    lower_is_better: bool

    def text(self, value: float) -> str:
        """Write a value, given in the base unit, for people."""
        if self.unit == "ms":
            return latency_text(value)
        return format_rate(value) if self.unit == "MB/s" else format_iops(value)


METRICS: Final[dict[str, Metric]] = {
    metric.name: metric
    for metric in (
        Metric("latency_ns_mean", "Mean latency", "ms", 1e-6, True),
        Metric("bandwidth_bytes_per_second", "Bandwidth", "MB/s", 1e-6, False),
        Metric("iops", "Throughput", "IOPS", 1.0, False),
    )
}


@dataclass(frozen=True)
class Characteristic:
    """A workload characteristic (Huang et al. 2011, equation 4)."""

    name: str
    label: str
    kind: Literal["share", "count", "bytes", "gap"]

    def text(self, value: float) -> str:
        """Write a value for people, as on an axis."""
        if self.kind == "share":
            return f"{100 * value:.3g} %"
        if self.kind == "count":
            return f"{value:.0f}"
        if self.kind == "gap" and value == 0:
            return "none"
        return format_size(round(value))


CHARACTERISTICS: Final[dict[str, Characteristic]] = {
    item.name: item
    for item in (
        Characteristic("write_ratio", "Share of writes", "share"),
        Characteristic("queue_depth", "Queue depth", "count"),
        Characteristic("read_size", "Read size", "bytes"),
        Characteristic("write_size", "Write size", "bytes"),
        Characteristic("read_random", "Random reads", "share"),
        Characteristic("write_random", "Random writes", "share"),
        Characteristic("read_stride", "Read stride", "gap"),
        Characteristic("write_stride", "Write stride", "gap"),
    )
}


def latency_text(latency_ns: float) -> str:
    """Write a latency with three significant digits and the unit that fits it."""
    return format_duration_ns(latency_ns).replace(" us", " µs")


def listed(parts: Sequence[str]) -> str:
    """Join parts as a sentence does: ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def share_text(share: float) -> str:
    """Write a ratio as a percentage: two digits below ten, thousands separated above."""
    percent = 100 * share
    if 0 < percent < 0.05:
        return "<0.1 %"
    return f"{percent:.1f} %" if abs(percent) < 9.95 else f"{percent:,.0f} %"


def share_and_rest(share: float) -> tuple[str, str]:
    """Write a ratio and what is left of 1 as percentages that add up: with a decimal if need be."""
    texts = share_text(share), share_text(1 - share)
    if any(text.startswith("<") for text in texts):
        return texts
    percent = round(100 * share, 6)
    # At a half, the last bits of two ratios decide whether both are rounded up.
    is_half = percent % 1 == 0.5
    if not is_half and sum(float(text.removesuffix(" %")) for text in texts) == 100:
        return texts
    first = round(percent, 1)
    return f"{first:.1f} %", f"{100 - first:.1f} %"


def count_text(count: float, noun: str) -> str:
    """Write a number of things: ``1 request``, ``2,000 requests``, ``2 flushes``."""
    ending = "es" if noun.endswith("sh") else "s"
    return f"{count:,.0f} {noun}{'' if count == 1 else ending}"


#: A model's mean relative error above this is not written exactly: its answers mean nothing.
MOST_ERROR: Final = 10.0


def mre_text(error: float) -> str:
    """Write the relative error of a model as `share_text` does, up to 1,000 %."""
    if error > MOST_ERROR:
        return f"above {100 * MOST_ERROR:,.0f} %"
    return share_text(error)


#: The smallest relative uncertainty that is written for a measured number.
_CLOSEST: Final = 0.001


def within_text(share: float) -> str:
    """Say how precisely a number is known: ``within 1.2 %``, and never ``within 0 %``."""
    return f"within {share_text(max(share, _CLOSEST))}"


def in_effect(workload: Characteristics) -> dict[str, float]:
    """Return the characteristics that affect a workload, by name.

    Write characteristics have no effect if nothing is written, and a stride has none if every
    access is random.
    """
    return {name: value for name, value in workload.canonical().items() if value is not None}


def workload_text(workload: Workload) -> str:
    """Describe a workload in words, such as ``4 KiB random reads, queue depth 1``."""
    if not isinstance(workload, Characteristics):
        return workload.describe()
    values = in_effect(workload)
    parts = []
    if "read_size" in values:
        parts.append(_accesses(values, "read"))
    if "write_size" in values:
        parts.append(_accesses(values, "write"))
    ratio = values["write_ratio"]
    mix = f"{100 * ratio:.3g} % writes: " if 0 < ratio < 1 else ""
    return f"{mix}{', '.join(parts)}, queue depth {values['queue_depth']:.0f}"


def _accesses(values: Mapping[str, float], direction: str) -> str:
    random = values.get(f"{direction}_random", 1.0)
    stride = values.get(f"{direction}_stride", 0)
    ordered = f"strided ({format_size(round(stride))} gaps)" if stride else "sequential"
    if random >= 1:
        pattern = "random"
    elif random <= 0:
        pattern = ordered
    else:
        pattern = f"{100 * random:.3g} % random, else {ordered}"
    return f"{format_size(round(values[f'{direction}_size']))} {pattern} {direction}s"


@dataclass(frozen=True)
class Provenance:
    """Where numbers come from, and the word for it in every figure."""

    adjective: str
    label: str
    statement: str


#: By kind of drive. Numbers of a simulated drive are never called measured.
PROVENANCE: Final[Mapping[str, Provenance]] = {
    "simulated": Provenance(
        "simulated",
        "Simulated drive",
        "Every number on this page was computed by a simulator. None was measured on a real drive.",
    ),
    "closed_form": Provenance(
        "calculated",
        "Formula",
        "Every number on this page was calculated from closed-form equations. "
        "None was measured on a real drive.",
    ),
    "real": Provenance(
        "measured",
        "Real drive",
        "The numbers were measured on this machine, with everything that lies between a program "
        "and the drive: file system, kernel and other load.",
    ),
}
