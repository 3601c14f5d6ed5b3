//! The account room: where the time of each request went, and what a window's work came to.

mod energy;
pub mod ledger;
pub mod split;
