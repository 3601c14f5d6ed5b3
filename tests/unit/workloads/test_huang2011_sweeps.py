"""The sweeps of figures 3 to 7: the workloads of each curve, and of the whole design."""

from __future__ import annotations

import pytest

from drivelab.workloads.characteristics import FIELDS
from drivelab.workloads.design import parse_design
from drivelab.workloads.huang2011_sweeps import STRIDE, Sweep, sweep_workloads, sweeps
from drivelab.workloads.parts import Parts

KIB = 1024
CURVES = {
    (3, "mixed", "write_ratio", "random"): [tenth / 10 for tenth in range(11)],
    (4, "reads", "queue_depth", "random"): [1, 2, 4, 8, 16, 32, 64],
    (4, "writes", "queue_depth", "random"): [1, 2, 4, 8, 16, 32, 64],
    **{
        (figure, f"{direction}s", f"{direction}_size", pattern): [
            KIB * size for size in (1, 2, 4, 8, 16, 32, 64, 128, 256)
        ]
        for figure, patterns in (
            (5, ["random"]),
            (6, ["sequential", "random", "stride"]),
            (7, ["sequential", "random", "stride"]),
        )
        for direction in ("read", "write")
        for pattern in patterns
    },
}
# Huang et al. 2011, section III.A; figures 5 to 7 set one direction alone.
DEFAULTS = {"queue_depth": 1, "read_size": 256 * KIB, "write_size": 256 * KIB}


def test_every_curve_has_its_axis() -> None:
    found = {
        (each.figure, each.panel, each.characteristic, each.series): [
            getattr(workload, each.characteristic) for workload in each.workloads
        ]
        for each in sweeps()
    }
    assert found == CURVES
    assert len(sweeps()) == len(CURVES) == 17


@pytest.mark.parametrize("sweep", sweeps(), ids=lambda each: f"{each.figure}-{each.panel}")
def test_only_one_characteristic_changes_and_the_rest_are_the_papers_defaults(
    sweep: Sweep,
) -> None:
    random, stride = {"sequential": (0, 0), "random": (1, None), "stride": (0, STRIDE)}[
        sweep.series
    ]
    ratio = {"mixed": None, "reads": 0, "writes": 1}[sweep.panel]
    for workload in sweep.workloads:
        workload.validate(80 * 10**9)
        values = workload.canonical()
        expected = {
            "write_ratio": ratio,
            **DEFAULTS,
            "read_random": random,
            "write_random": random,
            "read_stride": stride,
            "write_stride": stride,
        }
        assert tuple(expected) == FIELDS
        del expected[sweep.characteristic]
        for name, value in expected.items():
            if values[name] is not None:
                assert values[name] == value, (sweep.figure, name)


def test_figures_show_what_the_paper_shows() -> None:
    shown = {sweep.figure: sweep.metrics for sweep in sweeps()}
    everything = ("latency_ns_mean", "bandwidth_bytes_per_second", "iops")
    assert shown == {
        3: everything,
        4: everything,
        5: everything,
        6: ("latency_ns_mean",),
        7: ("iops",),
    }


def test_shared_workloads_are_measured_once() -> None:
    # Figure 3: 11. Figure 4: 7 in each direction, of which depth 1 is in figure 3. Figure 5: 9 in
    # each direction, of which 256 KiB is in figure 3. Figures 6 and 7 add two patterns of 9.
    assert len(sweep_workloads()) == 11 + 2 * 6 + 2 * 8 + 2 * 2 * 9 == 75
    keys = [workload.key() for workload in sweep_workloads()]
    assert len(set(keys)) == 75
    assert set(keys) == {each.key() for sweep in sweeps() for each in sweep.workloads}


def test_the_design_is_all_for_training() -> None:
    design = parse_design("huang2011-sweeps")
    selection = design.select(seed=3)
    assert selection.parts == Parts(training=75)
    assert selection.workloads == list(sweep_workloads())
    assert (design.distinct, selection.left_out) == (75, 0)
    assert design.select(seed=4) == selection


def test_a_drive_with_large_blocks_keeps_the_rest_of_each_curve() -> None:
    def blocks_of_4_kib(workload) -> bool:
        values = workload.canonical()
        return all(
            (value or 0) % 4096 == 0
            for name, value in values.items()
            if name.endswith(("_size", "_stride"))
        )

    selection = parse_design("huang2011-sweeps").select(0, blocks_of_4_kib)
    # 1 and 2 KiB under three patterns in two directions.
    assert selection.left_out == 2 * 3 * 2
    assert selection.parts == Parts(training=75 - 12)
