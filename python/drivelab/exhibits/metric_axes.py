"""Axes of performance metrics and workload characteristics, the same in every figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from drivelab.exhibits.figures import Axis
from drivelab.exhibits.quantities import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits.quantities import Characteristic

#: An axis is logarithmic if its largest value exceeds its smallest by this factor.
DECADE: Final = 10.0


def on_axis(metric: str, value: float) -> float:
    """Return a metric's value in the unit of its axis: times in ns, MB/s, IOPS."""
    item = METRICS[metric]
    return value if item.unit == "ms" else value * item.factor


def metric_axis(
    metric: str, values: Sequence[float], adjective: str = "", *, logarithmic: bool | None = None
) -> Axis:
    """Return the axis of a metric.

    Parameters
    ----------
    metric
        One of `METRICS`.
    values
        All values, in the metric's base unit, of figures that share the axis.
    adjective
        Origin of the numbers: measured, simulated or calculated.
    logarithmic
        Whether the axis is logarithmic. By default it is if its values span more than a decade.
    """
    item = METRICS[metric]
    unit = "" if item.unit == "ms" else f" ({item.unit})"
    if logarithmic is None:
        logarithmic = bool(values) and max(values) > DECADE * min(values)
    return Axis(
        f"{adjective} {item.label.lower()}{unit}".strip(),
        "log10" if logarithmic else "linear",
        quantity="duration" if item.unit == "ms" else "number",
        also=tuple(on_axis(metric, end) for end in (min(values), max(values))) if values else (),
    )


def characteristic_axis(
    item: Characteristic, values: Sequence[float], *, listed: bool = False
) -> tuple[Axis, dict[float, float]]:
    """Return the axis of a workload characteristic, and the position of each value on it.

    Parameters
    ----------
    item
        The characteristic.
    values
        Values in its base unit, rising.
    listed
        Whether to space the values evenly instead of on a scale.
    """
    label = item.label.lower()
    if listed:
        in_kib = item.kind in ("bytes", "gap") and 1024 <= max(values) <= 2**20
        unit = " (KiB)" if in_kib else {"count": " (requests in flight)"}.get(item.kind, "")
        # The unit stands once, in the label: small panels have no room for it at each value.
        names = (f"{value / 1024:.4g}" if in_kib else item.text(value) for value in values)
        axis = Axis(f"{label}{unit}", categories=tuple(names))
        return axis, {value: float(place) for place, value in enumerate(values)}
    match item.kind:
        case "share":
            return Axis(f"{label} (%)", also=(0.0, 100.0)), {value: 100 * value for value in values}
        case "count":
            axis = Axis(f"{label} (requests in flight)", "log2")
            return axis, {value: float(value) for value in values}
        case _:
            axis = Axis(f"{label} (KiB)", "linear" if item.kind == "gap" else "log2")
            return axis, {value: value / 1024 for value in values}


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive values."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))
