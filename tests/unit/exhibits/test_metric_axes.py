"""Axes of performance and characteristics: the unit, the scale, where values stand."""

from __future__ import annotations

import pytest

from drivelab.exhibits.metric_axes import characteristic_axis, geometric_mean, metric_axis, on_axis
from drivelab.exhibits.quantities import CHARACTERISTICS


@pytest.mark.parametrize(
    ("metric", "label", "quantity", "place"),
    [
        ("latency_ns_mean", "measured mean latency", "duration", 2e6),
        ("bandwidth_bytes_per_second", "measured bandwidth (MB/s)", "number", 2.0),
        ("iops", "measured throughput (IOPS)", "number", 2e6),
    ],
)
def test_axes_carry_the_unit(metric: str, label: str, quantity: str, place: float) -> None:
    axis = metric_axis(metric, [1.0, 2e6], "measured")
    assert (axis.label, axis.quantity) == (label, quantity)
    assert on_axis(metric, 2e6) == place


def test_more_than_a_decade_is_logarithmic() -> None:
    assert metric_axis("iops", [10.0, 100.0]).scale == "linear"
    assert metric_axis("iops", [10.0, 101.0]).scale == "log10"
    assert metric_axis("iops", [10.0, 11.0], logarithmic=True).scale == "log10"
    assert metric_axis("iops", [10.0, 50.0, 20.0]).also == (10.0, 50.0)


def test_few_values_stand_side_by_side_and_many_on_a_scale() -> None:
    size, ratio, gap = (
        CHARACTERISTICS[name] for name in ("read_size", "write_ratio", "read_stride")
    )
    axis, places = characteristic_axis(size, [4096, 65536], listed=True)
    assert (axis.label, axis.categories) == ("read size (KiB)", ("4", "64"))
    assert places == {4096: 0.0, 65536: 1.0}
    axis, places = characteristic_axis(size, [4096, 65536])
    assert (axis.scale, places[65536]) == ("log2", 64.0)
    axis, places = characteristic_axis(ratio, [0.0, 0.5])
    assert (axis.label, axis.scale, axis.also, places[0.5]) == (
        *("share of writes (%)", "linear", (0.0, 100.0), 50.0),
    )
    # A gap may be 0, which has no logarithm.
    assert characteristic_axis(gap, [0, 65536])[0].scale == "linear"


def test_geometric_mean() -> None:
    assert geometric_mean([1.0, 100.0]) == pytest.approx(10)
