"""Which writing comes before a workload with sustained writes."""

from __future__ import annotations

import pytest

from drivelab.drives.write_pattern import PIECE_BYTES, settled_patterns, write_pattern
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.whole_pass import WholePass

KIB = 1024
READ = Characteristics()
IN_ORDER = Characteristics(write_ratio=0.1, write_random=0.0, write_size=256 * KIB)
SMALL = Characteristics(write_ratio=1.0, write_random=0.01, write_size=63 * KIB)
LARGE = Characteristics(write_ratio=1.0, write_random=1.0, write_size=64 * KIB)


@pytest.mark.parametrize(
    ("workload", "pattern"),
    [
        (READ, None),
        (IN_ORDER, "in order"),
        (SMALL, "small at random"),
        (LARGE, "large at random"),
        # It says itself where each of its requests goes.
        (WholePass("write", is_random=False, request_bytes=4 * KIB, file_bytes=64 * KIB), None),
    ],
)
def test_a_workload_comes_after_its_own_kind_of_writing(workload, pattern) -> None:
    assert write_pattern(workload) == pattern


def test_kinds_come_in_the_order_in_which_they_leave_more_to_clean_up() -> None:
    found = settled_patterns([SMALL, READ, IN_ORDER, SMALL], "sustained")
    assert found == ["in order", "small at random"]
    assert settled_patterns([SMALL, LARGE, IN_ORDER], "sustained") == list(PIECE_BYTES)
    assert settled_patterns([SMALL, LARGE], "burst") == []
