//! The controller's firmware: what it costs to ask it.

pub mod cores;
