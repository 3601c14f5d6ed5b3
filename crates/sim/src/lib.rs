//! Simulated drives in virtual time and their closed forms

pub mod analytic;
pub mod preset;
