//! The firmware of a drive as a separate program, to be run on a host and on a target to find out
//! its cost.
//!
//! It maps and collects with `drivelab-ftl`, the code that the simulator runs, in memory that its
//! workers share. Around it is the rest of a firmware: checking of commands, buffers, workers that
//! hand work to one another, queues of dies, and concurrent collection. The flash is a stub that
//! keeps state, takes no time and holds no data. After Lee et al. 2021, "Learned Performance Model
//! for SSD", section 4.1.
//!
//! ```text
//!  host/ ──entries──> front_end ──segments──> server/ ──────────> queue of a die ──> flash/
//!   ^                  nvme/                  look-up (ftl), buffer/                   |
//!   └──completions───────┴────── done ───────── collection  <──────────── done ────────┘
//! ```
//!
//! Left out: the data on the flash, flash errors, journals of the map, power loss, several
//! namespaces and queues. The reverse map, which a drive may keep out of band with the data, is in
//! memory here.
//!
//! [`marks`] has what an observer sees, [`requests`] the list of requests that is its input,
//! [`records`] the lines that it writes.

pub mod buffer;
pub mod collection_steps;
pub mod command_line;
pub mod controller;
pub mod crash;
pub mod error;
pub mod events;
pub mod flash;
pub mod front_end;
pub mod geometry;
pub mod handoff;
pub mod host;
pub mod mapping;
pub mod marks;
pub mod nvme;
pub mod own_run;
pub mod prepare;
pub mod progress;
pub mod random;
pub mod records;
pub mod requests;
pub mod run;
pub mod segment;
pub mod serve_options;
pub mod server;
pub mod snapshot;
pub mod state;
pub mod transfer;
