"""The pool that an adaptive run chooses from."""

from __future__ import annotations

import pytest

from drivelab.errors import UsageError
from drivelab.workloads.adaptive import CANDIDATES, START
from drivelab.workloads.design import parse_design
from drivelab.workloads.parts import Parts


def test_a_run_begins_with_workloads_of_which_a_fifth_are_drawn() -> None:
    design = parse_design("adaptive")
    selection = design.select(3)
    assert selection.parts == Parts(48, 12)
    assert len({one.key() for one in selection.workloads}) == START
    assert selection.workloads != design.select(4).workloads


def test_what_the_drive_cannot_run_is_in_no_pool() -> None:
    design = parse_design("adaptive")
    pools = design.pools(0, lambda one: one.write_ratio < 0.5)
    assert len(pools.spread) + len(pools.drawn) + pools.left_out == CANDIDATES + 1280
    assert all(one.write_ratio < 0.5 for one in (*pools.spread, *pools.drawn))
    assert pools.population.endswith("of these, what this drive can run")
    with pytest.raises(UsageError, match="can express 0 of the 5120 workloads"):
        design.pools(0, lambda _: False)


def test_how_many_are_measured_is_no_part_of_its_name() -> None:
    with pytest.raises(UsageError, match="as many as --measurements says: leave :N out"):
        parse_design("adaptive:300")
