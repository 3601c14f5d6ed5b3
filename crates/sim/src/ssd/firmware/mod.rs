//! What asking the firmware costs, and when it may work unasked.
//!
//! ```text
//!   what it did ─> costs ─> [cores] ─> due        last completion ─> idle ─> asked for more
//! ```
//!
//! The crate `ftl` decides where pages lie; the engine asks it (`engine/ask.rs`). A free firmware
//! has no cores. A firmware without idle-time work is never asked for any.

pub mod cores;
pub mod idle;
