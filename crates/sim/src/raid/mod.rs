//! RAID-0: drives of one kind side by side, stripes in turn on each.

mod array;
mod pair;
mod run;
mod state;
mod striped;
mod stripes;

pub use array::Array;
pub use run::{PreparedArray, Raid};
pub use stripes::{Piece, Stripes};
