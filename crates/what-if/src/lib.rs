//! The simulator behind the what-if page: questions and answers as JSON.
//!
//! ```text
//!   page ──> worker ──> door.rs ──> WhatIf::answer ─┬─ presets   what can be chosen and changed
//!            (JSON in and out of     (what_if.rs)   ├─ drive     the preset that comes of it (scaled.rs)
//!             the module's memory)                  └─ measure   one workload on it (answers.rs)
//! ```
//!
//! It holds one drive at a time, with the states in which its measurements begin. Nothing here
//! reads a clock or a file or starts a thread, so it also runs as plain `wasm32-unknown-unknown`.

mod answers;
mod door;
mod questions;
mod scaled;
mod what_if;

pub use what_if::WhatIf;
