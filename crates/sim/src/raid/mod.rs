//! Arrays of drives, with and without redundancy.
//!
//! RAID-0 of equal members exists in two forms. SSDs run in one loop with their users
//! (`striped.rs`, `pair.rs`), for speed. Any drives can run behind a
//! [`Device`](crate::host::Device) (`array.rs`). All other levels are a `Device` too
//! (`redundant/`): `rows.rs` and `mirrors.rs` say where data lies, and `update.rs` what a write
//! must read.

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
