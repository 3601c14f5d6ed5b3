"""The bottleneck model: it finds a drive of its own kind, and says what limits it."""

from __future__ import annotations

import numpy as np
import pytest

from drivelab.checked_json import MismatchError, Node
from drivelab.models.bottleneck import PARAMETERS, PARTS, Bottleneck, fit_bottleneck
from drivelab.models.features import FEATURE_SETS, FloatArray, workload_table
from drivelab.models.work import Stripes
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.ranges import workload_at
from drivelab.workloads.sobol_points import sobol_points


def workloads(count: int) -> FloatArray:
    points = sobol_points("bottleneck")
    return workload_table([workload_at(next(points), 512) for _ in range(count)])


def drive(**costs_ns: float) -> Bottleneck:
    """Return a drive with these costs; everything else costs next to nothing."""
    values = dict.fromkeys(PARAMETERS[:-2], 1e-3) | costs_ns
    # Depths are shared fully, and the largest part decides.
    return Bottleneck(np.array([*np.log([values[name] for name in PARAMETERS[:-2]]), 6.0, 2.5]))


def test_parts_are_what_they_cost() -> None:
    made = drive(path_read=80e3, link_read=10e3, link_page=2e3, unit_write=50e3)
    table = workload_table(
        [
            Characteristics(queue_depth=4, read_size=8192),
            Characteristics(write_ratio=1, write_size=16384, write_random=1),
        ]
    )
    path, link, units = np.exp(made.parts(table)[1:])
    assert path[0] == pytest.approx(80e3 / 4, rel=0.01)
    assert link[0] == pytest.approx(10e3 + 2 * 2e3, rel=1e-3)
    assert (link[1], units[1]) == pytest.approx((4 * 2e3, 4 * 50e3), rel=1e-3)
    # Together hardly more than the largest.
    assert np.exp(made.predict(table)) == pytest.approx([20e3, 200e3], rel=0.02)
    assert made.limiting(table) == {"path": 0.5, "link": 0, "units": 0.5}


def test_a_drive_that_is_one_is_found() -> None:
    made = drive(
        path_read=60e3, path_write=90e3, link_read=8e3, link_write=9e3, link_page=15e3,
        unit_write=60e3, unit_partial=30e3, unit_write_random=40e3,
    )  # fmt: skip
    seen, asked = workloads(900)[:300], workloads(900)[300:]
    noise = np.random.default_rng(0).normal(0, 0.01, 300)
    found = fit_bottleneck(seen, made.predict(seen) + noise)
    error = np.abs(np.expm1(found.predict(asked) - made.predict(asked)))
    # Noise has a sigma of 1 %; costs are drawn a little towards usual ones.
    assert error.mean() < 0.03
    assert found.cost_ns("link_page") == pytest.approx(15e3, rel=0.1)
    for part in PARTS:
        assert found.limiting(asked)[part] == pytest.approx(made.limiting(asked)[part], abs=0.1)


def test_it_is_read_as_it_was_written() -> None:
    made = Bottleneck(drive(link_read=7e3).parameters, Stripes(10, 8192))
    read = Bottleneck.from_json(Node(made.to_json(), ""), FEATURE_SETS["extended"])
    assert read.stripes == made.stripes
    assert read.parameters.tolist() == made.parameters.tolist()
    for name, value, message in (
        ("stripes", {"units": 7, "stripe_bytes": 4096}, "stripes that are tried"),
        ("parameters", dict.fromkeys(PARAMETERS, 1e3), "from -100 to 100"),
        ("parameters", {}, "an object with 'path_read'"),
    ):
        with pytest.raises(MismatchError, match=message):
            Bottleneck.from_json(Node(made.to_json() | {name: value}, ""), FEATURE_SETS["extended"])
