//! What is counted of a drive: where the time of each request went, and what its work took.

mod energy;
pub mod split;
