//! Every test of the crate, as one program.

mod loops;
mod open;
