//! The numbers in a record of a target.

use crate::columns::{Column, How::*};

/// The band of times comes first.
pub static COLUMNS: [Column; 23] = [
    Column::new(
        "time_low_ns",
        "ns",
        Derived,
        "virtual time of the record with the least penalties",
    ),
    Column::new(
        "time_ns",
        "ns",
        Derived,
        "virtual time of the record with the likely penalties",
    ),
    Column::new(
        "time_high_ns",
        "ns",
        Derived,
        "virtual time of the record with the most penalties",
    ),
    Column::new(
        "busy_cycles",
        "cycles",
        Derived,
        "cycles of all cores together, likely penalties, waiting left out",
    ),
    Column::new(
        "pipeline_cycles",
        "cycles",
        Derived,
        "those in which instructions issue or wait for results",
    ),
    Column::new(
        "near_cycles",
        "cycles",
        Derived,
        "those of misses that the shared cache or another core answers",
    ),
    Column::new(
        "memory_cycles",
        "cycles",
        Derived,
        "those of misses that memory answers",
    ),
    Column::new(
        "mispredict_cycles",
        "cycles",
        Derived,
        "those of branches that went another way than was thought",
    ),
    Column::new(
        "lock_wait_cycles",
        "cycles",
        Derived,
        "cycles that cores waited for locks, likely penalties",
    ),
    Column::new(
        "queue_wait_cycles",
        "cycles",
        Derived,
        "cycles that cores waited for items, likely penalties",
    ),
    Column::new("instructions", "count", Counted, "instructions executed"),
    Column::new(
        "branches",
        "count",
        Counted,
        "branches, calls and returns executed",
    ),
    Column::new(
        "mispredicts",
        "count",
        Simulated,
        "branches that went another way than was thought",
    ),
    Column::new("loads", "count", Counted, "instructions that load"),
    Column::new("stores", "count", Counted, "instructions that store"),
    Column::new(
        "l1d_load_misses",
        "count",
        Simulated,
        "lines that a core's first cache did not have for a load",
    ),
    Column::new(
        "l1d_store_misses",
        "count",
        Simulated,
        "lines that it did not have for a store, or not for itself",
    ),
    Column::new(
        "l1i_misses",
        "count",
        Simulated,
        "lines of instructions that it did not have",
    ),
    Column::new(
        "l2_hits",
        "count",
        Simulated,
        "lines that the shared cache gave",
    ),
    Column::new(
        "memory_lines",
        "count",
        Simulated,
        "lines that memory gave, not seen coming",
    ),
    Column::new(
        "streamed_lines",
        "count",
        Simulated,
        "lines that memory gave and that were seen coming",
    ),
    Column::new(
        "snoops",
        "count",
        Simulated,
        "lines that another core gave or had to give up",
    ),
    Column::new(
        "lock_waits",
        "count",
        Derived,
        "locks that were waited for, likely penalties",
    ),
];
