//! The firmware room: what it costs to ask the firmware, and when it may work unasked.
//!
//! ```text
//!   what it did ─> costs ─> [cores] ─> due        last completion ─> idle ─> asked for more
//! ```
//!
//! Where pages lie is decided by the crate `ftl`; the engine asks it (`engine/ask.rs`). A firmware
//! that is free has no cores, and one with nothing to do in idle time is never looked at.

pub mod cores;
pub mod idle;
