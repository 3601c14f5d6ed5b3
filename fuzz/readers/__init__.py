"""Every reader of outside data in Python; those in Rust are in `fuzz/src/lib.rs`."""

from __future__ import annotations

from typing import Final

#: A module here each, loaded when it is asked for: whoever counts coverage prepares that first.
NAMES: Final = (
    "csv_design",
    "fio_report",
    "model",
    "own_table",
    "own_model",
    "firmware_model",
    "run_database",
    "stored_campaign",
    "stored_test",
    "stored_profile",
    "pts_result",
    "class_file",
    "power_log",
    "prices",
    "placement_plan",
    "mqsim",
    "mqsim_workload",
    "side_file",
    "state_file",
)
