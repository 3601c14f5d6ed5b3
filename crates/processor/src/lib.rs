//! Models of processors. They count what a program did as a processor's counters would, and
//! estimate how long it would take on another processor.
//!
//! ```text
//!   blocks of instructions, as they are met ──> translate ┐
//!   blocks, as they are executed            ──> enter     ├─> host:   events of a record
//!   addresses of loads and stores           ──> access    │   target: virtual time of a record
//!   the program's marks                     ──> mark      ┘
//! ```
//!
//! The executor of the program calls them (`drivelab-qemu` does, from within qemu). They never read
//! a clock, a register or the program's memory, so the same program gives the same numbers.
//!
//! Host and target share how a cache works, not its size or its cost: each has its own parameters,
//! predictors and penalties (`processors/*.toml`). If both were the same machine, a model that
//! learns the time of one from the counters of the other would learn nothing.
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
