"""What a campaign for models may ask for."""

from __future__ import annotations

from drivelab.drives.naming import open_drive
from drivelab.models.model_campaign import adaptive_pool
from drivelab.workloads.adaptive import AdaptiveDesign
from drivelab.workloads.design import parse_design
from drivelab.workloads.huang2011_sweeps import sweep_workloads


def test_curves_have_all_points_whatever_else_may_be_asked_for() -> None:
    design = parse_design("adaptive")
    assert isinstance(design, AdaptiveDesign)
    with open_drive("sim:x25m") as drive:
        _, pool = adaptive_pool(design, drive, seed=0, check=30, sweeps=True)
        _, without = adaptive_pool(design, drive, seed=0, check=30, sweeps=False)
    curves = {workload.key() for workload in pool["sweeps"]}
    assert curves == {workload.key() for workload in sweep_workloads()}
    # Some are points of the pool too, of which few are measured.
    assert curves & {workload.key() for workload in pool["training"]}
    assert (len(pool["check"]), len(without["check"]), without["sweeps"]) == (30, 30, [])
