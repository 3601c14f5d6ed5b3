//! Which way a branch was thought to go.
//!
//! Each processor has a predictor of directions of its own kind. Where indirect branches go, and
//! returns, is kept in the same way by both, in tables of their own sizes.

pub mod pattern;
pub mod places;
pub mod tagged;

/// Thinks of conditional branches.
pub trait Directions {
    /// Thinks which way the branch at `address` goes, and learns which way it went; true if it was
    /// right.
    fn meet(&mut self, address: u64, taken: bool) -> bool;
}

/// A counter from 0 to 3 that goes one up or down.
#[inline]
fn moved(counter: u8, up: bool) -> u8 {
    if up {
        (counter + 1).min(3)
    } else {
        counter.saturating_sub(1)
    }
}
