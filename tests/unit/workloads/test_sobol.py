"""The design sobol:N, and the parts of a run in addition to its design."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.errors import UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.design import parse_design
from drivelab.workloads.huang2011_sweeps import sweep_workloads
from drivelab.workloads.parts import PartName, Parts
from drivelab.workloads.ranges import workload_at
from drivelab.workloads.run_parts import with_check_and_sweeps
from drivelab.workloads.selection import Selection
from drivelab.workloads.sobol_points import DIMENSIONS, SCALE

coordinates = st.integers(0, SCALE - 1) | st.sampled_from([0, SCALE - 1])


def part(selection: Selection, name: PartName) -> list[Characteristics]:
    return [selection.workloads[index] for index in selection.parts.range(name)]


def small_writes(workload: Characteristics) -> bool:
    return workload.write_ratio == 1 and workload.write_size <= 8192


@given(st.tuples(*[coordinates] * DIMENSIONS), st.integers(1, 64))
def test_every_point_is_a_workload_of_whole_blocks(point, blocks: int) -> None:
    block_bytes = 512 * blocks
    workload = workload_at(point, block_bytes)
    workload.validate(2**30)
    assert workload == workload.without_ineffective()
    for name, value in workload.canonical().items():
        if value is not None and name.endswith(("_size", "_stride")):
            assert value % block_bytes == 0
            assert value <= 256 * 1024


def test_blocks_larger_than_the_largest_size_are_refused() -> None:
    with pytest.raises(UsageError, match="sizes end at 256 KiB, and this drive's blocks have 1 M"):
        parse_design("sobol:5").select(0, block_bytes=2**20)


@pytest.mark.parametrize("count", [1, 5, 100, 251])
def test_a_smaller_design_is_the_first_part_of_a_larger(count: int) -> None:
    small = parse_design(f"sobol:{count}").select(seed=9)
    large = parse_design("sobol:500").select(seed=9)
    assert small.parts == Parts(training=count - count // 5, calibration=count // 5)
    for name in ("training", "calibration"):
        found = part(small, name)
        assert found == part(large, name)[: len(found)]
    assert parse_design(f"sobol:{count}").select(seed=10).workloads != small.workloads


def test_the_design_is_pinned() -> None:
    """Guard against a change of the points, which would change every campaign."""
    selection = parse_design("sobol:5").select(seed=0)
    assert [workload.as_tuple() for workload in selection.workloads] == [
        (0.1241, 12, 3072, 20480, 0.3129, 0.9586, 0, 0),
        (0.6324, 2, 163840, 1024, 0.9683, 0.2725, 140288, 206848),
        (0.871, 30, 8704, 89600, 0.5314, 0.0, 82432, 140800),
        (0.3627, 6, 60416, 4608, 0.0, 0.558, 187904, 29184),
        (0.958, 19, 14848, 133120, 0.8493, 0.4166, 20992, 0),
    ]


def test_what_the_drive_cannot_express_is_left_out_and_counted() -> None:
    selection = parse_design("sobol:500").select(0, small_writes)
    everything = parse_design("sobol:500").select(0)
    for name in ("training", "calibration"):
        assert part(selection, name) == list(filter(small_writes, part(everything, name)))
    assert selection.left_out == 500 - selection.parts.total > 400
    assert selection.population == f"{everything.population}; of these, what this drive can run"
    with pytest.raises(UsageError, match="this drive can express none of the workloads of sobol:9"):
        parse_design("sobol:9").select(0, lambda _: False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sobol", "'sobol' does not say how many workloads; valid: adaptive,"),
        ("sobol:0", "does not say how many"),
        ("sobol:1000001", "sobol:1000001 is too many; allowed: sobol:1 to sobol:1000000"),
    ],
)
def test_a_count_is_needed(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_design(text)
    assert said in str(caught.value)


def test_the_check_part_is_the_same_for_every_run() -> None:
    runs = [
        with_check_and_sweeps(parse_design(design).select(seed), check=200, sweeps=sweeps)
        for design, seed, sweeps in (
            ("huang2011:50", 0, True),
            ("huang2011:50", 1, False),
            ("sobol:300", 0, True),
        )
    ]
    first = part(runs[0], "check")
    assert len(first) == 200
    assert all(part(run, "check") == first for run in runs)
    longer = with_check_and_sweeps(parse_design("sobol:5").select(0), check=300, sweeps=False)
    assert part(longer, "check")[:200] == first


def test_no_workload_is_checked_that_was_trained_on() -> None:
    design = parse_design("sobol:5").select(0)
    plain = part(with_check_and_sweeps(design, check=20, sweeps=False), "check")
    held = Selection(plain[:3], Parts(3), None, 0, "three of them")
    run = with_check_and_sweeps(held, check=20, sweeps=False)
    checked = part(run, "check")
    assert checked[:17] == plain[3:]
    assert len({workload.key() for workload in checked}) == 20
    assert not {workload.key() for workload in checked} & {each.key() for each in plain[:3]}


def test_a_drive_that_can_express_few_gets_fewer() -> None:
    design = parse_design("huang2011:20").select(0, small_writes)
    run = with_check_and_sweeps(design, check=100, sweeps=True, accepts=small_writes)
    assert 0 < run.parts.check < 100
    assert all(map(small_writes, run.workloads))
    # Sizes 1, 2, 4, 8 KiB under three patterns; the design holds 1 and 4 KiB at depth 1 at most.
    assert run.left_out_sweeps == 75 - 12
    assert run.parts.sweeps <= 12


def test_sweeps_that_another_part_holds_are_not_measured_again() -> None:
    swept = sweep_workloads()
    held = Selection(list(swept[:10]), Parts(10), 10, 0, "ten of the sweeps")
    run = with_check_and_sweeps(held, check=0, sweeps=True)
    assert run.parts == Parts(training=10, sweeps=65)
    assert {workload.key() for workload in run.workloads} == {each.key() for each in swept}
    everything = with_check_and_sweeps(
        parse_design("huang2011-sweeps").select(0), check=0, sweeps=True
    )
    assert everything.parts == Parts(training=75)


def test_neither_is_added_unless_asked_for() -> None:
    design = parse_design("huang2011:20").select(0)
    assert with_check_and_sweeps(design, check=0, sweeps=False) == design
