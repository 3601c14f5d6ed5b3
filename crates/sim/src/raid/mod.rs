//! Arrays: drives side by side, with and without redundancy.
//!
//! RAID-0 of members that are alike has two ways: SSDs in one loop with their users (`striped.rs`,
//! `pair.rs`), for speed, and any drives behind a [`Device`](crate::host::Device) (`array.rs`). All
//! other levels are a `Device` too (`redundant/`); where data lies there is `rows.rs` and
//! `mirrors.rs`, and what a write reads is `update.rs`.

mod array;
mod level;
mod mirrors;
mod pair;
mod redundant;
mod rows;
mod run;
mod state;
mod striped;
mod stripes;
mod update;

pub use array::Array;
pub use level::Level;
pub use mirrors::Mirrors;
pub use redundant::{ParityTimes, Rebuilding, Redundancy, Redundant};
pub use rows::{Extent, Holds, Rows};
pub use run::{PreparedArray, Raid};
pub use stripes::{Piece, Stripes};
