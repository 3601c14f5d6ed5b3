//! Simulated drives in virtual time and their closed forms

pub mod preset;
