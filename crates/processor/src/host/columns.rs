//! The numbers in a record of a host.

use crate::columns::{Column, How::*};

/// The eleven of table 5 come first, in its order.
pub static COLUMNS: [Column; 15] = [
    Column::new(
        "cpu_cycles",
        "cycles",
        Derived,
        "clock cycles: micro-operations at a steady rate, and what stalls",
    )
    .in_table_5("CPU_CYCLES"),
    Column::new("instructions", "count", Counted, "instructions executed").in_table_5("INSTR"),
    Column::new(
        "micro_operations",
        "count",
        Derived,
        "micro-operations: by kind of instruction, one a load, two a store",
    )
    .in_table_5("RS_UOPS"),
    Column::new(
        "branches",
        "count",
        Counted,
        "branches, calls and returns executed",
    )
    .in_table_5("BR_INSTS"),
    Column::new(
        "branch_misses",
        "count",
        Simulated,
        "branches that went another way than was thought",
    )
    .in_table_5("BR_MISSES"),
    Column::new(
        "bus_cycles",
        "cycles",
        Derived,
        "cycles of the bus in the same time",
    )
    .in_table_5("BUS_CYCLES"),
    Column::new("l1d_loads", "count", Counted, "instructions' loads").in_table_5("L1D_LOADS"),
    Column::new("l1d_stores", "count", Counted, "instructions' stores").in_table_5("L1D_STORES"),
    Column::new(
        "llc_references",
        "count",
        Simulated,
        "lines that the second cache did not have",
    )
    .in_table_5("LLC_REFS"),
    Column::new(
        "llc_misses",
        "count",
        Simulated,
        "lines that the last cache did not have either",
    )
    .in_table_5("LLC_MISSES"),
    Column::new(
        "stalled_cycles",
        "cycles",
        Derived,
        "cycles in which nothing went on: branches that were missed, lines that were waited for",
    )
    .in_table_5("STALLED_CYCLES"),
    Column::new(
        "l1d_misses",
        "count",
        Simulated,
        "lines that the first cache did not have",
    ),
    Column::new(
        "l1d_store_misses",
        "count",
        Simulated,
        "those of them that a store asked for",
    ),
    Column::new(
        "llc_misses_streamed",
        "count",
        Simulated,
        "lines from memory that were seen coming",
    ),
    Column::new(
        "time_ns",
        "ns",
        Derived,
        "virtual time of the record: workers side by side, each on a core of its own",
    ),
];
