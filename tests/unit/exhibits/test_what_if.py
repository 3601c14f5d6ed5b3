"""Which drives lead from a report to the page on which a simulated SSD is changed."""

from __future__ import annotations

import pytest

from drivelab.exhibits import WhatIf
from drivelab.exhibits.what_if import changeable_presets, settings_of
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.whole_pass import WholePass


@pytest.mark.parametrize(
    ("drives", "fragment"),
    [
        ([("sim:x25m", "simulated")], "#preset=x25m"),
        ([("analytic:x25m-yoo2014", "closed_form")], "#preset=x25m-yoo2014"),
        # What the page cannot show: it opens with its own.
        ([("sim:sas-15k", "simulated")], ""),
        ([("sim:array-x25m", "simulated")], ""),
        ([("sim:mlc-h", "simulated")], ""),
        ([("sim:drives/x25m.toml", "simulated")], ""),
        # Of several, the first that it can.
        (
            [("/dev/nvme0n1", "real"), ("sim:sas-15k", "simulated"), ("sim:mlc-a", "simulated")],
            "#preset=mlc-a",
        ),
    ],
)
def test_a_simulated_drive_leads_there(drives: list[tuple[str, str]], fragment: str) -> None:
    found = WhatIf.of_drives(drives)
    assert found is not None
    assert found.fragment == fragment


@pytest.mark.parametrize("drives", [[], [("/dev/nvme0n1", "real")], [("", "")]])
def test_real_drives_alone_do_not(drives: list[tuple[str, str]]) -> None:
    assert WhatIf.of_drives(drives) is None


def test_presets_are_ssds_that_map_pages() -> None:
    found = changeable_presets()
    assert {"x25m", "bench-64gib", "slc-h"} <= set(found)
    assert not {"sas-15k", "array-x25m", "slc-e", "apex"} & set(found)


def test_a_workload_is_handed_on_as_far_as_the_page_has_it() -> None:
    workload = Characteristics(
        write_ratio=0.7,
        queue_depth=32,
        read_size=4096,
        write_size=65536,
        read_random=1.0,
        write_random=0.0,
    )
    fragment = WhatIf("x25m", settings_of(workload)).fragment
    assert fragment == (
        "#preset=x25m&write_ratio=0.7&size_bytes=65536&queue_depth=32&order=sequential"
    )
    assert settings_of(WholePass("read", False, 4096, 1 << 20)) == ()
