//! Predictors of branches.
//!
//! Each kind of processor predicts directions in its own way. Both keep the targets of indirect
//! branches, and of returns, in the same way, in tables of their own sizes.

pub mod pattern;
pub mod places;
pub mod tagged;

/// Predicts conditional branches.
pub trait Directions {
    /// Predicts which way the branch at `address` goes, and learns which way it went. True if the
    /// prediction was right.
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
