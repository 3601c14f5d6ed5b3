//! Processors as models: what a program did, as the counters of a processor would tell it, and how
//! long it would take on another one.
//!
//! ```text
//!   blocks of instructions, as they are met ──> translate ┐
//!   blocks, as they are executed            ──> enter     ├─> host:   events of a record
//!   addresses of loads and stores           ──> access    │   target: virtual time of a record
//!   the program's marks                     ──> mark      ┘
//! ```
//!
//! Whoever executes the program calls (`drivelab-qemu` does, from within qemu). Nothing here reads a
//! clock, a register or the program's memory, so the same program gives the same numbers.
//!
//! Host and target share how a cache works, not how large one is or what it costs: each has
//! parameters, predictors and penalties of its own (`processors/*.toml`). A model trained on one to
//! tell the other's time would learn nothing if both were the same machine.
//!
//! Left out: address translation (firmware maps its memory in large pages), refresh and banks of
//! DRAM, writing back, and what the kernel does in system calls.

pub mod board;
pub mod cache;
pub mod code;
pub mod columns;
pub mod handed;
pub mod host;
pub mod log;
pub mod marks;
pub mod model;
pub mod parameters;
pub mod predict;
pub mod streams;
