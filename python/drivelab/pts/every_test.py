"""The tests that can be run; a new one is a file in `drivelab.pts.procedures` and a line here."""

from __future__ import annotations

from typing import Final

from drivelab.errors import UsageError
from drivelab.near_names import meant
from drivelab.pts.procedures import (
    blocks,
    dirth,
    ecw,
    hir,
    iops,
    latency,
    throughput,
    workload_class,
    wsat,
    xsr,
)
from drivelab.pts.test import PtsTest

#: In the order in which `all` runs them.
SPECIFIED: Final[dict[str, PtsTest]] = {
    test.name: test
    for test in (
        iops.TEST,
        throughput.TEST,
        latency.TEST,
        wsat.TEST,
        hir.TEST,
        xsr.TEST,
        ecw.TEST,
        dirth.TEST,
    )
}
#: Every test; tests that are not the specification's are not part of `all`.
TESTS: Final[dict[str, PtsTest]] = {
    **SPECIFIED,
    **{test.name: test for test in (workload_class.TEST, blocks.TEST)},
}


def test_named(name: str) -> PtsTest:
    """Return a test by its name.

    Raises
    ------
    UsageError
        If there is no test of this name; the error lists the tests.
    """
    if name not in TESTS:
        raise UsageError(f"no test {name!r}; {meant(name, TESTS)}the tests are {', '.join(TESTS)}")
    return TESTS[name]
